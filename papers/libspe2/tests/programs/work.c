/* Work between calls: what it costs on a simulated Cell, and functions that call the program back. */
#include "check.h"

#ifdef __SPU__
static int by_value(const void *one, const void *other)
{
    return *(const int *)one - *(const int *)other;
}

/* Takes four instructions a round or so; the result keeps the compiler from leaving it out. */
static __attribute__((noinline)) unsigned int turn(unsigned int rounds)
{
    unsigned int value = 1;
    for (unsigned int round = 0; round < rounds; round++)
        value = (value << 5) ^ (value >> 3) ^ round;
    return value;
}

static unsigned int ticks(unsigned int rounds)
{
    unsigned int before = spu_read_decrementer();
    CHECK(turn(rounds) != 1);
    return before - spu_read_decrementer();
}

int main(void)
{
    int numbers[100], found = 0;
    for (int i = 0; i < 100; i++)
        numbers[i] = i * 37 % 100;
    qsort(numbers, 100, sizeof *numbers, by_value);
    for (int i = 0; i < 100; i++) {
        int *place = bsearch(&i, numbers, 100, sizeof *numbers, by_value);
        found += place == &numbers[i];
    }
    int absent = 100, few[1] = {7};
    CHECK(found == 100 && bsearch(&absent, numbers, 100, sizeof *numbers, by_value) == NULL);
    qsort(few, 1, sizeof *few, by_value);
    qsort(few, 0, sizeof *few, by_value);
    spu_write_decrementer(~0u);
    unsigned int once = ticks(100000), twice = ticks(200000);
    spu_write_out_intr_mbox(once);
    spu_write_out_intr_mbox(twice);
    return failed;
}
#else
int main(void)
{
    struct run run = {.spe = loaded(0)};
    unsigned int ticks[2];
    start(&run);
    CHECK(spe_out_intr_mbox_read(run.spe, ticks, 2, SPE_MBOX_ALL_BLOCKING) == 2);
    CHECK(end(&run) == 0);
    printf("%u %u\n", ticks[0], ticks[1]);
    return failed;
}
#endif
