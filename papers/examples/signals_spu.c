/* Counts a token up and hands it on. A signal travels in the word of its quadword that the register has in its own. */
#include "ladder_spu.h"

static struct order {
    unsigned long long next_signal, last_gathers;
    unsigned int which, rounds, spes, padding;
} order __attribute__((aligned(16)));
static volatile unsigned int word[4] __attribute__((aligned(16)));

static void send(unsigned long long signal, unsigned int value)
{
    word[3] = value;
    mfc_sndsig(&word[3], signal, 5, 0, 0);
    wait_for(5);
}

int main(unsigned long long spe, unsigned long long argp)
{
    (void)spe;
    fetch(&order, argp, sizeof order);
    for (unsigned int round = 0; round < order.rounds; round++)
        send(order.next_signal, spu_read_signal1() + 1);
    if (order.which == 0)
        spu_write_out_intr_mbox(spu_read_signal1());
    /* Register 2 gathers bits: the last one reads until all are there. */
    send(order.last_gathers, 1u << order.which);
    if (order.which == order.spes - 1) {
        unsigned int bits = 0;
        while (bits != (1u << order.spes) - 1)
            bits |= spu_read_signal2();
        spu_write_out_intr_mbox(bits);
    }
    return 0;
}
