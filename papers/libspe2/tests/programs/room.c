/* Waits without a limit for room in the mailboxes of several SPEs: each finds some. */
#include "check.h"

#define SPES 4
#ifdef __SPU__
int main(unsigned long long spe, unsigned long long argp)
{
    unsigned int word, sum = 0;
    (void)spe, (void)argp;
    while ((word = spu_read_in_mbox()) != 0) {
        for (volatile int turn = 0; turn < 200; turn++)
            ;
        sum += word;
    }
    return (int)(sum & 0x7f);
}
#else
int main(void)
{
    struct run runs[SPES];
    unsigned int left[SPES], done = 0;
    spe_event_handler_ptr_t handler = spe_event_handler_create();
    for (unsigned int at = 0; at < SPES; at++) {
        runs[at] = (struct run){.spe = loaded(SPE_EVENTS_ENABLE)};
        spe_event_unit_t unit = {.events = SPE_EVENT_IN_MBOX, .spe = runs[at].spe, .data.u32 = at};
        CHECK(spe_event_handler_register(handler, &unit) == 0);
        left[at] = 100;
    }
    for (unsigned int at = 0; at < SPES; at++)
        start(&runs[at]);
    while (done < SPES && !failed) {
        spe_event_unit_t found[SPES];
        int count = spe_event_wait(handler, found, SPES, -1);
        CHECK(count > 0);
        for (int at = 0; at < count; at++) {
            unsigned int which = found[at].data.u32, word = left[which];
            if (spe_in_mbox_write(runs[which].spe, &word, 1, SPE_MBOX_ANY_NONBLOCKING) != 1)
                continue;
            if (left[which]-- == 0) {
                spe_event_unit_t unit = {.events = SPE_EVENT_IN_MBOX, .spe = runs[which].spe};
                CHECK(spe_event_handler_deregister(handler, &unit) == 0);
                done++;
            }
        }
    }
    for (unsigned int at = 0; at < SPES; at++)
        CHECK(end(&runs[at]) == (5050 & 0x7f));
    CHECK(spe_event_handler_destroy(handler) == 0);
    return failed;
}
#endif
