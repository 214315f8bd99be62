/* Mathematical functions of vectors, on both processors: NAMEf4 of four floats and NAMEd2 of two doubles. Most compute
 * each element by the C library, and are more exact than the Cell's. A name with a leading underscore is the same. */
#ifndef SIMDMATH_H
#define SIMDMATH_H

#ifdef __cplusplus
extern "C++" {
#endif

#include <math.h>
#include "vec_types.h"

#define __SIMD_INLINE static inline __attribute__((unused))

/* One argument. */
#define __SIMD1(name)                                                           \
    __SIMD_INLINE vec_float4 name##f4(vec_float4 x)                             \
    {                                                                           \
        return (vec_float4){name##f(x[0]), name##f(x[1]), name##f(x[2]), name##f(x[3])}; \
    }                                                                           \
    __SIMD_INLINE vec_double2 name##d2(vec_double2 x)                           \
    {                                                                           \
        return (vec_double2){name(x[0]), name(x[1])};                           \
    }
__SIMD1(acos)
__SIMD1(acosh)
__SIMD1(asin)
__SIMD1(asinh)
__SIMD1(atan)
__SIMD1(atanh)
__SIMD1(cbrt)
__SIMD1(cos)
__SIMD1(cosh)
__SIMD1(erf)
__SIMD1(erfc)
__SIMD1(exp)
__SIMD1(exp2)
__SIMD1(expm1)
__SIMD1(lgamma)
__SIMD1(log)
__SIMD1(log10)
__SIMD1(log1p)
__SIMD1(log2)
__SIMD1(logb)
__SIMD1(round)
__SIMD1(sin)
__SIMD1(sinh)
__SIMD1(tan)
__SIMD1(tanh)
__SIMD1(tgamma)
#undef __SIMD1

/* Two arguments. */
#define __SIMD2(name)                                                                   \
    __SIMD_INLINE vec_float4 name##f4(vec_float4 x, vec_float4 y)                       \
    {                                                                                   \
        return (vec_float4){name##f(x[0], y[0]), name##f(x[1], y[1]), name##f(x[2], y[2]), name##f(x[3], y[3])}; \
    }                                                                                   \
    __SIMD_INLINE vec_double2 name##d2(vec_double2 x, vec_double2 y)                    \
    {                                                                                   \
        return (vec_double2){name(x[0], y[0]), name(x[1], y[1])};                       \
    }
__SIMD2(atan2)
__SIMD2(fdim)
__SIMD2(fmax)
__SIMD2(fmin)
__SIMD2(fmod)
__SIMD2(hypot)
__SIMD2(nextafter)
__SIMD2(pow)
__SIMD2(remainder)
#undef __SIMD2

/* Computed by the processor for a whole vector. */
#define __SIMD_WHOLE(name, floats, doubles)                 \
    __SIMD_INLINE vec_float4 name##f4(vec_float4 x)         \
    {                                                       \
        return (vec_float4)(floats);                        \
    }                                                       \
    __SIMD_INLINE vec_double2 name##d2(vec_double2 x)       \
    {                                                       \
        return (vec_double2)(doubles);                      \
    }
typedef float __simd_floats __attribute__((vector_size(16)));
typedef double __simd_doubles __attribute__((vector_size(16)));
#define __SIMD_ROUNDED(how) __builtin_ia32_roundps((__simd_floats)x, how), __builtin_ia32_roundpd((__simd_doubles)x, how)
#define __SIMD_CALL(macro, ...) macro(__VA_ARGS__)
__SIMD_WHOLE(sqrt, __builtin_ia32_sqrtps((__simd_floats)x), __builtin_ia32_sqrtpd((__simd_doubles)x))
__SIMD_WHOLE(rsqrt, 1.0f / __builtin_ia32_sqrtps((__simd_floats)x), 1.0 / __builtin_ia32_sqrtpd((__simd_doubles)x))
__SIMD_WHOLE(recip, 1.0f / x, 1.0 / x)
__SIMD_WHOLE(negate, -x, -x)
__SIMD_WHOLE(fabs, (vec_uint4)x & 0x7fffffff, (vec_ullong2)x & 0x7fffffffffffffffull)
/* How the processor rounds: 0 to the nearest, 1 down, 2 up, 3 towards zero, 4 as it is set. */
__SIMD_CALL(__SIMD_WHOLE, floor, __SIMD_ROUNDED(1 | 8))
__SIMD_CALL(__SIMD_WHOLE, ceil, __SIMD_ROUNDED(2 | 8))
__SIMD_CALL(__SIMD_WHOLE, trunc, __SIMD_ROUNDED(3 | 8))
__SIMD_CALL(__SIMD_WHOLE, rint, __SIMD_ROUNDED(4))
__SIMD_CALL(__SIMD_WHOLE, nearbyint, __SIMD_ROUNDED(4 | 8))
#undef __SIMD_WHOLE

__SIMD_INLINE vec_float4 divf4(vec_float4 x, vec_float4 y)
{
    return x / y;
}
__SIMD_INLINE vec_double2 divd2(vec_double2 x, vec_double2 y)
{
    return x / y;
}
__SIMD_INLINE vec_float4 copysignf4(vec_float4 x, vec_float4 y)
{
    return (vec_float4)(((vec_uint4)x & 0x7fffffff) | ((vec_uint4)y & 0x80000000));
}
__SIMD_INLINE vec_double2 copysignd2(vec_double2 x, vec_double2 y)
{
    return (vec_double2)(((vec_ullong2)x & 0x7fffffffffffffffull) | ((vec_ullong2)y & 0x8000000000000000ull));
}
__SIMD_INLINE vec_float4 fmaf4(vec_float4 x, vec_float4 y, vec_float4 z)
{
    return (vec_float4){fmaf(x[0], y[0], z[0]), fmaf(x[1], y[1], z[1]), fmaf(x[2], y[2], z[2]), fmaf(x[3], y[3], z[3])};
}
__SIMD_INLINE vec_double2 fmad2(vec_double2 x, vec_double2 y, vec_double2 z)
{
    return (vec_double2){fma(x[0], y[0], z[0]), fma(x[1], y[1], z[1])};
}

/* Two results. */
__SIMD_INLINE void sincosf4(vec_float4 x, vec_float4 *sine, vec_float4 *cosine)
{
    *sine = sinf4(x);
    *cosine = cosf4(x);
}
__SIMD_INLINE void sincosd2(vec_double2 x, vec_double2 *sine, vec_double2 *cosine)
{
    *sine = sind2(x);
    *cosine = cosd2(x);
}
__SIMD_INLINE vec_float4 modff4(vec_float4 x, vec_float4 *whole)
{
    *whole = truncf4(x);
    return copysignf4(x - *whole, x);
}
__SIMD_INLINE vec_double2 modfd2(vec_double2 x, vec_double2 *whole)
{
    *whole = truncd2(x);
    return copysignd2(x - *whole, x);
}
__SIMD_INLINE vec_float4 frexpf4(vec_float4 x, vec_int4 *exponent)
{
    vec_float4 fraction;
    for (int i = 0; i < 4; i++) {
        int power;
        fraction[i] = frexpf(x[i], &power);
        (*exponent)[i] = power;
    }
    return fraction;
}
__SIMD_INLINE vec_double2 frexpd2(vec_double2 x, vec_llong2 *exponent)
{
    vec_double2 fraction;
    for (int i = 0; i < 2; i++) {
        int power;
        fraction[i] = frexp(x[i], &power);
        (*exponent)[i] = power;
    }
    return fraction;
}
__SIMD_INLINE vec_float4 remquof4(vec_float4 x, vec_float4 y, vec_int4 *quotient)
{
    vec_float4 rest;
    for (int i = 0; i < 4; i++) {
        int low;
        rest[i] = remquof(x[i], y[i], &low);
        (*quotient)[i] = low;
    }
    return rest;
}
__SIMD_INLINE vec_double2 remquod2(vec_double2 x, vec_double2 y, vec_llong2 *quotient)
{
    vec_double2 rest;
    for (int i = 0; i < 2; i++) {
        int low;
        rest[i] = remquo(x[i], y[i], &low);
        (*quotient)[i] = low;
    }
    return rest;
}

/* Powers of two, and whole numbers. */
__SIMD_INLINE int __simd_power(long long power)
{
    return power > 100000 ? 100000 : power < -100000 ? -100000 : (int)power;
}
__SIMD_INLINE vec_float4 ldexpf4(vec_float4 x, vec_int4 power)
{
    return (vec_float4){ldexpf(x[0], power[0]), ldexpf(x[1], power[1]), ldexpf(x[2], power[2]), ldexpf(x[3], power[3])};
}
__SIMD_INLINE vec_double2 ldexpd2(vec_double2 x, vec_llong2 power)
{
    return (vec_double2){ldexp(x[0], __simd_power(power[0])), ldexp(x[1], __simd_power(power[1]))};
}
#define scalbnf4(x, power) ldexpf4(x, power)
#define scalbllnd2(x, power) ldexpd2(x, power)
__SIMD_INLINE vec_int4 ilogbf4(vec_float4 x)
{
    return (vec_int4){ilogbf(x[0]), ilogbf(x[1]), ilogbf(x[2]), ilogbf(x[3])};
}
__SIMD_INLINE vec_llong2 ilogbd2(vec_double2 x)
{
    return (vec_llong2){ilogb(x[0]), ilogb(x[1])};
}
__SIMD_INLINE vec_int4 irintf4(vec_float4 x)
{
    return (vec_int4){(int)lrintf(x[0]), (int)lrintf(x[1]), (int)lrintf(x[2]), (int)lrintf(x[3])};
}
__SIMD_INLINE vec_int4 iroundf4(vec_float4 x)
{
    return (vec_int4){(int)lroundf(x[0]), (int)lroundf(x[1]), (int)lroundf(x[2]), (int)lroundf(x[3])};
}
__SIMD_INLINE vec_llong2 llrintd2(vec_double2 x)
{
    return (vec_llong2){llrint(x[0]), llrint(x[1])};
}
__SIMD_INLINE vec_llong2 llroundd2(vec_double2 x)
{
    return (vec_llong2){llround(x[0]), llround(x[1])};
}

/* Kinds and comparisons: all ones where true. */
#define __SIMD_ORDER(name, relation)                                 \
    __SIMD_INLINE vec_uint4 name##f4(vec_float4 x, vec_float4 y)     \
    {                                                                \
        return (vec_uint4)(x relation y);                            \
    }                                                                \
    __SIMD_INLINE vec_ullong2 name##d2(vec_double2 x, vec_double2 y) \
    {                                                                \
        return (vec_ullong2)(x relation y);                          \
    }
__SIMD_ORDER(isequal, ==)
__SIMD_ORDER(isgreater, >)
__SIMD_ORDER(isgreaterequal, >=)
__SIMD_ORDER(isless, <)
__SIMD_ORDER(islessequal, <=)
#undef __SIMD_ORDER
#define __SIMD_KIND(name, floats, doubles)             \
    __SIMD_INLINE vec_uint4 name##f4(vec_float4 x)     \
    {                                                  \
        return (vec_uint4)(floats);                    \
    }                                                  \
    __SIMD_INLINE vec_ullong2 name##d2(vec_double2 x)  \
    {                                                  \
        return (vec_ullong2)(doubles);                 \
    }
__SIMD_KIND(isnan, x != x, x != x)
__SIMD_KIND(isinf, fabsf4(x) > __FLT_MAX__, fabsd2(x) > __DBL_MAX__)
__SIMD_KIND(isfinite, fabsf4(x) <= __FLT_MAX__, fabsd2(x) <= __DBL_MAX__)
__SIMD_KIND(is0denorm, fabsf4(x) < __FLT_MIN__, fabsd2(x) < __DBL_MIN__)
__SIMD_KIND(isnormal, isfinitef4(x) & ~is0denormf4(x), isfinited2(x) & ~is0denormd2(x))
__SIMD_KIND(signbit, (vec_int4)x < 0, (vec_llong2)x < 0)
#undef __SIMD_KIND
__SIMD_INLINE vec_uint4 isunorderedf4(vec_float4 x, vec_float4 y)
{
    return isnanf4(x) | isnanf4(y);
}
__SIMD_INLINE vec_ullong2 isunorderedd2(vec_double2 x, vec_double2 y)
{
    return isnand2(x) | isnand2(y);
}
__SIMD_INLINE vec_int4 fpclassifyf4(vec_float4 x)
{
    return (vec_int4){fpclassify(x[0]), fpclassify(x[1]), fpclassify(x[2]), fpclassify(x[3])};
}
__SIMD_INLINE vec_llong2 fpclassifyd2(vec_double2 x)
{
    return (vec_llong2){fpclassify(x[0]), fpclassify(x[1])};
}

/* Integers. */
typedef struct divi4_s {
    vec_int4 quot, rem;
} divi4_t;
typedef struct divu4_s {
    vec_uint4 quot, rem;
} divu4_t;
__SIMD_INLINE vec_int4 absi4(vec_int4 x)
{
    vec_int4 negative = (vec_int4)(x < 0);
    return (x ^ negative) - negative;
}
__SIMD_INLINE vec_int4 negatei4(vec_int4 x)
{
    return -x;
}
/* As the Cell's: a quotient by zero is zero. */
__SIMD_INLINE divi4_t divi4(vec_int4 x, vec_int4 y)
{
    divi4_t result = {{0, 0, 0, 0}, x};
    for (int i = 0; i < 4; i++)
        if (y[i] != 0) {
            result.quot[i] = (int)((long long)x[i] / y[i]);
            result.rem[i] = (int)((long long)x[i] % y[i]);
        }
    return result;
}
__SIMD_INLINE divu4_t divu4(vec_uint4 x, vec_uint4 y)
{
    divu4_t result = {{0, 0, 0, 0}, x};
    for (int i = 0; i < 4; i++)
        if (y[i] != 0) {
            result.quot[i] = x[i] / y[i];
            result.rem[i] = x[i] % y[i];
        }
    return result;
}

#include "simdmath_inline.h"

#ifdef __cplusplus
}
#endif

#endif
