/* What the PPE's side of every measured program has: a clock, SPEs with a thread each, and the kernel's account. */
#ifndef TIMED_H
#define TIMED_H

#include <libspe2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define MOST_SPES 16

static inline double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline void must(int holds, const char *what)
{
    if (!holds) {
        perror(what);
        exit(1);
    }
}

struct worker {
    spe_context_ptr_t spe;
    pthread_t thread;
    void *argp;
    int result;
    spe_stop_info_t info;
};

static inline void *run_worker(void *pointer)
{
    struct worker *worker = pointer;
    unsigned int entry = SPE_DEFAULT_ENTRY;
    worker->result = spe_context_run(worker->spe, &entry, 0, worker->argp, NULL, &worker->info);
    return NULL;
}

static inline void start(struct worker *worker)
{
    must(pthread_create(&worker->thread, NULL, run_worker, worker) == 0, "pthread_create");
}

static inline void join(struct worker *worker)
{
    must(pthread_join(worker->thread, NULL) == 0, "pthread_join");
    must(worker->result == 0 && worker->info.result.spe_exit_code == 0, "spe_context_run");
}

/* The kernel's account of the process: microseconds of both kinds, waits, preemptions, faults. */
struct account {
    double user_us, kernel_us;
    long voluntary, involuntary, faults;
};

static inline double microseconds(struct timeval time)
{
    return (double)time.tv_sec * 1e6 + (double)time.tv_usec;
}

static inline struct account account(void)
{
    struct rusage usage;
    must(getrusage(RUSAGE_SELF, &usage) == 0, "getrusage");
    return (struct account){microseconds(usage.ru_utime), microseconds(usage.ru_stime), usage.ru_nvcsw,
                            usage.ru_nivcsw, usage.ru_minflt + usage.ru_majflt};
}

#endif
