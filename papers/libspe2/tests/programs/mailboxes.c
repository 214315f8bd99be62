/* Mailboxes and signals: order, room, blocking, errors. */
#include "check.h"

#ifdef __SPU__
int main(void)
{
    unsigned int sum = 0;
    CHECK(spu_stat_out_mbox() == 1 && spu_stat_out_intr_mbox() == 1);
    for (int i = 0; i < 10; i++)
        sum = sum * 3 + spu_read_in_mbox();
    spu_write_out_mbox(sum);
    for (unsigned int i = 0; i < 5; i++)
        spu_write_out_intr_mbox(i);
    while (spu_stat_signal1() == 0)
        ;
    CHECK(spu_read_signal1() == 7);
    CHECK(spu_read_signal2() == 5 && spu_stat_signal2() == 0);
    spu_write_out_mbox(99);
    return failed;
}
#else
int main(void)
{
    unsigned int data[10], value;
    spe_context_ptr_t spe = loaded(SPE_CFG_SIGNOTIFY2_OR);
    struct run run = {spe};
    for (unsigned int i = 0; i < 10; i++)
        data[i] = i + 1;
    FAILS(spe_in_mbox_write(NULL, data, 1, SPE_MBOX_ALL_BLOCKING), ESRCH);
    FAILS(spe_in_mbox_write(spe, NULL, 1, SPE_MBOX_ALL_BLOCKING), EINVAL);
    FAILS(spe_in_mbox_write(spe, data, 0, SPE_MBOX_ALL_BLOCKING), EINVAL);
    FAILS(spe_in_mbox_write(spe, data, 1, 4), EINVAL);
    FAILS(spe_out_mbox_read(spe, NULL, 1), EINVAL);
    FAILS(spe_out_mbox_read(spe, data, 0), EINVAL);
    FAILS(spe_out_intr_mbox_read(spe, data, 1, 0), EINVAL);
    FAILS(spe_out_mbox_status(NULL), ESRCH);
    FAILS(spe_signal_write(spe, 3, 0), EINVAL);
    CHECK(spe_in_mbox_status(spe) == 4 && spe_out_mbox_status(spe) == 0 && spe_out_intr_mbox_status(spe) == 0);
    CHECK(spe_out_mbox_read(spe, &value, 1) == 0);
    CHECK(spe_in_mbox_write(spe, data, 6, SPE_MBOX_ANY_NONBLOCKING) == 4);
    CHECK(spe_in_mbox_write(spe, data, 6, SPE_MBOX_ANY_NONBLOCKING) == 0 && spe_in_mbox_status(spe) == 0);
    CHECK(spe_signal_write(spe, SPE_SIG_NOTIFY_REG_1, 3) == 0 && spe_signal_write(spe, SPE_SIG_NOTIFY_REG_1, 7) == 0);
    CHECK(spe_signal_write(spe, SPE_SIG_NOTIFY_REG_2, 1) == 0 && spe_signal_write(spe, SPE_SIG_NOTIFY_REG_2, 4) == 0);
    start(&run);
    CHECK(spe_in_mbox_write(spe, data + 4, 6, SPE_MBOX_ALL_BLOCKING) == 6);
    unsigned int expected = 0, got[5];
    for (unsigned int i = 0; i < 10; i++)
        expected = expected * 3 + i + 1;
    while (spe_out_mbox_status(spe) == 0)
        ;
    CHECK(spe_out_mbox_read(spe, &value, 1) == 1 && value == expected);
    CHECK(spe_out_intr_mbox_read(spe, got, 2, SPE_MBOX_ALL_BLOCKING) == 2 && got[0] == 0 && got[1] == 1);
    CHECK(spe_out_intr_mbox_read(spe, got, 1, SPE_MBOX_ANY_BLOCKING) == 1 && got[0] == 2);
    CHECK(spe_out_intr_mbox_read(spe, got, 2, SPE_MBOX_ALL_BLOCKING) == 2 && got[0] == 3 && got[1] == 4);
    CHECK(end(&run) == 0);
    FAILS(spe_out_mbox_status(spe), ESRCH);
    return failed;
}
#endif
