/* Where a context's local store and registers lie, and what a program does with the addresses. */
#include "check.h"
#include <cbe_mfc.h>

#ifdef __SPU__
static volatile unsigned int shared[4] __attribute__((aligned(16))) = {11, 22, 33, 44};

int main(void)
{
    spu_write_out_mbox((unsigned int)(unsigned long)shared);
    CHECK(spu_read_signal1() == 5 && spu_read_signal2() == 6);
    while (shared[0] != 12)
        spu_dsync();
    return (int)(shared[3] + spu_read_in_mbox());
}
#else
int main(void)
{
    spe_context_ptr_t mapped = loaded(SPE_MAP_PS), plain = loaded(0), gone = loaded(SPE_MAP_PS);
    struct run run = {.spe = mapped};
    CHECK(spe_context_destroy(gone) == 0);
    IS_NULL(spe_ls_area_get(gone), ESRCH);
    IS_NULL(spe_ls_area_get(NULL), ESRCH);
    FAILS(spe_ls_size_get(gone), ESRCH);
    FAILS(spe_ls_size_get(NULL), ESRCH);
    IS_NULL(spe_ps_area_get(gone, SPE_CONTROL_AREA), ESRCH);
    IS_NULL(spe_ps_area_get(plain, SPE_CONTROL_AREA), EACCES);
    IS_NULL(spe_ps_area_get(mapped, (enum ps_area)5), EINVAL);
    CHECK(spe_ls_size_get(mapped) == 256 << 10);
    /* Two contexts have two stores; each is at one place. */
    char *store = spe_ls_area_get(mapped), *other = spe_ls_area_get(plain);
    CHECK(store != NULL && store == spe_ls_area_get(mapped));
    CHECK(other != NULL && (other >= store + (256 << 10) || store >= other + (256 << 10)));
    /* The areas lie as they do in an SPE's problem state. */
    char *start_ = spe_ps_area_get(mapped, SPE_MSSYNC_AREA);
    CHECK(start_ != NULL && spe_ps_area_get(mapped, SPE_MFC_COMMAND_AREA) == start_ + 0x3000);
    volatile spe_spu_control_area_t *control = spe_ps_area_get(mapped, SPE_CONTROL_AREA);
    volatile spe_sig_notify_1_area_t *first = spe_ps_area_get(mapped, SPE_SIG_NOTIFY_1_AREA);
    volatile spe_sig_notify_2_area_t *second = spe_ps_area_get(mapped, SPE_SIG_NOTIFY_2_AREA);
    CHECK((char *)control == start_ + 0x4000 && (char *)first == start_ + 0x14000);
    CHECK((char *)second == start_ + 0x1c000);

    /* Loads of all widths, and of words without a register. */
    volatile unsigned char *bytes = (volatile unsigned char *)control;
    volatile unsigned short *halves = (volatile unsigned short *)control;
    unsigned int copied;
    memcpy(&copied, (const void *)(start_ + 0x4014), sizeof copied);
    CHECK(bytes[0x15] == 4 && bytes[0x14] == 0 && halves[0xa] == 0x400 && copied == 0x400);
    CHECK(*(volatile unsigned long long *)(start_ + 0x4010 + 8) == 0 && control->SPU_Mbox_Stat + 1 == 0x401);
    unsigned int flags_ = 0, word = 0x400;
    __asm__ volatile("cmpl %2, (%1)\n\tsete %b0" : "+r"(flags_) : "r"(start_ + 0x4014), "r"(word) : "cc");
    CHECK(flags_ == 1 && *(volatile unsigned int *)(start_ + 0x5000) == 0);
    *(volatile unsigned int *)(start_ + 0x5000) = 1;

    start(&run);
    while ((control->SPU_Mbox_Stat & 0xff) == 0)
        ;
    unsigned int at = control->SPU_Out_Mbox;
    volatile unsigned int *shared = (volatile unsigned int *)(store + at);
    CHECK((control->SPU_Mbox_Stat & 0xffff) == 0x400 && at < 256 << 10 && shared[1] == 22);
    first->SPU_Sig_Notify_1 = 5;
    CHECK(spe_signal_write(mapped, SPE_SIG_NOTIFY_REG_2, 6) == 0);
    shared[3] = 50;
    __atomic_store_n(&shared[0], 12, __ATOMIC_RELEASE);
    control->SPU_In_Mbox = 4;
    CHECK(end(&run) == 54 && spe_context_destroy(plain) == 0);
    return failed;
}
#endif
