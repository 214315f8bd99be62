/* Part of spu_intrinsics.h: arithmetic, conversions and comparisons. */
#ifndef SEATMAP_VECTOR_NUMBERS_H
#define SEATMAP_VECTOR_NUMBERS_H

/* Sums and differences; either argument of a difference may be a scalar. */
#define __of_spu_add(a, b) ((a) + __SPU_ARG(__SPU_T(a), b))
__SPU_GENERIC2(spu_add, __SPU_AS_A)
#define spu_add(a, b) __SPU_APPLY2(spu_add, a, b)
#define __of_spu_sub(a, b) (__SPU_ARG(__SPU_EITHER(a, b), a) - __SPU_ARG(__SPU_EITHER(a, b), b))
__SPU_GENERIC2(spu_sub, __SPU_AS_VECTOR)
#define spu_sub(a, b) __SPU_APPLY2(spu_sub, a, b)
#define __of_spu_addx(a, b, carry) ((a) + (b) + (__SPU_T(a))((carry) & 1))
__SPU_GENERIC3(spu_addx, __SPU_AS_A)
#define spu_addx(a, b, carry) __SPU_APPLY3(spu_addx, a, b, carry)
#define __of_spu_subx(a, b, borrow) ((a) + ~(b) + (__SPU_T(a))((borrow) & 1))
__SPU_GENERIC3(spu_subx, __SPU_AS_A)
#define spu_subx(a, b, borrow) __SPU_APPLY3(spu_subx, a, b, borrow)
__SPU_INLINE vec_uint4 __spu_genc(vec_uint4 a, vec_uint4 b)
{
    return (vec_uint4)(a + b < a) & 1;
}
__SPU_INLINE vec_uint4 __spu_gencx(vec_uint4 a, vec_uint4 b, vec_uint4 carry)
{
    vec_uint4 sum = a + b;
    return ((vec_uint4)(sum < a) | (vec_uint4)(sum + (carry & 1) < sum)) & 1;
}
__SPU_INLINE vec_uint4 __spu_genb(vec_uint4 a, vec_uint4 b)
{
    return (vec_uint4)(a >= b) & 1;
}
__SPU_INLINE vec_uint4 __spu_genbx(vec_uint4 a, vec_uint4 b, vec_uint4 borrow)
{
    return ((vec_uint4)(a > b) | ((vec_uint4)(a == b) & borrow)) & 1;
}
#define __of_spu_genc(a, b) ((__SPU_T(a))__spu_genc((vec_uint4)(a), (vec_uint4)(b)))
__SPU_GENERIC2(spu_genc, __SPU_AS_A)
#define spu_genc(a, b) __SPU_APPLY2(spu_genc, a, b)
#define __of_spu_gencx(a, b, carry) ((__SPU_T(a))__spu_gencx((vec_uint4)(a), (vec_uint4)(b), (vec_uint4)(carry)))
__SPU_GENERIC3(spu_gencx, __SPU_AS_A)
#define spu_gencx(a, b, carry) __SPU_APPLY3(spu_gencx, a, b, carry)
#define __of_spu_genb(a, b) ((__SPU_T(a))__spu_genb((vec_uint4)(a), (vec_uint4)(b)))
__SPU_GENERIC2(spu_genb, __SPU_AS_A)
#define spu_genb(a, b) __SPU_APPLY2(spu_genb, a, b)
#define __of_spu_genbx(a, b, borrow) ((__SPU_T(a))__spu_genbx((vec_uint4)(a), (vec_uint4)(b), (vec_uint4)(borrow)))
__SPU_GENERIC3(spu_genbx, __SPU_AS_A)
#define spu_genbx(a, b, borrow) __SPU_APPLY3(spu_genbx, a, b, borrow)

/* Products. The odd halfword of a word is its upper half in memory. */
#define __of_spu_mul(a, b) ((a) * (b))
__SPU_GENERIC2(spu_mul, __SPU_AS_A)
#define spu_mul(a, b) __SPU_APPLY2(spu_mul, a, b)
__SPU_INLINE vec_int4 __spu_pairs(vec_int4 a, vec_short8 b)
{
    return (vec_int4)__builtin_ia32_pmaddwd128((__spu_x86_halves)a, (__spu_x86_halves)b);
}
__SPU_INLINE vec_int4 __SPU_NAME(__spu_mulo, s)(vec_short8 a, vec_short8 b)
{
    return __spu_pairs((vec_int4)a & (int)0xffff0000, b);
}
__SPU_INLINE vec_uint4 __SPU_NAME(__spu_mulo, u)(vec_ushort8 a, vec_ushort8 b)
{
    return ((vec_uint4)a >> 16) * ((vec_uint4)b >> 16);
}
__SPU_INLINE vec_int4 __SPU_NAME(__spu_mule, s)(vec_short8 a, vec_short8 b)
{
    return __spu_pairs((vec_int4)a & 0xffff, b);
}
__SPU_INLINE vec_uint4 __SPU_NAME(__spu_mule, u)(vec_ushort8 a, vec_ushort8 b)
{
    return ((vec_uint4)a & 0xffff) * ((vec_uint4)b & 0xffff);
}
#define __of_spu_mulo(a, b) (__SPU_PICK(__spu_mulo, a, unsigned short, u, s)((a), __SPU_ARG(__SPU_T(a), b)))
__SPU_GENERIC2(spu_mulo, __SPU_WIDE)
#define spu_mulo(a, b) __SPU_APPLY2(spu_mulo, a, b)
#define __of_spu_mule(a, b) (__SPU_PICK(__spu_mule, a, unsigned short, u, s)((a), (b)))
__SPU_GENERIC2(spu_mule, __SPU_WIDE)
#define spu_mule(a, b) __SPU_APPLY2(spu_mule, a, b)
#define spu_mulhh(a, b) spu_mule(a, b)
#define __of_spu_mhhadd(a, b, c) (__of_spu_mule(a, b) + (c))
__SPU_GENERIC3(spu_mhhadd, __SPU_AS_C)
#define spu_mhhadd(a, b, c) __SPU_APPLY3(spu_mhhadd, a, b, c)
__SPU_INLINE vec_int4 spu_mulh(vec_short8 a, vec_short8 b)
{
    return (((vec_int4)a & 0xffff) * ((vec_int4)b >> 16)) << 16;
}
__SPU_INLINE vec_int4 spu_mulsr(vec_short8 a, vec_short8 b)
{
    return __SPU_NAME(__spu_mulo, s)(a, b) >> 16;
}
/* a * b + c, rounded once where the processor can, as on the SPU. */
__SPU_INLINE vec_int4 __SPU_NAME(__spu_madd, s)(vec_short8 a, vec_short8 b, vec_int4 c)
{
    return __SPU_NAME(__spu_mulo, s)(a, b) + c;
}
#ifdef __FMA__
typedef float __spu_x86_floats __attribute__((vector_size(16)));
typedef double __spu_x86_doubles __attribute__((vector_size(16)));
#define __SPU_FUSED(V, X, instruction) \
    return (V)instruction((X)a, (X)b, (X)c)
#else
#define __SPU_FUSED(V, X, instruction) return a *b + c
#endif
__SPU_INLINE vec_float4 __SPU_NAME(__spu_madd, f)(vec_float4 a, vec_float4 b, vec_float4 c)
{
    __SPU_FUSED(vec_float4, __spu_x86_floats, __builtin_ia32_vfmaddps);
}
__SPU_INLINE vec_double2 __SPU_NAME(__spu_madd, d)(vec_double2 a, vec_double2 b, vec_double2 c)
{
    __SPU_FUSED(vec_double2, __spu_x86_doubles, __builtin_ia32_vfmaddpd);
}
#undef __SPU_FUSED
#ifdef __cplusplus
#define __SPU_MADD(a) __spu_madd
#else
#define __SPU_MADD(a) _Generic((a)[0], float : __spu_madd_f, double : __spu_madd_d, default : __spu_madd_s)
#endif
#define __of_spu_madd(a, b, c) (__SPU_MADD(a)((a), (b), (c)))
__SPU_GENERIC3(spu_madd, __SPU_AS_C)
#define spu_madd(a, b, c) __SPU_APPLY3(spu_madd, a, b, c)
#define __of_spu_msub(a, b, c) (__SPU_MADD(a)((a), (b), -(c)))
__SPU_GENERIC3(spu_msub, __SPU_AS_C)
#define spu_msub(a, b, c) __SPU_APPLY3(spu_msub, a, b, c)
#define __of_spu_nmsub(a, b, c) (__SPU_MADD(a)(-(a), (b), (c)))
__SPU_GENERIC3(spu_nmsub, __SPU_AS_C)
#define spu_nmsub(a, b, c) __SPU_APPLY3(spu_nmsub, a, b, c)
#define __of_spu_nmadd(a, b, c) (__SPU_MADD(a)(-(a), (b), -(c)))
__SPU_GENERIC3(spu_nmadd, __SPU_AS_C)
#define spu_nmadd(a, b, c) __SPU_APPLY3(spu_nmadd, a, b, c)

/* Bytes. */
__SPU_INLINE vec_uchar16 spu_avg(vec_uchar16 a, vec_uchar16 b)
{
    return (vec_uchar16)__builtin_ia32_pavgb128((__spu_x86_bytes)a, (__spu_x86_bytes)b);
}
__SPU_INLINE vec_uchar16 spu_absd(vec_uchar16 a, vec_uchar16 b)
{
    vec_uchar16 greater = (vec_uchar16)(a > b);
    return (greater & (a - b)) | (~greater & (b - a));
}
__SPU_INLINE vec_uint4 __spu_sum(vec_uchar16 a)
{
    vec_char16 ones = (vec_char16){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    vec_short8 pairs = (vec_short8)__builtin_ia32_pmaddubsw128((__spu_x86_bytes)a, (__spu_x86_bytes)ones);
    return (vec_uint4)__spu_pairs((vec_int4)pairs, (vec_short8){1, 1, 1, 1, 1, 1, 1, 1});
}
__SPU_INLINE vec_ushort8 spu_sumb(vec_uchar16 a, vec_uchar16 b)
{
    return (vec_ushort8)(__spu_sum(a) << 16 | __spu_sum(b));
}

/* Conversions. A scale is a power of two. */
__SPU_INLINE vec_float4 __SPU_NAME(__spu_convtf, s)(vec_int4 a, int scale)
{
    return __builtin_convertvector(a, vec_float4) * __builtin_ldexpf(1, -scale);
}
__SPU_INLINE vec_float4 __SPU_NAME(__spu_convtf, u)(vec_uint4 a, int scale)
{
    return __builtin_convertvector(a, vec_float4) * __builtin_ldexpf(1, -scale);
}
#define __of_spu_convtf(a, scale) (__SPU_PICK(__spu_convtf, a, unsigned int, u, s)((a), (scale)))
__SPU_GENERIC2(spu_convtf, vec_float4)
#define spu_convtf(a, scale) __SPU_APPLY2(spu_convtf, a, scale)
/* Towards zero. The processor makes 0x80000000 of numbers that are too large, and the compiler something else. */
__SPU_INLINE vec_int4 __spu_truncate(vec_float4 a)
{
    typedef float floats __attribute__((vector_size(16)));
    return (vec_int4)__builtin_ia32_cvttps2dq((floats)a);
}
__SPU_INLINE vec_int4 spu_convts(vec_float4 a, int scale)
{
    vec_float4 scaled = a * __builtin_ldexpf(1, scale);
    vec_int4 over = (vec_int4)(scaled >= 2147483648.0f);
    return (__spu_truncate(scaled) & ~over) | (over & 0x7fffffff);
}
__SPU_INLINE vec_uint4 spu_convtu(vec_float4 a, int scale)
{
    vec_float4 scaled = a * __builtin_ldexpf(1, scale);
    vec_uint4 positive = (vec_uint4)(scaled > 0.0f);
    scaled = (vec_float4)((vec_uint4)scaled & positive);
    vec_int4 upper = (vec_int4)(scaled >= 2147483648.0f);
    vec_float4 half = (vec_float4)(upper & (vec_int4)(vec_float4){2147483648.0f, 2147483648.0f, 2147483648.0f, 2147483648.0f});
    vec_uint4 converted = (vec_uint4)(__spu_truncate(scaled - half) ^ (upper & (int)0x80000000));
    return converted | (vec_uint4)(scaled >= 4294967296.0f);
}
__SPU_INLINE vec_float4 spu_roundtf(vec_double2 a)
{
    return (vec_float4){(float)a[0], 0, (float)a[1], 0};
}
__SPU_INLINE vec_double2 __SPU_NAME(__spu_extend, f)(vec_float4 a)
{
    return (vec_double2){a[0], a[2]};
}
__SPU_INLINE vec_short8 __SPU_NAME(__spu_extend, c)(vec_char16 a)
{
    return (vec_short8)a >> 8;
}
__SPU_INLINE vec_int4 __SPU_NAME(__spu_extend, h)(vec_short8 a)
{
    return (vec_int4)a >> 16;
}
__SPU_INLINE vec_llong2 __SPU_NAME(__spu_extend, w)(vec_int4 a)
{
    return (vec_llong2){a[1], a[3]};
}
#ifdef __cplusplus
#define spu_extend(a) __spu_extend(a)
#else
#define __of_spu_extend(a)                                                                                      \
    (_Generic((a)[0], float : __spu_extend_f, signed char : __spu_extend_c, short : __spu_extend_h,           \
              int : __spu_extend_w)(a))
#define spu_extend(a) __SPU_APPLY1(spu_extend, a)
#endif
/* Exact, where the SPU estimates. The SPU has no infinity: the reciprocal of zero is the largest number. */
__SPU_INLINE vec_float4 __spu_finite(vec_float4 a)
{
    typedef float floats __attribute__((vector_size(16)));
    floats most = {__FLT_MAX__, __FLT_MAX__, __FLT_MAX__, __FLT_MAX__};
    return (vec_float4)__builtin_ia32_maxps(__builtin_ia32_minps((floats)a, most), -most);
}
__SPU_INLINE vec_float4 spu_re(vec_float4 a)
{
    return __spu_finite(1.0f / a);
}
__SPU_INLINE vec_float4 __spu_sqrt(vec_float4 a)
{
    typedef float floats __attribute__((vector_size(16)));
    return (vec_float4)__builtin_ia32_sqrtps((floats)a);
}
__SPU_INLINE vec_float4 spu_rsqrte(vec_float4 a)
{
    return __spu_finite(1.0f / __spu_sqrt((vec_float4)((vec_uint4)a & 0x7fffffff)));
}

/* Comparisons: all ones where true. */
#define __of_spu_cmpeq(a, b) ((__SPU_U(a))((a) == __SPU_ARG(__SPU_T(a), b)))
__SPU_GENERIC2(spu_cmpeq, __SPU_UNSIGNED)
#define spu_cmpeq(a, b) __SPU_APPLY2(spu_cmpeq, a, b)
#define __of_spu_cmpgt(a, b) ((__SPU_U(a))((a) > __SPU_ARG(__SPU_T(a), b)))
__SPU_GENERIC2(spu_cmpgt, __SPU_UNSIGNED)
#define spu_cmpgt(a, b) __SPU_APPLY2(spu_cmpgt, a, b)
#define __SPU_ABS(a) ((__SPU_T(a))((__SPU_U(a))(a) & (__SPU_ARG(__SPU_U(a), -1) >> 1)))
#define __of_spu_cmpabseq(a, b) ((__SPU_U(a))(__SPU_ABS(a) == __SPU_ABS(b)))
__SPU_GENERIC2(spu_cmpabseq, __SPU_UNSIGNED)
#define spu_cmpabseq(a, b) __SPU_APPLY2(spu_cmpabseq, a, b)
#define __of_spu_cmpabsgt(a, b) ((__SPU_U(a))(__SPU_ABS(a) > __SPU_ABS(b)))
__SPU_GENERIC2(spu_cmpabsgt, __SPU_UNSIGNED)
#define spu_cmpabsgt(a, b) __SPU_APPLY2(spu_cmpabsgt, a, b)
#define spu_hcmpeq(a, b) ((a) == (b) ? spu_halt() : (void)0)
#define spu_hcmpgt(a, b) ((a) > (b) ? spu_halt() : (void)0)
/* The kinds of numbers that spu_testsv looks for. */
#define SPU_SV_NEG_DENORM 0x01
#define SPU_SV_POS_DENORM 0x02
#define SPU_SV_NEG_ZERO 0x04
#define SPU_SV_POS_ZERO 0x08
#define SPU_SV_NEG_INFINITY 0x10
#define SPU_SV_POS_INFINITY 0x20
#define SPU_SV_NAN 0x40
__SPU_INLINE vec_ullong2 spu_testsv(vec_double2 a, unsigned int kinds)
{
    vec_ullong2 found = {0, 0};
    for (int i = 0; i < 2; i++) {
        unsigned long long bits = ((vec_ullong2)a)[i], magnitude = bits << 1;
        unsigned int kind = magnitude == 0                                  ? SPU_SV_POS_ZERO
                            : magnitude < 0x0020000000000000ull             ? SPU_SV_POS_DENORM
                            : magnitude == 0xffe0000000000000ull            ? SPU_SV_POS_INFINITY
                            : magnitude > 0xffe0000000000000ull             ? SPU_SV_NAN
                                                                            : 0;
        /* A negative kind is the bit below. */
        if (bits >> 63 && kind != SPU_SV_NAN)
            kind >>= 1;
        found[i] = kind & kinds ? ~0ull : 0;
    }
    return found;
}

#endif
