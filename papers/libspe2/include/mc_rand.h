/* Random numbers of the SDK's Monte Carlo library, on both processors. The generators are those of the names; their
 * sequences for a seed are not the SDK's. */
#ifndef MC_RAND_H
#define MC_RAND_H

#ifdef __cplusplus
extern "C++" {
#endif

#include "vec_types.h"

#define __MC_INLINE static inline __attribute__((unused))

/* Words of a generator, filled from a seed as by Matsumoto and Nishimura's init_genrand (2002). */
typedef struct {
    unsigned int word[624];
    int at;
} __mc_state;
__MC_INLINE void __mc_seed(__mc_state *state, unsigned int seed)
{
    state->word[0] = seed;
    for (unsigned int at = 1; at < 624; at++)
        state->word[at] = 1812433253u * (state->word[at - 1] ^ state->word[at - 1] >> 30) + at;
    state->at = 0;
}
__attribute__((unused)) static __mc_state __mc_mt = {{0}, -1}, __mc_ks = {{0}, -1};

/* The Mersenne Twister MT19937: Matsumoto and Nishimura 1998. */
__MC_INLINE unsigned int __mc_mt_word(void)
{
    __mc_state *state = &__mc_mt;
    if (state->at < 0)
        __mc_seed(state, 5489);
    int at = state->at, next = (at + 1) % 624;
    unsigned int both = (state->word[at] & 0x80000000u) | (state->word[next] & 0x7fffffffu);
    unsigned int word = state->word[(at + 397) % 624] ^ both >> 1 ^ (both & 1 ? 0x9908b0dfu : 0);
    state->word[at] = word, state->at = next;
    word ^= word >> 11, word ^= word << 7 & 0x9d2c5680u, word ^= word << 15 & 0xefc60000u;
    return word ^ word >> 18;
}
/* R250: Kirkpatrick and Stoll 1981. */
__MC_INLINE unsigned int __mc_ks_word(void)
{
    __mc_state *state = &__mc_ks;
    if (state->at < 0)
        __mc_seed(state, 5489);
    unsigned int word = state->word[state->at] ^= state->word[(state->at + 147) % 250];
    state->at = (state->at + 1) % 250;
    return word;
}

__MC_INLINE void mc_rand_mt_init(unsigned int seed)
{
    __mc_seed(&__mc_mt, seed);
}
__MC_INLINE vec_uint4 mc_rand_mt_u4(void)
{
    unsigned int a = __mc_mt_word(), b = __mc_mt_word(), c = __mc_mt_word(), d = __mc_mt_word();
    return (vec_uint4){a, b, c, d};
}
/* From 0 to below 1, by as many bits as the numbers have. */
__MC_INLINE vec_float4 mc_rand_mt_0_to_1_f4(void)
{
    vec_uint4 u = mc_rand_mt_u4() >> 8;
    return (vec_float4){(float)u[0], (float)u[1], (float)u[2], (float)u[3]} * 0x1p-24f;
}
__MC_INLINE vec_double2 mc_rand_mt_0_to_1_d2(void)
{
    vec_uint4 u = mc_rand_mt_u4();
    vec_double2 high = {u[0] >> 5, u[2] >> 5}, low = {u[1] >> 6, u[3] >> 6};
    return (high * 67108864.0 + low) * 0x1p-53;
}
__MC_INLINE vec_float4 mc_rand_mt_minus1_to_1_f4(void)
{
    return mc_rand_mt_0_to_1_f4() * 2.0f - 1.0f;
}
__MC_INLINE vec_double2 mc_rand_mt_minus1_to_1_d2(void)
{
    return mc_rand_mt_0_to_1_d2() * 2.0 - 1.0;
}

__MC_INLINE void mc_rand_ks_init(unsigned int seed)
{
    __mc_seed(&__mc_ks, seed);
}
__MC_INLINE vec_uint4 mc_rand_ks_u4(void)
{
    unsigned int a = __mc_ks_word(), b = __mc_ks_word(), c = __mc_ks_word(), d = __mc_ks_word();
    return (vec_uint4){a, b, c, d};
}
/* From 0 to below 1, by as many bits as the numbers have. */
__MC_INLINE vec_float4 mc_rand_ks_0_to_1_f4(void)
{
    vec_uint4 u = mc_rand_ks_u4() >> 8;
    return (vec_float4){(float)u[0], (float)u[1], (float)u[2], (float)u[3]} * 0x1p-24f;
}
__MC_INLINE vec_double2 mc_rand_ks_0_to_1_d2(void)
{
    vec_uint4 u = mc_rand_ks_u4();
    vec_double2 high = {u[0] >> 5, u[2] >> 5}, low = {u[1] >> 6, u[3] >> 6};
    return (high * 67108864.0 + low) * 0x1p-53;
}
__MC_INLINE vec_float4 mc_rand_ks_minus1_to_1_f4(void)
{
    return mc_rand_ks_0_to_1_f4() * 2.0f - 1.0f;
}
__MC_INLINE vec_double2 mc_rand_ks_minus1_to_1_d2(void)
{
    return mc_rand_ks_0_to_1_d2() * 2.0 - 1.0;
}

/* NAME_array_TYPE(count, to): fills an array of vectors. */
#define __MC_ARRAY(name, type, T)                                           \
    __MC_INLINE void name##_array_##type(unsigned int count, T *to)         \
    {                                                                       \
        for (unsigned int at = 0; at < count; at++)                         \
            to[at] = name##_##type();                                       \
    }
__MC_ARRAY(mc_rand_mt, u4, vec_uint4)
__MC_ARRAY(mc_rand_mt_0_to_1, f4, vec_float4)
__MC_ARRAY(mc_rand_mt_0_to_1, d2, vec_double2)
__MC_ARRAY(mc_rand_mt_minus1_to_1, f4, vec_float4)
__MC_ARRAY(mc_rand_mt_minus1_to_1, d2, vec_double2)
__MC_ARRAY(mc_rand_ks, u4, vec_uint4)
__MC_ARRAY(mc_rand_ks_0_to_1, f4, vec_float4)
__MC_ARRAY(mc_rand_ks_0_to_1, d2, vec_double2)
__MC_ARRAY(mc_rand_ks_minus1_to_1, f4, vec_float4)
__MC_ARRAY(mc_rand_ks_minus1_to_1, d2, vec_double2)
#undef __MC_ARRAY

/* The hardware's generator, which only secure mode has: not available. */
__MC_INLINE int mc_rand_hw_init(void)
{
    return -1;
}
__MC_INLINE vec_uint4 mc_rand_hw_u4(void)
{
    return (vec_uint4){0, 0, 0, 0};
}

#ifdef __cplusplus
}
#endif

#endif
