/* Two threads, "left" and "right", create four threads each and give them their own names. The argument says which one is
   first, or "race". Each created thread prints its CPUs, and ends when all eight exist. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { WORKERS = 4 };

static pthread_barrier_t begun, first_is_done, all_are_there;
static const char *first;

static void *work(void *name)
{
    pthread_setname_np(pthread_self(), name);
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    int cpu = 0;
    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &allowed))
        cpu++;
    printf("%s %d of %d\n", (char *)name, cpu, CPU_COUNT(&allowed));
    pthread_barrier_wait(&all_are_there);
    return NULL;
}

static void *create(void *name)
{
    pthread_t workers[WORKERS];
    int races = !strcmp(first, "race"), is_first = !strcmp(first, name);
    pthread_barrier_wait(&begun);
    if (!races && !is_first)
        pthread_barrier_wait(&first_is_done);
    for (int worker = 0; worker < WORKERS; worker++)
        if (pthread_create(&workers[worker], NULL, work, name)) return name;
    if (!races && is_first)
        pthread_barrier_wait(&first_is_done);
    for (int worker = 0; worker < WORKERS; worker++)
        pthread_join(workers[worker], NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t left, right;
    first = argc > 1 ? argv[1] : "race";
    pthread_barrier_init(&begun, NULL, 2);
    pthread_barrier_init(&first_is_done, NULL, 2);
    pthread_barrier_init(&all_are_there, NULL, 2 * WORKERS);
    if (pthread_create(&left, NULL, create, "left") || pthread_create(&right, NULL, create, "right")) return 1;
    void *failed[2];
    pthread_join(left, &failed[0]);
    pthread_join(right, &failed[1]);
    return failed[0] || failed[1];
}
