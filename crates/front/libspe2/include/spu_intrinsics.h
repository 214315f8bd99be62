/* The SPU's vector intrinsics in element order: element 0 has the lowest address, as on the SPU, and the bytes that
 * shuffles and quadword shifts count begin at the most significant byte of element 0.
 *
 * C only. A vector that is cast to one of another element size keeps this computer's byte order within elements. */
#ifndef SPU_INTRINSICS_H
#define SPU_INTRINSICS_H

#include "seatmap_spu.h"
#include "vec_types.h"

#ifndef __cplusplus

typedef vec_uchar16 qword;

#define __SPU_INLINE static inline __attribute__((always_inline, unused))

/* An argument that is a vector, or a scalar for all elements of type T. */
#define __SPU_ARG(T, b)                                  \
    ((T)__builtin_choose_expr(sizeof(b) == 16, (b),      \
                              (T){0} + (__typeof__(((T){0})[0]))__builtin_choose_expr(sizeof(b) == 16, 0, (b))))
/* Types with elements of the same size. */
#define __SPU_SIZE(a, c, h, w, d)                                                                  \
    __typeof__(__builtin_choose_expr(                                                              \
        sizeof((a)[0]) == 1, (c){0},                                                               \
        __builtin_choose_expr(sizeof((a)[0]) == 2, (h){0},                                         \
                              __builtin_choose_expr(sizeof((a)[0]) == 4, (w){0}, (d){0}))))
#define __SPU_U(a) __SPU_SIZE(a, vec_uchar16, vec_ushort8, vec_uint4, vec_ullong2)
#define __SPU_S(a) __SPU_SIZE(a, vec_char16, vec_short8, vec_int4, vec_llong2)
#define __SPU_T(a) __typeof__((a) + (__typeof__(a)){0})

/* The 16 bytes as the SPU numbers them, and back. */
__SPU_INLINE vec_uchar16 __spu_order(vec_uchar16 v, unsigned int size)
{
    if (size == 2)
        return __builtin_shuffle(v, (vec_uchar16){1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14});
    if (size == 4)
        return __builtin_shuffle(v, (vec_uchar16){3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12});
    if (size == 8)
        return __builtin_shuffle(v, (vec_uchar16){7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8});
    return v;
}
#define __SPU_BYTES(a) __spu_order((vec_uchar16)(a), sizeof((a)[0]))
#define __SPU_BACK(a, bytes) ((__SPU_T(a))__spu_order((bytes), sizeof((a)[0])))

/* Scalars and elements. */
#define spu_splats(s)                                                                                  \
    _Generic((s), unsigned char: __spu_splats_uc, signed char: __spu_splats_sc, char: __spu_splats_sc, \
             unsigned short: __spu_splats_us, short: __spu_splats_ss, unsigned int: __spu_splats_ui,   \
             int: __spu_splats_si, unsigned long: __spu_splats_ul, long: __spu_splats_sl,              \
             unsigned long long: __spu_splats_ul, long long: __spu_splats_sl, float: __spu_splats_f,   \
             double: __spu_splats_d)(s)
#define __SPU_SPLATS(name, T, S)   \
    __SPU_INLINE T name(S s)       \
    {                              \
        T v;                       \
        for (unsigned i = 0; i < sizeof v / sizeof s; i++) \
            v[i] = s;              \
        return v;                  \
    }
__SPU_SPLATS(__spu_splats_uc, vec_uchar16, unsigned char)
__SPU_SPLATS(__spu_splats_sc, vec_char16, signed char)
__SPU_SPLATS(__spu_splats_us, vec_ushort8, unsigned short)
__SPU_SPLATS(__spu_splats_ss, vec_short8, short)
__SPU_SPLATS(__spu_splats_ui, vec_uint4, unsigned int)
__SPU_SPLATS(__spu_splats_si, vec_int4, int)
__SPU_SPLATS(__spu_splats_ul, vec_ullong2, unsigned long long)
__SPU_SPLATS(__spu_splats_sl, vec_llong2, long long)
__SPU_SPLATS(__spu_splats_f, vec_float4, float)
__SPU_SPLATS(__spu_splats_d, vec_double2, double)
#define __SPU_LAST(v) (sizeof(v) / sizeof((v)[0]) - 1)
#define spu_extract(v, element) ((v)[(element) & __SPU_LAST(v)])
#define spu_insert(s, v, element)                               \
    ({                                                          \
        __SPU_T(v) __spu_inserted = (v);                        \
        __spu_inserted[(element) & __SPU_LAST(v)] = (s);        \
        __spu_inserted;                                         \
    })
#define spu_promote(s, element)                                             \
    ({                                                                      \
        __typeof__(spu_splats(s)) __spu_promoted = {0};                     \
        __spu_promoted[(element) & __SPU_LAST(__spu_promoted)] = (s);       \
        __spu_promoted;                                                     \
    })

/* Arithmetic. */
#define spu_add(a, b) ((a) + __SPU_ARG(__SPU_T(a), b))
#define spu_sub(a, b) (__builtin_choose_expr(sizeof(a) == 16, (a), __SPU_ARG(__typeof__(b), a)) - __SPU_ARG(__typeof__(__builtin_choose_expr(sizeof(a) == 16, (a), (b))), b))
#define spu_mul(a, b) ((a) * (b))
__SPU_INLINE vec_int4 __spu_odd(vec_short8 a)
{
    return (vec_int4)a >> 16;
}
__SPU_INLINE vec_int4 __spu_even(vec_short8 a)
{
    return ((vec_int4)a << 16) >> 16;
}
__SPU_INLINE vec_uint4 __spu_odd_u(vec_ushort8 a)
{
    return (vec_uint4)a >> 16;
}
__SPU_INLINE vec_uint4 __spu_even_u(vec_ushort8 a)
{
    return (vec_uint4)a & 0xffff;
}
__SPU_INLINE vec_int4 __spu_mulo_s(vec_short8 a, vec_short8 b)
{
    return __spu_odd(a) * __spu_odd(b);
}
__SPU_INLINE vec_uint4 __spu_mulo_u(vec_ushort8 a, vec_ushort8 b)
{
    return __spu_odd_u(a) * __spu_odd_u(b);
}
__SPU_INLINE vec_int4 __spu_mule_s(vec_short8 a, vec_short8 b)
{
    return __spu_even(a) * __spu_even(b);
}
__SPU_INLINE vec_uint4 __spu_mule_u(vec_ushort8 a, vec_ushort8 b)
{
    return __spu_even_u(a) * __spu_even_u(b);
}
#define spu_mulo(a, b) (_Generic((a)[0], unsigned short: __spu_mulo_u, default: __spu_mulo_s)((a), __SPU_ARG(__SPU_T(a), b)))
#define spu_mule(a, b) (_Generic((a)[0], unsigned short: __spu_mule_u, default: __spu_mule_s)((a), (b)))
__SPU_INLINE vec_int4 spu_mulh(vec_short8 a, vec_short8 b)
{
    return (__spu_even(a) * __spu_odd(b)) << 16;
}
#define spu_mulhh(a, b) spu_mule(a, b)
__SPU_INLINE vec_int4 spu_mulsr(vec_short8 a, vec_short8 b)
{
    return __spu_mulo_s(a, b) >> 16;
}
__SPU_INLINE vec_int4 __spu_madd_s(vec_short8 a, vec_short8 b, vec_int4 c)
{
    return __spu_mulo_s(a, b) + c;
}
/* Contracted to one fused instruction where the processor has it, as on the SPU. */
__SPU_INLINE vec_float4 __spu_madd_f(vec_float4 a, vec_float4 b, vec_float4 c)
{
    return a * b + c;
}
__SPU_INLINE vec_double2 __spu_madd_d(vec_double2 a, vec_double2 b, vec_double2 c)
{
    return a * b + c;
}
#define spu_madd(a, b, c) \
    (_Generic((a)[0], float: __spu_madd_f, double: __spu_madd_d, default: __spu_madd_s)((a), (b), (c)))
#define spu_msub(a, b, c) ((a) * (b) - (c))
#define spu_nmsub(a, b, c) ((c) - (a) * (b))
#define spu_nmadd(a, b, c) (-((a) * (b) + (c)))
#define spu_addx(a, b, carry) ((a) + (b) + (__SPU_T(a))((carry)&1))
#define spu_subx(a, b, borrow) ((a) + ~(b) + (__SPU_T(a))((borrow)&1))
#define spu_genc(a, b) ((__SPU_T(a))((vec_uint4)((vec_uint4)(a) + (vec_uint4)(b) < (vec_uint4)(a)) & 1))
#define spu_genb(a, b) ((__SPU_T(a))((vec_uint4)((vec_uint4)(a) >= (vec_uint4)(b)) & 1))
__SPU_INLINE vec_uchar16 spu_avg(vec_uchar16 a, vec_uchar16 b)
{
    return (vec_uchar16)__builtin_ia32_pavgb128((__attribute__((vector_size(16))) char)a,
                                                (__attribute__((vector_size(16))) char)b);
}
__SPU_INLINE vec_uchar16 spu_absd(vec_uchar16 a, vec_uchar16 b)
{
    return (vec_uchar16)(a > b) & (a - b) | ~(vec_uchar16)(a > b) & (b - a);
}
__SPU_INLINE vec_ushort8 spu_sumb(vec_uchar16 a, vec_uchar16 b)
{
    vec_ushort8 sums = {0};
    for (int i = 0; i < 16; i++) {
        sums[i / 4 * 2 + 1] += a[i];
        sums[i / 4 * 2] += b[i];
    }
    return sums;
}

/* Conversions. */
#define spu_convtf(a, scale)                                                                                    \
    (_Generic((a)[0], unsigned int: __spu_convtf_u, default: __spu_convtf_s)((a), (scale)))
__SPU_INLINE vec_float4 __spu_scale(int power)
{
    float factor = 1;
    for (int i = 0; i < power; i++)
        factor *= 2;
    for (int i = 0; i < -power; i++)
        factor *= 0.5f;
    return (vec_float4){factor, factor, factor, factor};
}
__SPU_INLINE vec_float4 __spu_convtf_s(vec_int4 a, int scale)
{
    return __builtin_convertvector(a, vec_float4) * __spu_scale(-scale);
}
__SPU_INLINE vec_float4 __spu_convtf_u(vec_uint4 a, int scale)
{
    return __builtin_convertvector(a, vec_float4) * __spu_scale(-scale);
}
/* Saturating, towards zero. */
__SPU_INLINE vec_int4 spu_convts(vec_float4 a, int scale)
{
    vec_float4 scaled = a * __spu_scale(scale);
    vec_int4 converted = __builtin_convertvector(scaled, vec_int4);
    vec_int4 over = scaled >= 2147483648.0f;
    return over & 0x7fffffff | ~over & converted;
}
__SPU_INLINE vec_uint4 spu_convtu(vec_float4 a, int scale)
{
    vec_float4 scaled = a * __spu_scale(scale);
    vec_uint4 converted;
    for (int i = 0; i < 4; i++)
        converted[i] = scaled[i] >= 4294967296.0f ? 0xffffffffu : scaled[i] > 0 ? (unsigned int)scaled[i] : 0;
    return converted;
}
__SPU_INLINE vec_float4 spu_roundtf(vec_double2 a)
{
    return (vec_float4){(float)a[0], 0, (float)a[1], 0};
}
#define spu_extend(a)                                                                                   \
    (_Generic((a)[0], float: __spu_extend_f, signed char: __spu_extend_c, short: __spu_extend_h,        \
              int: __spu_extend_w)(a))
__SPU_INLINE vec_double2 __spu_extend_f(vec_float4 a)
{
    return (vec_double2){a[0], a[2]};
}
__SPU_INLINE vec_short8 __spu_extend_c(vec_char16 a)
{
    return (vec_short8)a >> 8;
}
__SPU_INLINE vec_int4 __spu_extend_h(vec_short8 a)
{
    return __spu_odd(a);
}
__SPU_INLINE vec_llong2 __spu_extend_w(vec_int4 a)
{
    return (vec_llong2){a[1], a[3]};
}
/* Exact, where the SPU estimates. */
__SPU_INLINE vec_float4 spu_re(vec_float4 a)
{
    return 1.0f / a;
}
__SPU_INLINE vec_float4 spu_rsqrte(vec_float4 a)
{
    vec_float4 root;
    for (int i = 0; i < 4; i++)
        root[i] = 1.0f / __builtin_sqrtf(__builtin_fabsf(a[i]));
    return root;
}

/* Comparisons: all ones where true. */
#define spu_cmpeq(a, b) ((__SPU_U(a))((a) == __SPU_ARG(__SPU_T(a), b)))
#define spu_cmpgt(a, b) ((__SPU_U(a))((a) > __SPU_ARG(__SPU_T(a), b)))
#define __SPU_ABS(a) ((__SPU_T(a))((__SPU_U(a))(a) & ~((__SPU_U(a)){0} + 1 << (8 * sizeof((a)[0]) - 1))))
#define spu_cmpabseq(a, b) ((__SPU_U(a))(__SPU_ABS(a) == __SPU_ABS(b)))
#define spu_cmpabsgt(a, b) ((__SPU_U(a))(__SPU_ABS(a) > __SPU_ABS(b)))
#define spu_hcmpeq(a, b) ((a) == (b) ? spu_halt() : (void)0)
#define spu_hcmpgt(a, b) ((a) > (b) ? spu_halt() : (void)0)

/* Bits. */
#define spu_and(a, b) ((__SPU_T(a))((__SPU_U(a))(a) & (__SPU_U(a))__SPU_ARG(__SPU_T(a), b)))
#define spu_or(a, b) ((__SPU_T(a))((__SPU_U(a))(a) | (__SPU_U(a))__SPU_ARG(__SPU_T(a), b)))
#define spu_xor(a, b) ((__SPU_T(a))((__SPU_U(a))(a) ^ (__SPU_U(a))__SPU_ARG(__SPU_T(a), b)))
#define spu_andc(a, b) ((__SPU_T(a))((__SPU_U(a))(a) & ~(__SPU_U(a))(b)))
#define spu_orc(a, b) ((__SPU_T(a))((__SPU_U(a))(a) | ~(__SPU_U(a))(b)))
#define spu_nand(a, b) ((__SPU_T(a))~((__SPU_U(a))(a) & (__SPU_U(a))(b)))
#define spu_nor(a, b) ((__SPU_T(a))~((__SPU_U(a))(a) | (__SPU_U(a))(b)))
#define spu_eqv(a, b) ((__SPU_T(a))~((__SPU_U(a))(a) ^ (__SPU_U(a))(b)))
#define spu_sel(a, b, pattern)                                                   \
    ({                                                                           \
        __SPU_U(a) __spu_pattern = (__SPU_U(a))(pattern);                        \
        (__SPU_T(a))((__SPU_U(a))(a) & ~__spu_pattern | (__SPU_U(a))(b) & __spu_pattern); \
    })
__SPU_INLINE vec_uint4 __spu_orx(vec_uint4 a)
{
    return (vec_uint4){a[0] | a[1] | a[2] | a[3], 0, 0, 0};
}
#define spu_orx(a) ((__SPU_T(a))__spu_orx((vec_uint4)(a)))
__SPU_INLINE vec_uint4 __spu_cntlz(vec_uint4 a)
{
    vec_uint4 counts;
    for (int i = 0; i < 4; i++)
        counts[i] = a[i] ? __builtin_clz(a[i]) : 32;
    return counts;
}
#define spu_cntlz(a) __spu_cntlz((vec_uint4)(a))
__SPU_INLINE vec_uchar16 __spu_cntb(vec_uchar16 a)
{
    a = a - (a >> 1 & 0x55);
    a = (a & 0x33) + (a >> 2 & 0x33);
    return (a + (a >> 4)) & 0x0f;
}
#define spu_cntb(a) __spu_cntb((vec_uchar16)(a))
/* The lowest bit of each element, gathered into the low bits of element 0. */
#define spu_gather(a)                                                                             \
    ({                                                                                            \
        __SPU_U(a) __spu_gathered = (__SPU_U(a))(a);                                              \
        unsigned int __spu_bits = 0;                                                              \
        for (unsigned __spu_i = 0; __spu_i <= __SPU_LAST(a); __spu_i++)                           \
            __spu_bits = __spu_bits << 1 | (unsigned int)(__spu_gathered[__spu_i] & 1);           \
        (vec_uint4){__spu_bits, 0, 0, 0};                                                         \
    })
__SPU_INLINE vec_uchar16 spu_maskb(unsigned short bits)
{
    vec_uchar16 mask;
    for (int i = 0; i < 16; i++)
        mask[i] = bits >> (15 - i) & 1 ? 0xff : 0;
    return mask;
}
__SPU_INLINE vec_ushort8 spu_maskh(unsigned char bits)
{
    vec_ushort8 mask;
    for (int i = 0; i < 8; i++)
        mask[i] = bits >> (7 - i) & 1 ? 0xffff : 0;
    return mask;
}
__SPU_INLINE vec_uint4 spu_maskw(unsigned char bits)
{
    vec_uint4 mask;
    for (int i = 0; i < 4; i++)
        mask[i] = bits >> (3 - i) & 1 ? 0xffffffff : 0;
    return mask;
}

/* Shifts and rotations of elements. Counts are masked as the SPU masks them; the masked shifts take negative counts. */
#define __SPU_BITS(a) (8 * sizeof((a)[0]))
#define __SPU_COUNT(a, b, mask) (((__SPU_U(a))__SPU_ARG(__SPU_S(a), b)) & (__typeof__((__SPU_U(a)){0}[0]))(mask))
#define spu_sl(a, b)                                                                                        \
    ({                                                                                                      \
        __SPU_U(a) __spu_count = __SPU_COUNT(a, b, 2 * __SPU_BITS(a) - 1);                                  \
        (__SPU_T(a))((__SPU_U(a))(a) << (__spu_count & (__SPU_BITS(a) - 1)) &                               \
                     (__SPU_U(a))(__spu_count < __SPU_BITS(a)));                                            \
    })
#define spu_rl(a, b)                                                                                        \
    ({                                                                                                      \
        __SPU_U(a) __spu_count = __SPU_COUNT(a, b, __SPU_BITS(a) - 1), __spu_value = (__SPU_U(a))(a);       \
        (__SPU_T(a))(__spu_value << __spu_count | __spu_value >> (-__spu_count & (__SPU_BITS(a) - 1)));     \
    })
#define spu_rlmask(a, b)                                                                                    \
    ({                                                                                                      \
        __SPU_U(a) __spu_count = -(__SPU_U(a))__SPU_ARG(__SPU_S(a), b) & (2 * __SPU_BITS(a) - 1);           \
        (__SPU_T(a))((__SPU_U(a))(a) >> (__spu_count & (__SPU_BITS(a) - 1)) &                               \
                     (__SPU_U(a))(__spu_count < __SPU_BITS(a)));                                            \
    })
#define spu_rlmaska(a, b)                                                                                   \
    ({                                                                                                      \
        __SPU_U(a) __spu_count = -(__SPU_U(a))__SPU_ARG(__SPU_S(a), b) & (2 * __SPU_BITS(a) - 1);           \
        __SPU_U(a) __spu_over = (__SPU_U(a))(__spu_count >= __SPU_BITS(a));                                 \
        __spu_count = __spu_over & (__SPU_BITS(a) - 1) | ~__spu_over & __spu_count;                         \
        (__SPU_T(a))((__SPU_S(a))(a) >> (__SPU_S(a))__spu_count);                                           \
    })

/* Shuffles and shifts of the whole quadword. */
__SPU_INLINE vec_uchar16 __spu_shuffle(vec_uchar16 a, vec_uchar16 b, vec_uchar16 pattern)
{
    vec_uchar16 picked = __builtin_shuffle(a, b, pattern & 31);
    vec_uchar16 zero = (vec_uchar16)((pattern & 0xc0) == 0x80), ones = (vec_uchar16)((pattern & 0xe0) == 0xc0);
    vec_uchar16 high = (vec_uchar16)((pattern & 0xe0) == 0xe0);
    picked = picked & ~(zero | high) | ones;
    return picked | high & 0x80;
}
#define spu_shuffle(a, b, pattern) \
    __SPU_BACK(a, __spu_shuffle(__SPU_BYTES(a), __SPU_BYTES(b), (vec_uchar16)(pattern)))
typedef unsigned __int128 __spu_quad;
__SPU_INLINE __spu_quad __spu_to_quad(vec_uchar16 bytes)
{
    __spu_quad quad = 0;
    vec_ullong2 halves = (vec_ullong2)bytes;
    quad = (__spu_quad)__builtin_bswap64(halves[0]) << 64 | __builtin_bswap64(halves[1]);
    return quad;
}
__SPU_INLINE vec_uchar16 __spu_of_quad(__spu_quad quad)
{
    return (vec_uchar16)(vec_ullong2){__builtin_bswap64((unsigned long long)(quad >> 64)),
                                      __builtin_bswap64((unsigned long long)quad)};
}
__SPU_INLINE vec_uchar16 __spu_shift_left(vec_uchar16 a, unsigned int bits)
{
    return bits > 127 ? (vec_uchar16){0} : __spu_of_quad(__spu_to_quad(a) << bits);
}
__SPU_INLINE vec_uchar16 __spu_shift_right(vec_uchar16 a, unsigned int bits)
{
    return bits > 127 ? (vec_uchar16){0} : __spu_of_quad(__spu_to_quad(a) >> bits);
}
__SPU_INLINE vec_uchar16 __spu_rotate(vec_uchar16 a, unsigned int bits)
{
    __spu_quad quad = __spu_to_quad(a);
    return bits % 128 == 0 ? a : __spu_of_quad(quad << bits % 128 | quad >> (128 - bits % 128));
}
#define spu_slqw(a, count) __SPU_BACK(a, __spu_shift_left(__SPU_BYTES(a), (count)&7))
#define spu_slqwbyte(a, count) __SPU_BACK(a, __spu_shift_left(__SPU_BYTES(a), ((count)&31) * 8))
#define spu_slqwbytebc(a, count) __SPU_BACK(a, __spu_shift_left(__SPU_BYTES(a), ((count) >> 3 & 31) * 8))
#define spu_rlqw(a, count) __SPU_BACK(a, __spu_rotate(__SPU_BYTES(a), (count)&7))
#define spu_rlqwbyte(a, count) __SPU_BACK(a, __spu_rotate(__SPU_BYTES(a), ((count)&15) * 8))
#define spu_rlqwbytebc(a, count) __SPU_BACK(a, __spu_rotate(__SPU_BYTES(a), ((count) >> 3 & 15) * 8))
#define spu_rlmaskqw(a, count) __SPU_BACK(a, __spu_shift_right(__SPU_BYTES(a), -(count)&7))
#define spu_rlmaskqwbyte(a, count) __SPU_BACK(a, __spu_shift_right(__SPU_BYTES(a), (-(count)&31) * 8))
#define spu_rlmaskqwbytebc(a, count) __SPU_BACK(a, __spu_shift_right(__SPU_BYTES(a), (-((count) >> 3) & 31) * 8))

/* Control. */
#define spu_mffpscr() ((vec_uint4){0})
#define spu_mtfpscr(value) ((void)(value))
#define spu_bisled(function) ((void)0)
#define spu_idisable() ((void)0)
#define spu_ienable() ((void)0)

#endif
#endif
