/* SPEs price options: black_scholes [BLOCKS [SPES [TIMES]]], with 1024 options a block. */
#include "black_scholes.h"
#include "ladder.h"
#include <libmisc.h>
#include <math.h>

extern spe_program_handle_t black_scholes_spu;

static double normal(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

static double price(double spot, double strike, double years, double rate, double volatility)
{
    double spread = volatility * sqrt(years);
    double d1 = (log(spot / strike) + (rate + volatility * volatility / 2) * years) / spread;
    return spot * normal(d1) - strike * exp(-rate * years) * normal(d1 - spread);
}

int main(int argc, char **argv)
{
    unsigned int blocks = number(argc, argv, 1, 8, 4096), spes = number(argc, argv, 2, 2, MOST_SPES), wrong = 0;
    struct worker all[MOST_SPES];
    struct order orders[MOST_SPES];
    struct options *options = malloc_align(blocks * sizeof *options, 7);
    MUST(options != NULL);
    for (unsigned int at = 0; at < blocks * OPTIONS; at++) {
        struct options *block = &options[at / OPTIONS];
        block->spot[at % OPTIONS] = 80 + (float)(at % 41), block->strike[at % OPTIONS] = 90 + (float)(at % 23);
        block->years[at % OPTIONS] = 0.25f + (float)(at % 8) / 4;
    }
    for (unsigned int at = 0; at < spes; at++) {
        orders[at] = (struct order){(unsigned long)options, blocks, at, spes, number(argc, argv, 3, 1, 1000), 0.03f, 0.25f};
        all[at] = worker(&black_scholes_spu, 0, &orders[at]);
        start(&all[at]);
    }
    for (unsigned int at = 0; at < spes; at++)
        MUST(finish(&all[at]) == 0);
    for (unsigned int at = 0; at < blocks * OPTIONS; at++) {
        struct options *block = &options[at / OPTIONS];
        unsigned int in = at % OPTIONS;
        double exact = price(block->spot[in], block->strike[in], block->years[in], 0.03, 0.25);
        wrong += fabs(block->call[in] - exact) > 1e-3 * exact + 1e-3;
    }
    printf("%u options, %u wrong prices\n", blocks * OPTIONS, wrong);
    free_align(options);
    return wrong != 0;
}
