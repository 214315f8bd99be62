/* One thread of the PPE serves several SPEs: it waits for events of all of them. */
#include "ladder.h"

#define SPES 4
#define REQUESTS 20

extern spe_program_handle_t events_spu;

int main(void)
{
    struct worker all[SPES];
    spe_event_handler_ptr_t handler = spe_event_handler_create();
    unsigned int requests = 0, ended = 0, word, sum = 0;
    MUST(handler != NULL);
    for (unsigned int at = 0; at < SPES; at++) {
        all[at] = worker(&events_spu, SPE_EVENTS_ENABLE, (void *)(unsigned long)REQUESTS);
        spe_event_unit_t unit = {.events = SPE_EVENT_OUT_INTR_MBOX | SPE_EVENT_SPE_STOPPED, .spe = all[at].spe};
        unit.data.u32 = at;
        MUST(spe_event_handler_register(handler, &unit) == 0);
        start(&all[at]);
    }
    while (ended < SPES) {
        spe_event_unit_t happened[SPES];
        int count = spe_event_wait(handler, happened, SPES, -1);
        MUST(count > 0);
        for (int at = 0; at < count; at++) {
            struct worker *worker = &all[happened[at].data.u32];
            spe_stop_info_t info;
            MUST(happened[at].spe == worker->spe);
            if (happened[at].events == SPE_EVENT_SPE_STOPPED) {
                MUST(spe_stop_info_read(worker->spe, &info) == 0 && info.stop_reason == SPE_EXIT);
                sum += (unsigned int)info.result.spe_exit_code;
                ended++;
                continue;
            }
            MUST(spe_out_intr_mbox_read(worker->spe, &word, 1, SPE_MBOX_ANY_NONBLOCKING) == 1);
            word *= 3;
            MUST(spe_in_mbox_write(worker->spe, &word, 1, SPE_MBOX_ALL_BLOCKING) == 1);
            requests++;
        }
    }
    for (int at = 0; at < SPES; at++)
        MUST(finish(&all[at]) == REQUESTS);
    MUST(spe_event_handler_destroy(handler) == 0);
    printf("%u requests, %u right answers\n", requests, sum);
    return requests != SPES * REQUESTS || sum != requests;
}
