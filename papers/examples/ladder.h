/* The PPE's side of every example: SPEs that run one program, each on a thread, and checks that end the example. */
#ifndef LADDER_H
#define LADDER_H

#include <libspe2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_SPES 16

/* Ends the example with words if something is not as it must be. */
#define MUST(condition)                                                                  \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);      \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

struct worker {
    spe_context_ptr_t spe;
    pthread_t thread;
    void *argp, *envp;
    spe_stop_info_t info;
    int result;
};

/* An SPE with a program in its store. */
static inline struct worker worker(spe_program_handle_t *program, unsigned int flags, void *argp)
{
    struct worker made = {.spe = spe_context_create(flags, NULL), .argp = argp};
    MUST(made.spe != NULL);
    MUST(spe_program_load(made.spe, program) == 0);
    return made;
}

static inline void *run_worker(void *pointer)
{
    struct worker *worker = pointer;
    unsigned int entry = SPE_DEFAULT_ENTRY;
    worker->result = spe_context_run(worker->spe, &entry, 0, worker->argp, worker->envp, &worker->info);
    return NULL;
}

static inline void start(struct worker *worker)
{
    MUST(pthread_create(&worker->thread, NULL, run_worker, worker) == 0);
}

/* Waits for a program's end, and gives its exit code. */
static inline int finish(struct worker *worker)
{
    MUST(pthread_join(worker->thread, NULL) == 0);
    MUST(worker->result == 0 && worker->info.stop_reason == SPE_EXIT);
    MUST(spe_context_destroy(worker->spe) == 0);
    return worker->info.result.spe_exit_code;
}

/* A number from the command line, between 1 and `most`; another one if it is left out. */
static inline unsigned int number(int argc, char **argv, int at, unsigned int otherwise, unsigned int most)
{
    char *end;
    if (at >= argc)
        return otherwise;
    unsigned long value = strtoul(argv[at], &end, 10);
    if (*end != 0 || value < 1 || value > most) {
        fprintf(stderr, "'%s': expected a number from 1 to %u\n", argv[at], most);
        exit(2);
    }
    return (unsigned int)value;
}

#endif
