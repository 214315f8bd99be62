/* Memory that threads use in ways of real programs, while its pages are sampled.

   pages pairs: threads w0 and w1 pass a counter to each other on one page, w2 and w3 another one on the next page, for
   half a second of CPU time each, without ever waiting in the kernel.
   pages change: threads allocate, resize, move and drop memory, and fork, and check after each step that their memory
   has what they wrote. Prints "whole" at the end. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64, ROUNDS = 40, THREADS = 4 };

struct turn {
    _Alignas(PAGE) atomic_long number;
};

static struct turn turns[2];

static double cpu_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void *play(void *argument) {
    long own = (long)argument;
    struct turn *turn = &turns[own / 2];
    char name[16];
    snprintf(name, sizeof name, "w%ld", own);
    pthread_setname_np(pthread_self(), name);
    /* A negative number ends the play of both. */
    for (long tries = 0;; tries++) {
        long number = atomic_load(&turn->number);
        if (number < 0) return NULL;
        if (number % 2 == own % 2) atomic_compare_exchange_strong(&turn->number, &number, number + 1);
        /* No yield: beside busy neighbours, a thread that yields gets a few microseconds between their slices. */
        if (tries % 1024 == 0 && cpu_s() > 0.5) atomic_store(&turn->number, -1);
    }
}

static void expect(const unsigned char *memory, size_t bytes, unsigned char value) {
    for (size_t at = 0; at < bytes; at++)
        if (memory[at] != value) {
            printf("byte %zu is %d instead of %d\n", at, memory[at], value);
            fflush(stdout);
            _exit(1);
        }
}

static void in_a_child(const unsigned char *memory, size_t bytes, unsigned char value) {
    pid_t child = fork();
    if (child == 0) {
        expect(memory, bytes, value);
        _exit(0);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        puts("the memory of a child is not whole");
        exit(1);
    }
}

static void *change(void *argument) {
    size_t bytes = PAGES * PAGE;
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char value = round + 1, *heap = malloc(bytes);
        memset(heap, value, bytes);
        heap = realloc(heap, 3 * bytes);
        expect(heap, bytes, value);
        unsigned char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(memory, value, bytes);
        /* Passes over the same pages give the sampling time to take some. */
        for (int pass = 0; pass < 20; pass++) expect(memory, bytes, value);
        memory = mremap(memory, bytes, 2 * bytes, MREMAP_MAYMOVE);
        expect(memory, bytes, value);
        expect(memory + bytes, bytes, 0);
        mprotect(memory, bytes, PROT_READ);
        expect(memory, bytes, value);
        mprotect(memory, bytes, PROT_READ | PROT_WRITE);
        if (round % 8 == 0) in_a_child(memory, bytes, value);
        madvise(memory, bytes / 2, MADV_DONTNEED);
        expect(memory, bytes / 2, 0);
        expect(memory + bytes / 2, bytes / 2, value);
        munmap(memory, 2 * bytes);
        expect(heap, bytes, value);
        free(heap);
    }
    return argument;
}

int main(int argc, char **argv) {
    int plays = argc > 1 && !strcmp(argv[1], "pairs");
    pthread_t threads[THREADS];
    for (long at = 0; at < THREADS; at++) pthread_create(&threads[at], NULL, plays ? play : change, (void *)at);
    for (int at = 0; at < THREADS; at++) pthread_join(threads[at], NULL);
    puts("whole");
}
