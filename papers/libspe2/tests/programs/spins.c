/* Waits without a call: the PPE and the SPU each spin until memory changes, on a value that the other one stores. */
#include "check.h"

#define ROUNDS 3

/* A computation that takes longer than the time after which a program is looked at: it does not spin. */
static unsigned int compute(void)
{
    unsigned int value = 1;
    for (int i = 0; i < 100000000; i++)
        value = value * 1664525 + 1013904223;
    return value;
}

#ifdef __SPU__
static volatile unsigned int inbox[32] __attribute__((aligned(128)));
static volatile unsigned int answer[32] __attribute__((aligned(128)));

int main(unsigned long long spe, unsigned long long argp)
{
    (void)spe;
    spu_write_out_mbox((unsigned int)(unsigned long)inbox);
    for (unsigned int i = 1; i <= ROUNDS; i++) {
        while (inbox[0] != i)
            ;
        answer[0] = i, answer[1] = i == ROUNDS ? compute() : 0;
        mfc_put(answer, argp, 128, 0, 0, 0);
        mfc_write_tag_mask(1);
        mfc_read_tag_status_all();
    }
    return failed;
}
#else
#include <ppu_intrinsics.h>

int main(void)
{
    static volatile unsigned int answer[32] __attribute__((aligned(128)));
    struct run run = {.spe = loaded(0), .argp = (void *)answer};
    unsigned int at;
    start(&run);
    while (spe_out_mbox_read(run.spe, &at, 1) == 0)
        ;
    volatile unsigned int *inbox = (volatile unsigned int *)((char *)spe_ls_area_get(run.spe) + at);
    unsigned long long before = __mftb();
    for (unsigned int i = 1; i <= ROUNDS; i++) {
        inbox[0] = i;
        while (answer[0] != i)
            ;
    }
    fprintf(stderr, "%llu ticks\n", __mftb() - before);
    CHECK(answer[1] == compute());
    CHECK(end(&run) == 0);
    return failed;
}
#endif
