/* Waits for a program that nobody can run, and for one that another thread runs later. */
#include "check.h"

#ifdef __SPU__
int main(void)
{
    unsigned int sum = 0;
    for (int i = 0; i < 5; i++)
        sum += spu_read_in_mbox();
    spu_write_out_intr_mbox(sum);
    return 0;
}
#else
#include <unistd.h>

static void *run_later(void *pointer)
{
    /* The first thread has long begun to wait: this program may be run, so that its wait is not in vain. */
    usleep(400000);
    return run_thread(pointer);
}

int main(void)
{
    unsigned int words[5] = {1, 2, 3, 4, 5}, word = 0;
    struct run run = {.spe = loaded(SPE_EVENTS_ENABLE)};
    spe_event_handler_ptr_t handler = spe_event_handler_create();
    spe_event_unit_t mail = {SPE_EVENT_OUT_INTR_MBOX, run.spe, {.u64 = 0}}, got[1];
    CHECK(spe_event_handler_register(handler, &mail) == 0);
    /* There is no other thread, and so nobody who could run the program. */
    FAILS(spe_out_intr_mbox_read(run.spe, &word, 1, SPE_MBOX_ALL_BLOCKING), EIO);
    FAILS(spe_out_intr_mbox_read(run.spe, &word, 1, SPE_MBOX_ANY_BLOCKING), EIO);
    FAILS(spe_event_wait(handler, got, 1, -1), EIO);
    /* Four messages fit. */
    CHECK(spe_in_mbox_write(run.spe, words, 5, SPE_MBOX_ALL_BLOCKING) == 4);
    FAILS(spe_in_mbox_write(run.spe, words + 4, 1, SPE_MBOX_ALL_BLOCKING), EIO);
    CHECK(pthread_create(&run.thread, NULL, run_later, &run) == 0);
    CHECK(spe_in_mbox_write(run.spe, words + 4, 1, SPE_MBOX_ALL_BLOCKING) == 1);
    CHECK(spe_event_wait(handler, got, 1, -1) == 1 && got[0].events == SPE_EVENT_OUT_INTR_MBOX);
    CHECK(spe_out_intr_mbox_read(run.spe, &word, 1, SPE_MBOX_ALL_BLOCKING) == 1 && word == 15);
    CHECK(spe_event_handler_deregister(handler, &mail) == 0 && spe_event_handler_destroy(handler) == 0);
    end(&run);
    /* The program has ended, and the thread that ran it as well. */
    return failed;
}
#endif
