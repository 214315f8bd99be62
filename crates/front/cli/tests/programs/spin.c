/* Threads that run until the end of stdin. Arguments: their number and their work: "spin", "yield", "sleep", or
 * "nibble", a hundredth of a CPU each. The main thread creates them and waits.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile int over;
static int spins, yields, nibbles;

/* Until all threads have their names, because a reader of "ready" may look at them. */
static pthread_barrier_t named;

static long cpu_us(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * 1000000 + used.tv_nsec / 1000;
}

static void nibble(void)
{
    long until_us = cpu_us() + 200;
    while (cpu_us() < until_us)
        ;
}

static void *body(void *number)
{
    char name[16];
    snprintf(name, sizeof name, "worker-%ld", (long)number);
    pthread_setname_np(pthread_self(), name);
    pthread_barrier_wait(&named);
    while (!over) {
        if (nibbles)
            nibble();
        if (yields)
            sched_yield();
        else if (!spins)
            usleep(20000);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    int threads = count > 1 ? atoi(arguments[1]) : 1;
    spins = count > 2 && !strcmp(arguments[2], "spin");
    yields = count > 2 && !strcmp(arguments[2], "yield");
    nibbles = count > 2 && !strcmp(arguments[2], "nibble");
    pthread_t started[64];
    if (threads > 64)
        threads = 64;
    pthread_barrier_init(&named, NULL, threads + 1);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&started[i], NULL, body, (void *)i))
            return 1;
    pthread_barrier_wait(&named);
    printf("ready\n");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}
