/* Comes to a barrier many times. */
#include "ladder_spu.h"

static struct {
    unsigned long long shared;
    unsigned int which, spes, rounds, padding[3];
} order __attribute__((aligned(16)));
static volatile unsigned int line[32] __attribute__((aligned(128)));
static volatile unsigned int numbers[16][32] __attribute__((aligned(128)));

/* The last one to come opens the next round; the others wait for it. */
static void barrier(unsigned int round)
{
    unsigned int came;
    do {
        mfc_getllar(line, order.shared, 0, 0);
        mfc_read_atomic_status();
        came = ++line[0];
        if (came == order.spes)
            line[0] = 0, line[1] = round + 1;
        mfc_putllc(line, order.shared, 0, 0);
    } while (mfc_read_atomic_status() & MFC_PUTLLC_STATUS);
    while (line[1] == round) {
        /* The reservation is lost when somebody else has changed the line. */
        spu_write_event_mask(MFC_LLR_LOST_EVENT);
        mfc_getllar(line, order.shared, 0, 0);
        mfc_read_atomic_status();
        if (line[1] == round)
            spu_write_event_ack(spu_read_event_status());
    }
}

int main(unsigned long long spe, unsigned long long argp)
{
    int wrong = 0;
    (void)spe;
    fetch(&order, argp, sizeof order);
    for (unsigned int round = 0; round < order.rounds; round++) {
        unsigned long long written = order.shared + 128 + (round & 1) * sizeof numbers;
        numbers[order.which][0] = round * 100 + order.which;
        give(numbers[order.which], written + 128 * order.which, 128);
        barrier(round);
        fetch(numbers, written, 128 * order.spes);
        for (unsigned int at = 0; at < order.spes; at++)
            wrong |= numbers[at][0] != round * 100 + at;
    }
    return wrong;
}
