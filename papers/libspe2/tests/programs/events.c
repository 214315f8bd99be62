/* Events of both sides, and the decrementer. */
#include "check.h"
#include <stddef.h>

#ifdef __SPU__
#include <spu_intrinsics.h>

static int calls;

static void called(void)
{
    calls++;
}

int main(void)
{
    spu_bisled(called);
    spu_write_event_mask(MFC_IN_MBOX_AVAILABLE_EVENT | MFC_DECREMENTER_EVENT);
    spu_write_decrementer(1000);
    while (spu_stat_event_status() == 0)
        ;
    spu_bisled(called);
    CHECK(calls == 1);
    CHECK(spu_read_event_status() == MFC_DECREMENTER_EVENT);
    CHECK((int)spu_read_decrementer() < 0);
    spu_write_event_ack(MFC_DECREMENTER_EVENT);
    CHECK(spu_stat_event_status() == 0);
    spu_write_out_intr_mbox(42);
    CHECK(spu_read_event_status() == MFC_IN_MBOX_AVAILABLE_EVENT && spu_read_in_mbox() == 9);
    spu_write_event_ack(MFC_IN_MBOX_AVAILABLE_EVENT);
    CHECK(spu_readchcnt(SPU_RdEventStat) == 0 && spu_read_event_mask() == 0x30);
    return failed;
}
#else
int main(void)
{
    spe_context_ptr_t spe = loaded(SPE_EVENTS_ENABLE), plain = loaded(0);
    spe_event_handler_ptr_t handler = spe_event_handler_create();
    spe_event_unit_t unit = {SPE_EVENT_OUT_INTR_MBOX | SPE_EVENT_SPE_STOPPED, spe, {.u32 = 5}}, got[4];
    spe_event_unit_t wrong = {SPE_EVENT_OUT_INTR_MBOX, plain, {0}}, none = {SPE_EVENT_OUT_INTR_MBOX, NULL, {0}};
    struct run run = {spe};
    unsigned int value, nine = 9;
    spe_stop_info_t info;
    FAILS(spe_event_handler_register(NULL, &unit), ESRCH);
    FAILS(spe_event_handler_register(handler, NULL), EINVAL);
    FAILS(spe_event_handler_register(handler, &none), EINVAL);
    FAILS(spe_event_handler_register(handler, &wrong), ENOTSUP);
    FAILS(spe_event_wait(NULL, got, 4, 0), ESRCH);
    FAILS(spe_event_wait(handler, NULL, 4, 0), EINVAL);
    FAILS(spe_event_wait(handler, got, 0, 0), EINVAL);
    CHECK(spe_event_handler_register(handler, &unit) == 0 && spe_event_wait(handler, got, 4, 0) == 0);
    start(&run);
    CHECK(spe_event_wait(handler, got, 4, -1) == 1);
    CHECK(got[0].events == SPE_EVENT_OUT_INTR_MBOX && got[0].spe == spe && got[0].data.u32 == 5);
    CHECK(spe_out_intr_mbox_read(spe, &value, 1, SPE_MBOX_ANY_NONBLOCKING) == 1 && value == 42);
    CHECK(spe_in_mbox_write(spe, &nine, 1, SPE_MBOX_ALL_BLOCKING) == 1);
    CHECK(spe_event_wait(handler, got, 4, -1) == 1 && got[0].events == SPE_EVENT_SPE_STOPPED);
    CHECK(spe_stop_info_read(spe, &info) == 0 && info.stop_reason == SPE_EXIT && info.result.spe_exit_code == 0);
    CHECK(offsetof(spe_stop_info_t, result) == 8 && sizeof info == 24);
    CHECK(spe_event_handler_deregister(handler, &unit) == 0 && spe_event_wait(handler, got, 4, 0) == 0);
    CHECK(end(&run) == 0);
    CHECK(spe_event_handler_destroy(handler) == 0);
    FAILS(spe_event_handler_destroy(handler), ESRCH);
    return failed;
}
#endif
