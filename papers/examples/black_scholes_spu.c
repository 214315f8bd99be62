/* Prices every step-th block of options, four at a time, with the next block on its way. */
#include "black_scholes.h"
#include "ladder_spu.h"
#include <simdmath.h>
#include <spu_intrinsics.h>

static struct order order;
static struct options blocks[2];

/* The normal distribution's sum, by the polynomial of Abramowitz and Stegun (26.2.17), to seven digits. */
static vec_float4 normal(vec_float4 x)
{
    vec_float4 t = recipf4(spu_madd(spu_splats(0.2316419f), fabsf4(x), spu_splats(1.0f)));
    vec_float4 sum = spu_splats(1.330274429f);
    sum = spu_madd(sum, t, spu_splats(-1.821255978f));
    sum = spu_madd(sum, t, spu_splats(1.781477937f));
    sum = spu_madd(sum, t, spu_splats(-0.356563782f));
    sum = spu_mul(spu_madd(sum, t, spu_splats(0.319381530f)), t);
    vec_float4 density = spu_mul(spu_splats(0.39894228f), expf4(spu_mul(spu_mul(x, x), spu_splats(-0.5f))));
    vec_float4 upper = spu_mul(density, sum);
    return spu_sel(spu_sub(1.0f, upper), upper, spu_cmpgt(spu_splats(0.0f), x));
}

static vec_float4 call(vec_float4 spot, vec_float4 strike, vec_float4 years)
{
    vec_float4 rate = spu_splats(order.rate), volatility = spu_splats(order.volatility);
    vec_float4 spread = spu_mul(volatility, sqrtf4(years));
    vec_float4 drift = spu_madd(spu_mul(volatility, volatility), spu_splats(0.5f), rate);
    vec_float4 d1 = divf4(spu_madd(drift, years, logf4(divf4(spot, strike))), spread);
    vec_float4 paid = spu_mul(strike, expf4(spu_mul(spu_sub(0.0f, rate), years)));
    return spu_nmsub(paid, normal(spu_sub(d1, spread)), spu_mul(spot, normal(d1)));
}

static void price(struct options *block)
{
    vec_float4 *spot = (vec_float4 *)block->spot, *strike = (vec_float4 *)block->strike;
    vec_float4 *years = (vec_float4 *)block->years, *calls = (vec_float4 *)block->call;
    for (int at = 0; at < OPTIONS / 4; at++)
        calls[at] = call(spot[at], strike[at], years[at]);
}

static unsigned long long place(unsigned int at)
{
    return order.options + (unsigned long long)at * sizeof(struct options);
}

static void price_all(void)
{
    unsigned int now = 0;
    if (order.first < order.blocks)
        mfc_get(&blocks[0], place(order.first), sizeof blocks[0], 0, 0, 0);
    for (unsigned int at = order.first; at < order.blocks; at += order.step, now ^= 1) {
        /* The barrier keeps the next block behind the prices that leave its buffer. */
        if (at + order.step < order.blocks)
            mfc_getb(&blocks[now ^ 1], place(at + order.step), sizeof blocks[0], now ^ 1, 0, 0);
        wait_for(now);
        price(&blocks[now]);
        mfc_put(blocks[now].call, place(at) + __builtin_offsetof(struct options, call), sizeof blocks[now].call, now, 0, 0);
    }
    mfc_write_tag_mask(3);
    mfc_read_tag_status_all();
}

int main(unsigned long long spe, unsigned long long argp)
{
    (void)spe;
    fetch(&order, argp, sizeof order);
    for (unsigned int time = 0; time < order.times; time++)
        price_all();
    return 0;
}
