/* Runs: how they begin, end and go on, and the ends that a context keeps. */
#include "check.h"

enum { RETURN, EXIT, STOPS, ARGUMENTS, WAIT };

#ifdef __SPU__
int main(unsigned long long spe, unsigned long long argp, unsigned long long envp)
{
    unsigned int what = (unsigned int)argp & 0xff, value = (unsigned int)argp >> 8;
    switch (what) {
    case RETURN:
        return (int)value;
    case EXIT:
        exit((int)value);
    case STOPS:
        /* The lowest and the highest code, and those beside the codes that end a program or call the PPE. */
        spu_stop(0);
        spu_stop(0x1fff);
        spu_stop(0x2200);
        spu_stop(0x3fff);
        return 1;
    case ARGUMENTS:
        return spe == envp;
    default:
        spu_read_in_mbox();
        return (int)spu_read_in_mbox();
    }
}
#else
static int run(spe_context_ptr_t spe, unsigned int *entry, unsigned long what, spe_stop_info_t *info)
{
    return spe_context_run(spe, entry, 0, (void *)what, spe, info);
}

static unsigned int begins = SPE_DEFAULT_ENTRY;

static void ends(spe_context_ptr_t spe)
{
    spe_stop_info_t info;
    for (unsigned long code = 0; code < 300; code += 37)
        for (unsigned long what = RETURN; what <= EXIT; what++) {
            unsigned int entry = begins;
            CHECK(run(spe, &entry, code << 8 | what, &info) == 0 && info.stop_reason == SPE_EXIT);
            CHECK(info.result.spe_exit_code == (int)(code & 0xff));
        }
    unsigned int entry = begins;
    CHECK(run(spe, &entry, ARGUMENTS, &info) == 0 && info.result.spe_exit_code == 1);
    /* Nobody need be told. */
    CHECK(run(spe, (entry = begins, &entry), 7 << 8, NULL) == 0);
}

static void stops(spe_context_ptr_t spe)
{
    static const int codes[] = {0, 0x1fff, 0x2200, 0x3fff};
    spe_stop_info_t info;
    unsigned int entry = begins, before = begins;
    for (int i = 0; i < 4; i++) {
        CHECK(run(spe, &entry, STOPS, &info) == codes[i] && info.stop_reason == SPE_STOP_AND_SIGNAL);
        CHECK(info.result.spe_signal_code == codes[i]);
        CHECK(info.spu_status == (codes[i] << 16 | SPE_SPU_STOPPED_BY_STOP));
        CHECK(entry != before && entry < 256 << 10 && entry % 4 == 0);
        before = entry;
    }
    CHECK(run(spe, &entry, STOPS, &info) == 0 && info.stop_reason == SPE_EXIT && info.result.spe_exit_code == 1);
}

static void registers(spe_context_ptr_t spe)
{
    unsigned long long words[6] = {9, 0, ARGUMENTS, 0, 9, 0};
    spe_stop_info_t info;
    unsigned int entry = begins;
    CHECK(spe_context_run(spe, &entry, SPE_RUN_USER_REGS, words, NULL, &info) == 0);
    CHECK(info.result.spe_exit_code == 1);
    words[4] = 8, entry = begins;
    CHECK(spe_context_run(spe, &entry, SPE_RUN_USER_REGS | SPE_NO_CALLBACKS, words, NULL, &info) == 0);
    CHECK(info.result.spe_exit_code == 0);
    entry = begins;
    FAILS(spe_context_run(spe, &entry, SPE_RUN_USER_REGS, NULL, NULL, &info), EINVAL);
}

static void refusals(void)
{
    struct run running = {loaded(0), (void *)WAIT};
    spe_context_ptr_t empty = spe_context_create(0, NULL);
    unsigned int entry = begins, words[2] = {1, 3};
    spe_stop_info_t info;
    FAILS(run(NULL, &entry, RETURN, &info), ESRCH);
    FAILS(run(empty, &entry, RETURN, &info), EINVAL);
    FAILS(run(running.spe, NULL, RETURN, &info), EINVAL);
    CHECK(spe_context_run(running.spe, &entry, SPE_MAP_PS | 4, (void *)RETURN, NULL, &info) == 0);
    entry = begins;
    start(&running);
    CHECK(spe_in_mbox_write(running.spe, words, 1, SPE_MBOX_ALL_BLOCKING) == 1);
    /* The program took the message, so it runs, and waits for the next one. */
    while (spe_in_mbox_status(running.spe) != 4)
        ;
    FAILS(run(running.spe, &entry, RETURN, &info), EAGAIN);
    FAILS(spe_program_load(running.spe, &work), EAGAIN);
    CHECK(spe_in_mbox_write(running.spe, words + 1, 1, SPE_MBOX_ALL_BLOCKING) == 1 && end(&running) == 3);
    FAILS(run(running.spe, &entry, RETURN, &info), ESRCH);
    CHECK(spe_context_destroy(empty) == 0);
}

static void kept_ends(void)
{
    spe_context_ptr_t spe = loaded(SPE_EVENTS_ENABLE), plain = loaded(0);
    spe_stop_info_t info, kept;
    FAILS(spe_stop_info_read(spe, &info), EAGAIN);
    FAILS(spe_stop_info_read(spe, NULL), EINVAL);
    FAILS(spe_stop_info_read(plain, &info), ENOTSUP);
    FAILS(spe_stop_info_read(NULL, &info), ESRCH);
    for (unsigned long code = 1; code <= 3; code++) {
        unsigned int entry = begins;
        CHECK(run(spe, &entry, code << 8, &info) == 0);
    }
    /* The oldest first, each once. */
    for (int code = 1; code <= 3; code++)
        CHECK(spe_stop_info_read(spe, &kept) == 0 && kept.result.spe_exit_code == code && kept.stop_reason == SPE_EXIT);
    CHECK(memcmp(&kept, &info, sizeof info) == 0);
    FAILS(spe_stop_info_read(spe, &info), EAGAIN);
    CHECK(spe_context_destroy(spe) == 0 && spe_context_destroy(plain) == 0);
    FAILS(spe_stop_info_read(spe, &info), ESRCH);
}

int main(void)
{
    spe_context_ptr_t spe = loaded(0);
    ends(spe);
    stops(spe);
    registers(spe);
    CHECK(spe_context_destroy(spe) == 0);
    refusals();
    kept_ends();
    return failed;
}
#endif
