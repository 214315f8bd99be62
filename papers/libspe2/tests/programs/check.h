/* Checks of both sides: each that fails says its line and makes the program fail. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed;

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);     \
            failed = 1;                                                        \
        }                                                                      \
    } while (0)

#ifdef __SPU__
#include <spu_mfcio.h>
#else
#include <errno.h>
#include <libspe2.h>
#include <pthread.h>

extern spe_program_handle_t work;

#define FAILS(call, code)                       \
    do {                                        \
        errno = 0;                              \
        CHECK((long)(call) == -1 && errno == (code)); \
    } while (0)
#define IS_NULL(call, code)                     \
    do {                                        \
        errno = 0;                              \
        CHECK((call) == NULL && errno == (code)); \
    } while (0)

static spe_context_ptr_t loaded(unsigned int flags)
{
    spe_context_ptr_t spe = spe_context_create(flags, NULL);
    CHECK(spe != NULL && spe_program_load(spe, &work) == 0);
    return spe;
}

struct run {
    spe_context_ptr_t spe;
    void *argp, *envp;
    pthread_t thread;
    int result;
    spe_stop_info_t info;
};

static void *run_thread(void *pointer)
{
    struct run *run = pointer;
    unsigned int entry = SPE_DEFAULT_ENTRY;
    run->result = spe_context_run(run->spe, &entry, 0, run->argp, run->envp, &run->info);
    return NULL;
}

__attribute__((unused)) static void start(struct run *run)
{
    CHECK(pthread_create(&run->thread, NULL, run_thread, run) == 0);
}

__attribute__((unused)) static int end(struct run *run)
{
    CHECK(pthread_join(run->thread, NULL) == 0);
    CHECK(run->result == 0 && run->info.stop_reason == SPE_EXIT);
    CHECK(spe_context_destroy(run->spe) == 0);
    return run->info.result.spe_exit_code;
}
#endif
