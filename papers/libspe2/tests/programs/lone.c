/* A program that waits for what only another thread could send, in a process that has none. */
#include "check.h"

#ifdef __SPU__
int main(unsigned long long spe, unsigned long long argp)
{
    (void)spe;
    switch (argp) {
    case 0:
        return (int)spu_read_in_mbox();
    case 1:
        return (int)spu_read_signal1();
    case 2:
        spu_write_out_mbox(1);
        spu_write_out_mbox(2);
        return 0;
    default:
        spu_write_event_mask(MFC_SIGNAL_NOTIFY_1_EVENT);
        return (int)spu_read_event_status();
    }
}
#else
#include <unistd.h>

static void *send_later(void *pointer)
{
    struct run *run = pointer;
    unsigned int word = 7;
    /* Longer than a lone program waits. */
    usleep(400000);
    CHECK(spe_in_mbox_write(run->spe, &word, 1, SPE_MBOX_ALL_BLOCKING) == 1);
    return NULL;
}

int main(void)
{
    for (unsigned long way = 0; way < 4; way++) {
        struct run run = {.spe = loaded(0), .argp = (void *)way};
        run_thread(&run);
        CHECK(run.result == -1 && run.info.stop_reason == SPE_RUNTIME_ERROR);
        CHECK(spe_context_destroy(run.spe) == 0);
    }
    struct run run = {.spe = loaded(0)};
    pthread_t sender;
    CHECK(pthread_create(&sender, NULL, send_later, &run) == 0);
    run_thread(&run);
    CHECK(pthread_join(sender, NULL) == 0);
    CHECK(run.result == 0 && run.info.result.spe_exit_code == 7);
    return failed;
}
#endif
