/* SPEs meet at a barrier that is one line of memory, changed by atomic commands. In every round each writes its number,
 * and after the barrier finds those of all others. */
#include "ladder.h"

#define ROUNDS 50

extern spe_program_handle_t barrier_spu;

static struct shared {
    unsigned int came, round, padding[30];
    unsigned int written[2][MOST_SPES][32];
} shared __attribute__((aligned(128)));
static struct {
    unsigned long long shared;
    unsigned int which, spes, rounds, padding[3];
} orders[MOST_SPES] __attribute__((aligned(16)));

int main(int argc, char **argv)
{
    unsigned int spes = number(argc, argv, 1, 4, MOST_SPES), wrong = 0;
    struct worker all[MOST_SPES];
    for (unsigned int at = 0; at < spes; at++) {
        orders[at].shared = (unsigned long)&shared;
        orders[at].which = at, orders[at].spes = spes, orders[at].rounds = ROUNDS;
        all[at] = worker(&barrier_spu, 0, &orders[at]);
    }
    for (unsigned int at = 0; at < spes; at++)
        start(&all[at]);
    for (unsigned int at = 0; at < spes; at++)
        wrong += (unsigned int)finish(&all[at]);
    printf("%u SPEs met %u times, %u found a wrong number\n", spes, shared.round, wrong);
    return wrong != 0 || shared.round != ROUNDS;
}
