/* Mailboxes and signals: how many messages they hold, who waits for whom, errors. */
#include "check.h"

enum { ECHO, FILL, GATHER };
static const unsigned int last = 0xffffffff;

struct control {
    /* How far the SPU came, and what it may read. */
    volatile unsigned int done, padding[31];
} __attribute__((aligned(128)));

#ifdef __SPU__
static struct control control;

/* The PPE sees a number in memory when everything before it was done. */
static void tell(unsigned long long argp, unsigned int done)
{
    control.done = done;
    mfc_put(&control, argp, sizeof control, 1, 0, 0);
    mfc_write_tag_mask(1 << 1);
    mfc_read_tag_status_all();
}

int main(unsigned long long spe, unsigned long long argp, unsigned long long envp)
{
    unsigned int word;
    (void)spe;
    switch (envp) {
    case ECHO:
        while ((word = spu_read_in_mbox()) != last)
            spu_write_out_mbox(word + 1);
        return 0;
    case FILL:
        /* Each mailbox to the PPE holds one message: the second one waits until the first was read. */
        for (unsigned int i = 0; i < 3; i++)
            spu_write_out_mbox(i), tell(argp, i + 1);
        for (unsigned int i = 0; i < 3; i++)
            spu_write_out_intr_mbox(10 + i), tell(argp, i + 4);
        return (int)spu_stat_in_mbox();
    default:
        CHECK(spu_read_signal1() == 8);
        spu_write_out_mbox(spu_read_signal2());
        /* A register is empty when it was read. */
        CHECK(spu_stat_signal1() == 0 && spu_stat_signal2() == 0);
        return failed;
    }
}
#else
static struct run begin(int what, struct control *control)
{
    struct run run = {.spe = loaded(SPE_CFG_SIGNOTIFY2_OR), .argp = control};
    run.envp = (void *)(long)what;
    return run;
}

static unsigned int next(spe_context_ptr_t spe)
{
    unsigned int word = 0;
    while (spe_out_mbox_status(spe) == 0)
        ;
    CHECK(spe_out_mbox_read(spe, &word, 1) == 1);
    return word;
}

static void arguments(void)
{
    spe_context_ptr_t spe = loaded(0), gone = loaded(0);
    unsigned int words[4] = {1, 2, 3, 4};
    CHECK(spe_context_destroy(gone) == 0);
    for (unsigned int behavior = SPE_MBOX_ALL_BLOCKING; behavior <= SPE_MBOX_ANY_NONBLOCKING; behavior++) {
        FAILS(spe_in_mbox_write(gone, words, 1, behavior), ESRCH);
        FAILS(spe_in_mbox_write(spe, NULL, 1, behavior), EINVAL);
        FAILS(spe_in_mbox_write(spe, words, 0, behavior), EINVAL);
        FAILS(spe_in_mbox_write(spe, words, -1, behavior), EINVAL);
        FAILS(spe_out_intr_mbox_read(gone, words, 1, behavior), ESRCH);
        FAILS(spe_out_intr_mbox_read(spe, NULL, 1, behavior), EINVAL);
        FAILS(spe_out_intr_mbox_read(spe, words, 0, behavior), EINVAL);
    }
    FAILS(spe_in_mbox_write(spe, words, 1, 0), EINVAL);
    FAILS(spe_in_mbox_write(spe, words, 1, 4), EINVAL);
    FAILS(spe_out_intr_mbox_read(spe, words, 1, 4), EINVAL);
    FAILS(spe_out_mbox_read(gone, words, 1), ESRCH);
    FAILS(spe_out_mbox_read(spe, NULL, 1), EINVAL);
    FAILS(spe_out_mbox_read(spe, words, 0), EINVAL);
    FAILS(spe_in_mbox_status(gone), ESRCH);
    FAILS(spe_out_mbox_status(gone), ESRCH);
    FAILS(spe_out_intr_mbox_status(gone), ESRCH);
    FAILS(spe_signal_write(gone, SPE_SIG_NOTIFY_REG_1, 1), ESRCH);
    FAILS(spe_signal_write(spe, 0, 1), EINVAL);
    FAILS(spe_signal_write(spe, 3, 1), EINVAL);
    CHECK(spe_context_destroy(spe) == 0);
}

static void inbound(void)
{
    struct run run = begin(ECHO, NULL);
    unsigned int words[40], none;
    for (unsigned int i = 0; i < 40; i++)
        words[i] = i * 3;
    words[39] = last;
    /* Before a program runs, four messages fit. */
    CHECK(spe_in_mbox_status(run.spe) == 4);
    CHECK(spe_in_mbox_write(run.spe, words, 3, SPE_MBOX_ALL_BLOCKING) == 3 && spe_in_mbox_status(run.spe) == 1);
    CHECK(spe_in_mbox_write(run.spe, words + 3, 36, SPE_MBOX_ANY_BLOCKING) == 1 && spe_in_mbox_status(run.spe) == 0);
    CHECK(spe_in_mbox_write(run.spe, words + 4, 36, SPE_MBOX_ANY_NONBLOCKING) == 0);
    CHECK(spe_out_mbox_status(run.spe) == 0 && spe_out_mbox_read(run.spe, &none, 1) == 0);
    start(&run);
    /* One waits for room, and writes what fits then. The program reads one message more than it can answer. */
    int more = spe_in_mbox_write(run.spe, words + 4, 36, SPE_MBOX_ANY_BLOCKING);
    CHECK(more >= 1 && more <= 2);
    for (int i = 0; i < 4 + more; i++)
        CHECK(next(run.spe) == words[i] + 1);
    /* All of them: the program reads the last ones only when its answers are taken. */
    for (int i = 4 + more; i < 39; i++) {
        CHECK(spe_in_mbox_write(run.spe, words + i, 1, SPE_MBOX_ALL_BLOCKING) == 1);
        CHECK(next(run.spe) == words[i] + 1);
    }
    CHECK(spe_in_mbox_write(run.spe, words + 39, 1, SPE_MBOX_ALL_BLOCKING) == 1 && end(&run) == 0);
}

static void *writer(void *pointer)
{
    static unsigned int words[200];
    for (unsigned int i = 0; i < 199; i++)
        words[i] = i;
    words[199] = last;
    CHECK(spe_in_mbox_write(pointer, words, 200, SPE_MBOX_ALL_BLOCKING) == 200);
    return NULL;
}

static void all_at_once(void)
{
    struct run run = begin(ECHO, NULL);
    pthread_t thread;
    start(&run);
    CHECK(pthread_create(&thread, NULL, writer, run.spe) == 0);
    for (unsigned int i = 0; i < 199; i++)
        CHECK(next(run.spe) == i + 1);
    CHECK(pthread_join(thread, NULL) == 0 && end(&run) == 0);
}

static void wait_for(struct control *control, unsigned int done)
{
    while (__atomic_load_n(&control->done, __ATOMIC_ACQUIRE) < done)
        ;
}

static void outbound(void)
{
    static struct control control;
    struct run run = begin(FILL, &control);
    unsigned int words[3] = {0};
    spe_context_ptr_t spe = run.spe;
    start(&run);
    for (unsigned int i = 0; i < 3; i++) {
        wait_for(&control, i + 1);
        /* After the third message the program goes on to the other mailbox. */
        CHECK(spe_out_mbox_status(spe) == 1 && (control.done == i + 1 || i == 2));
        CHECK(spe_out_mbox_read(spe, words, 1) == 1 && words[0] == i);
    }
    wait_for(&control, 4);
    CHECK(spe_out_intr_mbox_status(spe) == 1 && control.done == 4);
    CHECK(spe_out_intr_mbox_read(spe, words, 1, SPE_MBOX_ANY_NONBLOCKING) == 1 && words[0] == 10);
    CHECK(spe_out_intr_mbox_read(spe, words, 2, SPE_MBOX_ALL_BLOCKING) == 2 && words[0] == 11 && words[1] == 12);
    CHECK(spe_out_intr_mbox_read(spe, words, 2, SPE_MBOX_ANY_NONBLOCKING) == 0 && spe_out_intr_mbox_status(spe) == 0);
    CHECK(end(&run) == 0 && control.done == 6);
}

static void signals(void)
{
    struct run run = begin(GATHER, NULL);
    /* The first register keeps the last value, the second one gathers bits, as it was created to. */
    CHECK(spe_signal_write(run.spe, SPE_SIG_NOTIFY_REG_1, 4) == 0);
    CHECK(spe_signal_write(run.spe, SPE_SIG_NOTIFY_REG_1, 8) == 0);
    CHECK(spe_signal_write(run.spe, SPE_SIG_NOTIFY_REG_2, 1) == 0);
    CHECK(spe_signal_write(run.spe, SPE_SIG_NOTIFY_REG_2, 6) == 0);
    start(&run);
    CHECK(next(run.spe) == 7 && end(&run) == 0);
}

int main(void)
{
    arguments();
    inbound();
    all_at_once();
    outbound();
    signals();
    return failed;
}
#endif
