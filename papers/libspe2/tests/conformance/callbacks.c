/* Calls that a program makes and the PPE answers. */
#include "check.h"

#ifdef __SPU__
int main(unsigned long long spe, unsigned long long argp, unsigned long long envp)
{
    static int data[4] __attribute__((aligned(16)));
    (void)spe;
    for (int i = 0; i < (int)envp; i++) {
        data[0] = i, data[1] = -1;
        __send_to_ppe(0x2100 + (unsigned int)argp, i, data);
        CHECK(data[0] == i && data[1] == 3 * i);
    }
    return failed;
}
#else
static void *expected_store;
static int answers;

static int answer(void *store, unsigned int at)
{
    unsigned int word = *(unsigned int *)((char *)store + at);
    int *data = (int *)((char *)store + (word & 0xffffff));
    CHECK(store == expected_store && (int)(word >> 24) == data[0] && at % 4 == 0);
    data[1] = 3 * data[0];
    answers++;
    return 0;
}

static int other(void *store, unsigned int at)
{
    (void)store, (void)at;
    return 7;
}

static int run(spe_context_ptr_t spe, unsigned int flags, unsigned long number, unsigned long times, spe_stop_info_t *info)
{
    unsigned int entry = SPE_DEFAULT_ENTRY;
    expected_store = spe_ls_area_get(spe);
    return spe_context_run(spe, &entry, flags, (void *)number, (void *)times, info);
}

static void registration(void)
{
    FAILS(spe_callback_handler_register(NULL, 20, SPE_CALLBACK_NEW), EINVAL);
    FAILS(spe_callback_handler_register(answer, 20, 0), EINVAL);
    FAILS(spe_callback_handler_register(answer, 256, SPE_CALLBACK_NEW), EINVAL);
    FAILS(spe_callback_handler_register(answer, 20, SPE_CALLBACK_UPDATE), ESRCH);
    FAILS(spe_callback_handler_deregister(20), ESRCH);
    FAILS(spe_callback_handler_deregister(256), EINVAL);
    IS_NULL(spe_callback_handler_query(20), ESRCH);
    IS_NULL(spe_callback_handler_query(256), EINVAL);
    /* The C library's, POSIX's and the effective-address calls have their numbers for themselves. */
    for (unsigned int number = 0; number < 4; number++) {
        FAILS(spe_callback_handler_register(answer, number, SPE_CALLBACK_NEW), EACCES);
        FAILS(spe_callback_handler_deregister(number), EACCES);
    }
    for (unsigned int number = 4; number < 256; number++) {
        CHECK(spe_callback_handler_register(other, number, SPE_CALLBACK_NEW) == 0);
        FAILS(spe_callback_handler_register(answer, number, SPE_CALLBACK_NEW), EACCES);
        CHECK(spe_callback_handler_query(number) == (void *)other);
        CHECK(spe_callback_handler_register(answer, number, SPE_CALLBACK_UPDATE) == 0);
        CHECK(spe_callback_handler_query(number) == (void *)answer);
        CHECK(spe_callback_handler_deregister(number) == 0);
        IS_NULL(spe_callback_handler_query(number), ESRCH);
    }
}

int main(void)
{
    spe_context_ptr_t spe = loaded(0);
    spe_stop_info_t info;
    registration();
    CHECK(spe_callback_handler_register(answer, 4, SPE_CALLBACK_NEW) == 0);
    CHECK(spe_callback_handler_register(answer, 255, SPE_CALLBACK_NEW) == 0);
    CHECK(run(spe, 0, 4, 100, &info) == 0 && info.result.spe_exit_code == 0 && answers == 100);
    CHECK(run(spe, 0, 255, 100, &info) == 0 && info.result.spe_exit_code == 0 && answers == 200);
    /* Without callbacks a call is a stop. */
    CHECK(run(spe, SPE_NO_CALLBACKS, 4, 1, &info) == 0x2104 && info.stop_reason == SPE_STOP_AND_SIGNAL);
    CHECK(answers == 200);
    /* Nobody's number, and an answer that fails. */
    FAILS(run(spe, 0, 77, 1, &info), EFAULT);
    CHECK(info.stop_reason == SPE_CALLBACK_ERROR);
    CHECK(spe_callback_handler_register(other, 4, SPE_CALLBACK_UPDATE) == 0);
    FAILS(run(spe, 0, 4, 1, &info), EFAULT);
    CHECK(info.stop_reason == SPE_CALLBACK_ERROR && spe_context_destroy(spe) == 0);
    return failed;
}
#endif
