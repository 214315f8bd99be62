/* Touches memory in the main thread and in threads, one after the other. Each prints its memory policy and its mapping's
 * pages on each NUMA node, according to the kernel: `main bind:0 N0=1024`.
 *   N         N threads
 *   N stay    then the main thread waits for the end of stdin and prints the same again
 *   N spin    each thread is first busy for a while, so it may be stopped anywhere
 *   N bind M  allocates only on node M, despite its initial policy
 *   N sleep   each thread first sleeps for a while, and prints how long, in tenths of a second
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BYTES (4L << 20)
#define PAGE 4096L

static const char *what = "";

static void tell(const char *who, void *mapping)
{
    char line[4096], start[32], policy[128];
    FILE *maps = fopen("/proc/thread-self/numa_maps", "r");
    size_t length = snprintf(start, sizeof start, "%lx ", (unsigned long)mapping);
    while (maps && fgets(line, sizeof line, maps)) {
        if (strncmp(line, start, length))
            continue;
        /* Names of policies may contain a space. */
        char *end = strstr(line, " anon=");
        if (end)
            *end = 0;
        snprintf(policy, sizeof policy, "%s", line + length);
        printf("%s %s", who, policy);
        for (char *word = strtok(end ? end + 1 : NULL, " \n"); word; word = strtok(NULL, " \n"))
            if (word[0] == 'N')
                printf(" %s", word);
        printf("\n");
    }
    if (maps)
        fclose(maps);
    fflush(stdout);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void *touch(const char *who)
{
    /* Inaccessible pages around it prevent the kernel from merging it with another mapping. */
    char *around = mmap(NULL, BYTES + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *mapping = around + PAGE;
    mprotect(mapping, BYTES, PROT_READ | PROT_WRITE);
    madvise(mapping, BYTES, MADV_NOHUGEPAGE);
    memset(mapping, 1, BYTES);
    tell(who, mapping);
    return mapping;
}

static void *thread(void *unused)
{
    (void)unused;
    double begun = now();
    if (!strcmp(what, "spin"))
        while (now() < begun + 0.2)
            ;
    if (!strcmp(what, "sleep")) {
        struct timespec time = {0, 300000000};
        if (nanosleep(&time, NULL))
            perror("nanosleep");
        printf("slept %d\n", (int)((now() - begun) * 10));
    }
    touch("thread");
    return NULL;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 0;
    what = argc > 2 ? argv[2] : "";
    if (!strcmp(what, "bind")) {
        unsigned long node = 1UL << atoi(argv[3]);
        if (syscall(SYS_set_mempolicy, 2, &node, 64UL))
            perror("set_mempolicy");
    }
    void *mapping = touch("main");
    for (int i = 0; i < count; i++) {
        pthread_t one;
        pthread_create(&one, NULL, thread, NULL);
        pthread_join(one, NULL);
    }
    if (!strcmp(what, "stay")) {
        printf("ready\n");
        fflush(stdout);
        while (getchar() != EOF)
            ;
        tell("main", mapping);
    }
    return 0;
}
