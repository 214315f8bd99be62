/* Events: registered, told, waited for, and refused. */
#include "check.h"

#ifdef __SPU__
int main(void)
{
    unsigned int word;
    /* Each message comes back through the mailbox that tells of events. */
    while ((word = spu_read_in_mbox()) != 0)
        spu_write_out_intr_mbox(word);
    return 9;
}
#else
static spe_event_unit_t of(spe_context_ptr_t spe, unsigned int events, unsigned int number)
{
    spe_event_unit_t unit = {events, spe, {.u64 = 0}};
    unit.data.u32 = number;
    return unit;
}

static void refusals(void)
{
    spe_event_handler_ptr_t handler = spe_event_handler_create(), gone = spe_event_handler_create();
    spe_context_ptr_t spe = spe_context_create(SPE_EVENTS_ENABLE, NULL), plain = spe_context_create(0, NULL);
    spe_event_unit_t good = of(spe, SPE_EVENT_ALL_EVENTS, 1), without = of(plain, SPE_EVENT_SPE_STOPPED, 1);
    spe_event_unit_t nobody = of(NULL, SPE_EVENT_SPE_STOPPED, 1), unknown = of(spe, 0x100, 1), got[2];
    CHECK(handler != NULL && gone != NULL && spe_event_handler_destroy(gone) == 0);
    FAILS(spe_event_handler_destroy(gone), ESRCH);
    FAILS(spe_event_handler_destroy(NULL), ESRCH);
    int (*calls[])(spe_event_handler_ptr_t, spe_event_unit_t *) = {spe_event_handler_register,
                                                                   spe_event_handler_deregister};
    for (int i = 0; i < 2; i++) {
        FAILS(calls[i](NULL, &good), ESRCH);
        FAILS(calls[i](gone, &good), ESRCH);
        FAILS(calls[i](handler, NULL), EINVAL);
        FAILS(calls[i](handler, &nobody), EINVAL);
        FAILS(calls[i](handler, &without), ENOTSUP);
        FAILS(calls[i](handler, &unknown), ENOTSUP);
    }
    FAILS(spe_event_handler_register(handler, &without), ENOTSUP);
    FAILS(spe_event_handler_deregister(handler, &without), ENOTSUP);
    FAILS(spe_event_wait(gone, got, 2, 0), ESRCH);
    FAILS(spe_event_wait(NULL, got, 2, 0), ESRCH);
    FAILS(spe_event_wait(handler, NULL, 2, 0), EINVAL);
    FAILS(spe_event_wait(handler, got, 0, 0), EINVAL);
    FAILS(spe_event_wait(handler, got, -1, 0), EINVAL);
    /* Nothing is registered, so nothing comes: at once, or when the time has passed. */
    CHECK(spe_event_wait(handler, got, 2, 0) == 0 && spe_event_wait(handler, got, 2, 5) == 0);
    CHECK(spe_event_handler_register(handler, &good) == 0 && spe_context_destroy(spe) == 0);
    FAILS(spe_event_handler_deregister(handler, &good), EINVAL);
    /* A context that is gone has no events. */
    CHECK(spe_event_wait(handler, got, 2, 0) == 0);
    CHECK(spe_context_destroy(plain) == 0 && spe_event_handler_destroy(handler) == 0);
}

static void one_context(void)
{
    struct run run = {.spe = loaded(SPE_EVENTS_ENABLE)};
    spe_event_handler_ptr_t handler = spe_event_handler_create();
    spe_event_unit_t mail = of(run.spe, SPE_EVENT_OUT_INTR_MBOX, 3), stop = of(run.spe, SPE_EVENT_SPE_STOPPED, 4), got[4];
    unsigned int words[2] = {7, 0}, word = 0;
    spe_stop_info_t info;
    CHECK(spe_event_handler_register(handler, &mail) == 0 && spe_event_handler_register(handler, &stop) == 0);
    CHECK(spe_event_wait(handler, got, 4, 0) == 0);
    start(&run);
    CHECK(spe_in_mbox_write(run.spe, words, 1, SPE_MBOX_ALL_BLOCKING) == 1);
    /* An event is told until its cause is gone. */
    for (int i = 0; i < 2; i++) {
        CHECK(spe_event_wait(handler, got, 4, -1) == 1 && got[0].events == SPE_EVENT_OUT_INTR_MBOX);
        CHECK(got[0].spe == run.spe && got[0].data.u32 == 3);
    }
    CHECK(spe_out_intr_mbox_read(run.spe, &word, 1, SPE_MBOX_ANY_NONBLOCKING) == 1 && word == 7);
    CHECK(spe_event_wait(handler, got, 4, 0) == 0);
    /* Who is no longer registered hears nothing. */
    CHECK(spe_event_handler_deregister(handler, &mail) == 0);
    words[0] = 8;
    CHECK(spe_in_mbox_write(run.spe, words, 2, SPE_MBOX_ALL_BLOCKING) == 2);
    CHECK(spe_event_wait(handler, got, 4, -1) == 1 && got[0].events == SPE_EVENT_SPE_STOPPED && got[0].data.u32 == 4);
    CHECK(spe_out_intr_mbox_read(run.spe, &word, 1, SPE_MBOX_ALL_BLOCKING) == 1 && word == 8);
    CHECK(spe_stop_info_read(run.spe, &info) == 0 && info.result.spe_exit_code == 9);
    CHECK(spe_event_wait(handler, got, 4, 0) == 0);
    CHECK(end(&run) == 9 && spe_event_handler_destroy(handler) == 0);
}

static void several_contexts(void)
{
    struct run runs[3] = {{0}};
    spe_event_handler_ptr_t handler = spe_event_handler_create();
    spe_event_unit_t got[3];
    unsigned int word, zero = 0, seen = 0;
    for (unsigned int i = 0; i < 3; i++) {
        runs[i].spe = loaded(SPE_EVENTS_ENABLE);
        spe_event_unit_t unit = of(runs[i].spe, SPE_EVENT_OUT_INTR_MBOX | SPE_EVENT_IN_MBOX, i);
        CHECK(spe_event_handler_register(handler, &unit) == 0);
        unit.events = SPE_EVENT_IN_MBOX;
        CHECK(spe_event_handler_deregister(handler, &unit) == 0);
        start(&runs[i]);
        word = i + 20;
        CHECK(spe_in_mbox_write(runs[i].spe, &word, 1, SPE_MBOX_ALL_BLOCKING) == 1);
    }
    while (seen != 7) {
        /* No more than there is room for. */
        int count = spe_event_wait(handler, got, 2, -1);
        CHECK(count == 1 || count == 2);
        for (int i = 0; i < count; i++) {
            CHECK(spe_out_intr_mbox_read(got[i].spe, &word, 1, SPE_MBOX_ANY_NONBLOCKING) == 1);
            CHECK(word == got[i].data.u32 + 20 && got[i].spe == runs[got[i].data.u32].spe);
            seen |= 1u << got[i].data.u32;
        }
    }
    for (int i = 0; i < 3; i++) {
        CHECK(spe_in_mbox_write(runs[i].spe, &zero, 1, SPE_MBOX_ALL_BLOCKING) == 1 && end(&runs[i]) == 9);
    }
    CHECK(spe_event_handler_destroy(handler) == 0);
}

static void room_and_transfers(void)
{
    static char data[128] __attribute__((aligned(128)));
    spe_context_ptr_t spe = loaded(SPE_EVENTS_ENABLE);
    spe_event_handler_ptr_t handler = spe_event_handler_create();
    spe_event_unit_t room = of(spe, SPE_EVENT_IN_MBOX, 1), tag = of(spe, SPE_EVENT_TAG_GROUP, 2), got[2];
    unsigned int words[4] = {0}, status;
    CHECK(spe_event_handler_register(handler, &room) == 0);
    CHECK(spe_event_wait(handler, got, 2, -1) == 1 && got[0].events == SPE_EVENT_IN_MBOX);
    CHECK(spe_in_mbox_write(spe, words, 4, SPE_MBOX_ANY_NONBLOCKING) == 4 && spe_event_wait(handler, got, 2, 0) == 0);
    CHECK(spe_event_handler_register(handler, &tag) == 0 && spe_event_wait(handler, got, 2, 0) == 0);
    CHECK(spe_mfcio_get(spe, 0x30000, data, sizeof data, 5, 0, 0) == 0);
    CHECK(spe_event_wait(handler, got, 2, -1) == 1 && got[0].events == SPE_EVENT_TAG_GROUP && got[0].data.u32 == 2);
    CHECK(spe_mfcio_tag_status_read(spe, 0, SPE_TAG_ALL, &status) == 0 && status == 1 << 5);
    CHECK(spe_event_wait(handler, got, 2, 0) == 0);
    CHECK(spe_event_handler_destroy(handler) == 0 && spe_context_destroy(spe) == 0);
}

int main(void)
{
    refusals();
    one_context();
    several_contexts();
    room_and_transfers();
    return failed;
}
#endif
