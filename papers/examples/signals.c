/* A token goes around SPEs by signals: each sends it to the next one's register. Bits that all set gather in the last
 * one's other register. */
#include "ladder.h"

#define SPES 4
#define ROUNDS 100

extern spe_program_handle_t signals_spu;

struct order {
    unsigned long long next_signal, last_gathers;
    unsigned int which, rounds, spes, padding;
} __attribute__((aligned(16)));

int main(void)
{
    struct worker ring[SPES];
    struct order orders[SPES];
    for (int at = 0; at < SPES; at++)
        ring[at] = worker(&signals_spu, SPE_MAP_PS | SPE_CFG_SIGNOTIFY2_OR, &orders[at]);
    for (unsigned int at = 0; at < SPES; at++) {
        spe_sig_notify_1_area_t *next = spe_ps_area_get(ring[(at + 1) % SPES].spe, SPE_SIG_NOTIFY_1_AREA);
        spe_sig_notify_2_area_t *last = spe_ps_area_get(ring[SPES - 1].spe, SPE_SIG_NOTIFY_2_AREA);
        MUST(next != NULL && last != NULL);
        orders[at] = (struct order){(unsigned long)&next->SPU_Sig_Notify_1, (unsigned long)&last->SPU_Sig_Notify_2,
                                    at, ROUNDS, SPES, 0};
        start(&ring[at]);
    }
    MUST(spe_signal_write(ring[0].spe, SPE_SIG_NOTIFY_REG_1, 1) == 0);
    unsigned int bits = 0, token = 0;
    /* The first one tells the token when it has come round for the last time; the last one the bits. */
    MUST(spe_out_intr_mbox_read(ring[0].spe, &token, 1, SPE_MBOX_ALL_BLOCKING) == 1);
    MUST(spe_out_intr_mbox_read(ring[SPES - 1].spe, &bits, 1, SPE_MBOX_ALL_BLOCKING) == 1);
    for (int at = 0; at < SPES; at++)
        MUST(finish(&ring[at]) == 0);
    printf("the token is %u, the bits are %#x\n", token, bits);
    return token != ROUNDS * SPES + 1 || bits != (1u << SPES) - 1;
}
