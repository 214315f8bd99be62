/* The PPE's vector instructions, as far as programs that also have an SPU side use them. Elements and bytes lie as
 * seatmap_vector.h says. */
#ifndef ALTIVEC_H
#define ALTIVEC_H

#include <stddef.h>
#include <stdint.h>
#include "seatmap_vector.h"
#include "seatmap_vector_bits.h"
#include "simdmath.h"

/* Loads and stores of whole quadwords: the address loses its last four bits. */
#ifndef __cplusplus
#define __VEC_AT(offset, pointer)                                                                             \
    (*(__typeof__(_Generic(*(pointer),                                                                        \
                           unsigned char: (vec_uchar16){0}, signed char: (vec_char16){0}, char: (vec_char16){0}, \
                           unsigned short: (vec_ushort8){0}, short: (vec_short8){0},                          \
                           unsigned int: (vec_uint4){0}, int: (vec_int4){0}, unsigned long: (vec_uint4){0},   \
                           long: (vec_int4){0}, float: (vec_float4){0}, default: *(pointer))) *)(             \
        ((uintptr_t)(pointer) + (uintptr_t)(offset)) & ~(uintptr_t)15))
#define vec_ld(offset, pointer) __VEC_AT(offset, pointer)
#define vec_ldl(offset, pointer) __VEC_AT(offset, pointer)
#define vec_st(value, offset, pointer) ((void)(__VEC_AT(offset, pointer) = (value)))
#define vec_stl(value, offset, pointer) vec_st(value, offset, pointer)
#endif

/* Arithmetic. */
#define vec_add(a, b) ((a) + (__SPU_T(a))(b))
#define vec_sub(a, b) ((a) - (__SPU_T(a))(b))
#define vec_madd(a, b, c) fmaf4((a), (b), (c))
#define vec_nmsub(a, b, c) (-fmaf4((a), (b), -(c)))
#define vec_min(a, b) __VEC_CHOSEN((b), (a), (a) < (b))
#define vec_max(a, b) __VEC_CHOSEN((b), (a), (a) > (b))
#define __VEC_CHOSEN(no, yes, mask) \
    ((__SPU_T(no))__spu_sel((vec_ullong2)(no), (vec_ullong2)(yes), (vec_ullong2)(mask)))
#define vec_abs(a) __VEC_CHOSEN((a), -(a), (a) < (__SPU_T(a)){0})
#define vec_re(a) recipf4(a)
#define vec_rsqrte(a) rsqrtf4(a)
#define vec_floor(a) floorf4(a)
#define vec_ceil(a) ceilf4(a)
#define vec_trunc(a) truncf4(a)
#define vec_round(a) rintf4(a)

/* Bits. */
#define vec_and(a, b) ((__SPU_T(a))((vec_uint4)(a) & (vec_uint4)(b)))
#define vec_or(a, b) ((__SPU_T(a))((vec_uint4)(a) | (vec_uint4)(b)))
#define vec_xor(a, b) ((__SPU_T(a))((vec_uint4)(a) ^ (vec_uint4)(b)))
#define vec_andc(a, b) ((__SPU_T(a))((vec_uint4)(a) & ~(vec_uint4)(b)))
#define vec_nor(a, b) ((__SPU_T(a))~((vec_uint4)(a) | (vec_uint4)(b)))
#define vec_sel(a, b, mask) __VEC_CHOSEN((a), (b), (mask))
#define vec_sl(a, b) ((a) << ((__SPU_T(a))(b) & (__SPU_ARG(__SPU_T(a), __SPU_BITS(a) - 1))))
#define vec_sr(a, b) ((__SPU_T(a))((__SPU_U(a))(a) >> ((__SPU_U(a))(b) & (__SPU_ARG(__SPU_U(a), __SPU_BITS(a) - 1)))))
#define vec_sra(a, b) ((__SPU_T(a))((__SPU_S(a))(a) >> ((__SPU_S(a))(b) & (__SPU_ARG(__SPU_S(a), __SPU_BITS(a) - 1)))))

/* Comparisons. */
#define vec_cmpeq(a, b) ((__SPU_U(a))((a) == (b)))
#define vec_cmpgt(a, b) ((__SPU_U(a))((a) > (b)))
#define vec_cmplt(a, b) ((__SPU_U(a))((a) < (b)))
#define vec_cmpge(a, b) ((__SPU_U(a))((a) >= (b)))
#define vec_cmple(a, b) ((__SPU_U(a))((a) <= (b)))
__SPU_INLINE int __vec_all(vec_ullong2 mask)
{
    return (mask[0] & mask[1]) == ~0ull;
}
__SPU_INLINE int __vec_any(vec_ullong2 mask)
{
    return (mask[0] | mask[1]) != 0;
}
#define vec_all_eq(a, b) __vec_all((vec_ullong2)((a) == (b)))
#define vec_all_ne(a, b) __vec_all((vec_ullong2)((a) != (b)))
#define vec_all_gt(a, b) __vec_all((vec_ullong2)((a) > (b)))
#define vec_all_ge(a, b) __vec_all((vec_ullong2)((a) >= (b)))
#define vec_all_lt(a, b) __vec_all((vec_ullong2)((a) < (b)))
#define vec_all_le(a, b) __vec_all((vec_ullong2)((a) <= (b)))
#define vec_any_eq(a, b) __vec_any((vec_ullong2)((a) == (b)))
#define vec_any_ne(a, b) __vec_any((vec_ullong2)((a) != (b)))
#define vec_any_gt(a, b) __vec_any((vec_ullong2)((a) > (b)))
#define vec_any_ge(a, b) __vec_any((vec_ullong2)((a) >= (b)))
#define vec_any_lt(a, b) __vec_any((vec_ullong2)((a) < (b)))
#define vec_any_le(a, b) __vec_any((vec_ullong2)((a) <= (b)))

/* Elements. */
#define vec_extract(v, element) ((v)[(element) & (int)__SPU_LAST(v)])
#define vec_splat(v, element) __SPU_ARG(__SPU_T(v), vec_extract(v, element))
#define vec_splat_u8(n) __SPU_ARG(vec_uchar16, (unsigned char)(n))
#define vec_splat_s8(n) __SPU_ARG(vec_char16, (signed char)(n))
#define vec_splat_u16(n) __SPU_ARG(vec_ushort8, (unsigned short)(n))
#define vec_splat_s16(n) __SPU_ARG(vec_short8, (short)(n))
#define vec_splat_u32(n) __SPU_ARG(vec_uint4, (unsigned int)(n))
#define vec_splat_s32(n) __SPU_ARG(vec_int4, (int)(n))

/* Bytes of two vectors by a pattern, of which five bits count. */
__SPU_INLINE vec_uchar16 __vec_perm(vec_uchar16 a, vec_uchar16 b, vec_uchar16 pattern, unsigned int size)
{
    return __builtin_shuffle(a, b, (__spu_order(pattern, size) & 31) ^ (unsigned char)(size - 1));
}
#define vec_perm(a, b, pattern) \
    ((__SPU_T(a))__vec_perm((vec_uchar16)(a), (vec_uchar16)(b), (vec_uchar16)(pattern), sizeof((a)[0])))
__SPU_INLINE vec_uchar16 __vec_sld(vec_uchar16 a, vec_uchar16 b, unsigned int count, unsigned int size)
{
    vec_uchar16 places = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return __vec_perm(a, b, places + (unsigned char)(count & 15), size);
}
#define vec_sld(a, b, count) ((__SPU_T(a))__vec_sld((vec_uchar16)(a), (vec_uchar16)(b), (count), sizeof((a)[0])))
/* Elements in turn, of the first or the second halves. */
__SPU_INLINE vec_uchar16 __vec_merge(vec_uchar16 a, vec_uchar16 b, unsigned int first, unsigned int size)
{
    vec_uchar16 pattern;
    for (unsigned int at = 0; at < 16; at++)
        pattern[at] = (unsigned char)(first + at / (2 * size) * size + at % size + (at / size % 2) * 16);
    return __builtin_shuffle(a, b, pattern);
}
#define vec_mergeh(a, b) ((__SPU_T(a))__vec_merge((vec_uchar16)(a), (vec_uchar16)(b), 0, sizeof((a)[0])))
#define vec_mergel(a, b) ((__SPU_T(a))__vec_merge((vec_uchar16)(a), (vec_uchar16)(b), 8, sizeof((a)[0])))
/* The pattern that moves bytes at an address to the front. */
__SPU_INLINE vec_uchar16 __vec_lvsl(uintptr_t address)
{
    vec_uchar16 places = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return places + (unsigned char)(address & 15);
}
#define vec_lvsl(offset, pointer) __vec_lvsl((uintptr_t)(pointer) + (uintptr_t)(offset))

/* Conversions, by a power of two; numbers that are too large become the largest. */
__SPU_INLINE vec_float4 __SPU_NAME(__vec_ctf, s)(vec_int4 a, int scale)
{
    return __builtin_convertvector(a, vec_float4) * __builtin_ldexpf(1, -scale);
}
__SPU_INLINE vec_float4 __SPU_NAME(__vec_ctf, u)(vec_uint4 a, int scale)
{
    return __builtin_convertvector(a, vec_float4) * __builtin_ldexpf(1, -scale);
}
#ifdef __cplusplus
#define vec_ctf(a, scale) __vec_ctf((a), (scale))
#else
#define vec_ctf(a, scale) (_Generic((a)[0], unsigned int : __vec_ctf_u, default : __vec_ctf_s)((a), (scale)))
#endif
__SPU_INLINE vec_int4 vec_cts(vec_float4 a, int scale)
{
    vec_float4 scaled = a * __builtin_ldexpf(1, scale);
    vec_int4 over = (vec_int4)(scaled >= 2147483648.0f);
    typedef float floats __attribute__((vector_size(16)));
    return ((vec_int4)__builtin_ia32_cvttps2dq((floats)scaled) & ~over) | (over & 0x7fffffff);
}

/* Streams of prefetches. */
#define vec_dst(pointer, control, stream) ((void)(pointer), (void)(control), (void)(stream))
#define vec_dstst(pointer, control, stream) ((void)(pointer), (void)(control), (void)(stream))
#define vec_dss(stream) ((void)(stream))
#define vec_dssall() ((void)0)

#ifdef __cplusplus
/* Loads and stores, by the type that the pointer leads to. */
#define __VEC_LOADS(S, T)                                                   \
    __SPU_INLINE T vec_ld(ptrdiff_t offset, const S *pointer)               \
    {                                                                       \
        return *(const T *)(((uintptr_t)pointer + (uintptr_t)offset) & ~(uintptr_t)15); \
    }                                                                       \
    __SPU_INLINE void vec_st(T value, ptrdiff_t offset, S *pointer)         \
    {                                                                       \
        *(T *)(((uintptr_t)pointer + (uintptr_t)offset) & ~(uintptr_t)15) = value; \
    }
__VEC_LOADS(unsigned char, vec_uchar16)
__VEC_LOADS(signed char, vec_char16)
__VEC_LOADS(unsigned short, vec_ushort8)
__VEC_LOADS(short, vec_short8)
__VEC_LOADS(unsigned int, vec_uint4)
__VEC_LOADS(int, vec_int4)
__VEC_LOADS(float, vec_float4)
__VEC_LOADS(vec_uchar16, vec_uchar16)
__VEC_LOADS(vec_char16, vec_char16)
__VEC_LOADS(vec_ushort8, vec_ushort8)
__VEC_LOADS(vec_short8, vec_short8)
__VEC_LOADS(vec_uint4, vec_uint4)
__VEC_LOADS(vec_int4, vec_int4)
__VEC_LOADS(vec_float4, vec_float4)
#undef __VEC_LOADS
#endif

#endif
