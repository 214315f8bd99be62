/* Part of altivec.h: arithmetic, conversions and comparisons. */
#ifndef SEATMAP_ALTIVEC_NUMBERS_H
#define SEATMAP_ALTIVEC_NUMBERS_H

/* Sums and differences: around the end, bounded, and the carry alone. */
#define __of_vec_add(a, b) ((__VEC_T(a, b))(a) + (__VEC_T(a, b))(b))
__SPU_GENERIC2(vec_add, __VEC_RESULT)
#define vec_add(a, b) __SPU_APPLY2(vec_add, a, b)
#define __of_vec_sub(a, b) ((__VEC_T(a, b))(a) - (__VEC_T(a, b))(b))
__SPU_GENERIC2(vec_sub, __VEC_RESULT)
#define vec_sub(a, b) __SPU_APPLY2(vec_sub, a, b)
#define __VEC_EACH(name, kind, T, E, expression)          \
    __SPU_INLINE T __SPU_NAME(name, kind)(T a, T b)       \
    {                                                     \
        for (int at = 0; at < __VEC_ELEMENTS(a); at++) {  \
            long long x = a[at], y = b[at];               \
            (void)y;                                      \
            a[at] = (E)(expression);                      \
        }                                                 \
        return a;                                         \
    }
#define __VEC_BOUNDED(kind, T, E, least, most)                              \
    __VEC_EACH(__vec_adds, kind, T, E, __vec_bounded(x + y, least, most))   \
    __VEC_EACH(__vec_subs, kind, T, E, __vec_bounded(x - y, least, most))   \
    __VEC_EACH(__vec_avg, kind, T, E, (x + y + 1) >> 1)
__VEC_FOR_INTEGERS(__VEC_BOUNDED)
#undef __VEC_BOUNDED
#define __of_vec_adds(a, b) (__VEC_BY_INTEGER(__vec_adds, (__VEC_T(a, b))(a))((__VEC_T(a, b))(a), (__VEC_T(a, b))(b)))
__SPU_GENERIC2(vec_adds, __VEC_RESULT)
#define vec_adds(a, b) __SPU_APPLY2(vec_adds, a, b)
#define __of_vec_subs(a, b) (__VEC_BY_INTEGER(__vec_subs, (__VEC_T(a, b))(a))((__VEC_T(a, b))(a), (__VEC_T(a, b))(b)))
__SPU_GENERIC2(vec_subs, __VEC_RESULT)
#define vec_subs(a, b) __SPU_APPLY2(vec_subs, a, b)
#define __of_vec_avg(a, b) (__VEC_BY_INTEGER(__vec_avg, a)((a), (b)))
__SPU_GENERIC2(vec_avg, __SPU_AS_A)
#define vec_avg(a, b) __SPU_APPLY2(vec_avg, a, b)
__SPU_INLINE vec_uint4 vec_addc(vec_uint4 a, vec_uint4 b)
{
    return (vec_uint4)(a + b < a) & 1;
}
__SPU_INLINE vec_uint4 vec_subc(vec_uint4 a, vec_uint4 b)
{
    return (vec_uint4)(a >= b) & 1;
}
#define __of_vec_abs(a) ((__SPU_T(a))__VEC_BY(__vec_abs, a)(a))
#define __VEC_ABS(kind, T, E, least, most)                    \
    __VEC_EACH(__vec_abs2, kind, T, E, x < 0 ? -x : x)        \
    __VEC_EACH(__vec_abss2, kind, T, E, x < 0 ? __vec_bounded(-x, least, most) : x) \
    __SPU_INLINE T __SPU_NAME(__vec_abs, kind)(T a)           \
    {                                                         \
        return __SPU_NAME(__vec_abs2, kind)(a, a);            \
    }                                                         \
    __SPU_INLINE T __SPU_NAME(__vec_abss, kind)(T a)          \
    {                                                         \
        return __SPU_NAME(__vec_abss2, kind)(a, a);           \
    }
__VEC_FOR_INTEGERS(__VEC_ABS)
#undef __VEC_ABS
__SPU_INLINE vec_float4 __SPU_NAME(__vec_abs, f)(vec_float4 a)
{
    return fabsf4(a);
}
__SPU_GENERIC1(vec_abs, __SPU_AS_A)
#define vec_abs(a) __SPU_APPLY1(vec_abs, a)
#define __of_vec_abss(a) (__VEC_BY_INTEGER(__vec_abss, a)(a))
__SPU_GENERIC1(vec_abss, __SPU_AS_A)
#define vec_abss(a) __SPU_APPLY1(vec_abss, a)

/* Of a number and none, neither is the greater one: the result is none. Zero is greater than negative zero. */
#define __VEC_CHOSEN(no, yes, mask) \
    ((__SPU_T(no))__spu_sel((vec_ullong2)(no), (vec_ullong2)(yes), (vec_ullong2)(mask)))
#define __VEC_EXTREMES(kind, T, E, least, most)                           \
    __SPU_INLINE T __SPU_NAME(__vec_max, kind)(T a, T b)                  \
    {                                                                     \
        return __VEC_CHOSEN(b, a, a > b);                                 \
    }                                                                     \
    __SPU_INLINE T __SPU_NAME(__vec_min, kind)(T a, T b)                  \
    {                                                                     \
        return __VEC_CHOSEN(b, a, a < b);                                 \
    }
__VEC_FOR_INTEGERS(__VEC_EXTREMES)
#undef __VEC_EXTREMES
__SPU_INLINE vec_float4 __SPU_NAME(__vec_max, f)(vec_float4 a, vec_float4 b)
{
    vec_float4 equal = (vec_float4)((vec_uint4)a & (vec_uint4)b), other = __VEC_CHOSEN(b, equal, a == b);
    return __VEC_CHOSEN(other, a, (vec_uint4)(a > b) | (vec_uint4)(a != a));
}
__SPU_INLINE vec_float4 __SPU_NAME(__vec_min, f)(vec_float4 a, vec_float4 b)
{
    vec_float4 equal = (vec_float4)((vec_uint4)a | (vec_uint4)b), other = __VEC_CHOSEN(b, equal, a == b);
    return __VEC_CHOSEN(other, a, (vec_uint4)(a < b) | (vec_uint4)(a != a));
}
#define __of_vec_max(a, b) (__VEC_BY(__vec_max, (__VEC_T(a, b))(a))((__VEC_T(a, b))(a), (__VEC_T(a, b))(b)))
__SPU_GENERIC2(vec_max, __VEC_RESULT)
#define vec_max(a, b) __SPU_APPLY2(vec_max, a, b)
#define __of_vec_min(a, b) (__VEC_BY(__vec_min, (__VEC_T(a, b))(a))((__VEC_T(a, b))(a), (__VEC_T(a, b))(b)))
__SPU_GENERIC2(vec_min, __VEC_RESULT)
#define vec_min(a, b) __SPU_APPLY2(vec_min, a, b)

/* Products of the elements with even and with odd numbers. */
#define __VEC_PRODUCTS(kind, T, R)                                                       \
    __SPU_INLINE R __SPU_NAME(__vec_mule, kind)(T a, T b)                                \
    {                                                                                    \
        R r;                                                                             \
        for (int at = 0; at < __VEC_ELEMENTS(r); at++)                                   \
            r[at] = (__typeof__(r[0] + 0))a[2 * at] * (__typeof__(r[0] + 0))b[2 * at];   \
        return r;                                                                        \
    }                                                                                    \
    __SPU_INLINE R __SPU_NAME(__vec_mulo, kind)(T a, T b)                                \
    {                                                                                    \
        R r;                                                                             \
        for (int at = 0; at < __VEC_ELEMENTS(r); at++)                                   \
            r[at] = (__typeof__(r[0] + 0))a[2 * at + 1] * (__typeof__(r[0] + 0))b[2 * at + 1]; \
        return r;                                                                        \
    }
__VEC_PRODUCTS(uc, vec_uchar16, vec_ushort8)
__VEC_PRODUCTS(sc, vec_char16, vec_short8)
__VEC_PRODUCTS(us, vec_ushort8, vec_uint4)
__VEC_PRODUCTS(ss, vec_short8, vec_int4)
#undef __VEC_PRODUCTS
#ifdef __cplusplus
#define __VEC_BY_NARROW(name, v) name
#else
#define __VEC_BY_NARROW(name, v) \
    _Generic((v)[0], unsigned char : name##_uc, signed char : name##_sc, unsigned short : name##_us, short : name##_ss)
#endif
#define __of_vec_mule(a, b) (__VEC_BY_NARROW(__vec_mule, a)((a), (b)))
__SPU_GENERIC2(vec_mule, __SPU_WIDE)
#define vec_mule(a, b) __SPU_APPLY2(vec_mule, a, b)
#define __of_vec_mulo(a, b) (__VEC_BY_NARROW(__vec_mulo, a)((a), (b)))
__SPU_GENERIC2(vec_mulo, __SPU_WIDE)
#define vec_mulo(a, b) __SPU_APPLY2(vec_mulo, a, b)

/* A product and a sum: rounded once; of halfwords around the end, or the upper 17 bits bounded. */
__SPU_INLINE vec_float4 vec_madd(vec_float4 a, vec_float4 b, vec_float4 c)
{
    return fmaf4(a, b, c);
}
__SPU_INLINE vec_float4 vec_nmsub(vec_float4 a, vec_float4 b, vec_float4 c)
{
    return -fmaf4(a, b, -c);
}
__SPU_INLINE vec_short8 vec_madds(vec_short8 a, vec_short8 b, vec_short8 c)
{
    for (int at = 0; at < 8; at++)
        c[at] = (short)__vec_bounded(((a[at] * b[at]) >> 15) + c[at], -32768, 32767);
    return c;
}
__SPU_INLINE vec_short8 vec_mradds(vec_short8 a, vec_short8 b, vec_short8 c)
{
    for (int at = 0; at < 8; at++)
        c[at] = (short)__vec_bounded(((a[at] * b[at] + 0x4000) >> 15) + c[at], -32768, 32767);
    return c;
}
#define __of_vec_mladd(a, b, c)                                                                    \
    ((__VEC_T(a, b))((vec_ushort8)(a) * (vec_ushort8)(b) + (vec_ushort8)(c)))
__SPU_GENERIC3(vec_mladd, __VEC_RESULT)
#define vec_mladd(a, b, c) __SPU_APPLY3(vec_mladd, a, b, c)

/* Sums of products, and sums, within each word, within two of them, and of all. */
#define __VEC_SUM(name, A, B, R, count, least, most, product)            \
    __SPU_INLINE R name(A a, B b, R c)                                   \
    {                                                                    \
        for (int at = 0; at < 4; at++) {                                 \
            long long sum = c[at];                                       \
            for (int in = count * at; in < count * at + count; in++)     \
                sum += product;                                          \
            c[at] = (__typeof__(c[0] + 0))__vec_bounded(sum, least, most); \
        }                                                                \
        return c;                                                        \
    }
/* A sum that goes around its end has no bounds. */
#define __VEC_NONE -9223372036854775807ll, 9223372036854775807ll
#define __VEC_UNSIGNED 0, 4294967295ll
#define __VEC_SIGNED -2147483648ll, 2147483647
#define __VEC_CALL(macro, ...) macro(__VA_ARGS__)
__VEC_CALL(__VEC_SUM, __SPU_NAME(__vec_msum, uc), vec_uchar16, vec_uchar16, vec_uint4, 4, __VEC_NONE, a[in] * b[in])
__VEC_CALL(__VEC_SUM, __SPU_NAME(__vec_msum, sc), vec_char16, vec_uchar16, vec_int4, 4, __VEC_NONE, a[in] * b[in])
__VEC_CALL(__VEC_SUM, __SPU_NAME(__vec_msum, us), vec_ushort8, vec_ushort8, vec_uint4, 2, __VEC_NONE, (long long)a[in] * b[in])
__VEC_CALL(__VEC_SUM, __SPU_NAME(__vec_msum, ss), vec_short8, vec_short8, vec_int4, 2, __VEC_NONE, (long long)a[in] * b[in])
__VEC_CALL(__VEC_SUM, __SPU_NAME(__vec_msums, us), vec_ushort8, vec_ushort8, vec_uint4, 2, __VEC_UNSIGNED, (long long)a[in] * b[in])
__VEC_CALL(__VEC_SUM, __SPU_NAME(__vec_msums, ss), vec_short8, vec_short8, vec_int4, 2, __VEC_SIGNED, (long long)a[in] * b[in])
#define __of_vec_msum(a, b, c) (__VEC_BY_NARROW(__vec_msum, a)((a), (b), (c)))
__SPU_GENERIC3(vec_msum, __SPU_AS_C)
#define vec_msum(a, b, c) __SPU_APPLY3(vec_msum, a, b, c)
#ifdef __cplusplus
#define __of_vec_msums(a, b, c) (__vec_msums((a), (b), (c)))
#else
#define __of_vec_msums(a, b, c) \
    (_Generic((a)[0], unsigned short : __vec_msums_us, short : __vec_msums_ss)((a), (b), (c)))
#endif
__SPU_GENERIC3(vec_msums, __SPU_AS_C)
#define vec_msums(a, b, c) __SPU_APPLY3(vec_msums, a, b, c)
__SPU_INLINE vec_uint4 __SPU_NAME(__vec_sum4s, uc)(vec_uchar16 a, vec_uint4 c)
{
    for (int at = 0; at < 4; at++)
        c[at] = (unsigned int)__vec_bounded((long long)c[at] + a[4 * at] + a[4 * at + 1] + a[4 * at + 2] + a[4 * at + 3],
                                            __VEC_UNSIGNED);
    return c;
}
__SPU_INLINE vec_int4 __SPU_NAME(__vec_sum4s, sc)(vec_char16 a, vec_int4 c)
{
    for (int at = 0; at < 4; at++)
        c[at] = (int)__vec_bounded((long long)c[at] + a[4 * at] + a[4 * at + 1] + a[4 * at + 2] + a[4 * at + 3],
                                   __VEC_SIGNED);
    return c;
}
__SPU_INLINE vec_int4 __SPU_NAME(__vec_sum4s, ss)(vec_short8 a, vec_int4 c)
{
    for (int at = 0; at < 4; at++)
        c[at] = (int)__vec_bounded((long long)c[at] + a[2 * at] + a[2 * at + 1], __VEC_SIGNED);
    return c;
}
#undef __VEC_SUM
#ifdef __cplusplus
#define __of_vec_sum4s(a, b) (__vec_sum4s((a), (b)))
#else
#define __of_vec_sum4s(a, b) \
    (_Generic((a)[0], unsigned char : __vec_sum4s_uc, signed char : __vec_sum4s_sc, short : __vec_sum4s_ss)((a), (b)))
#endif
__SPU_GENERIC2(vec_sum4s, __SPU_AS_B)
#define vec_sum4s(a, b) __SPU_APPLY2(vec_sum4s, a, b)
__SPU_INLINE vec_int4 vec_sum2s(vec_int4 a, vec_int4 b)
{
    return (vec_int4){0, (int)__vec_bounded((long long)a[0] + a[1] + b[1], __VEC_SIGNED), 0,
                      (int)__vec_bounded((long long)a[2] + a[3] + b[3], __VEC_SIGNED)};
}
__SPU_INLINE vec_int4 vec_sums(vec_int4 a, vec_int4 b)
{
    return (vec_int4){0, 0, 0, (int)__vec_bounded((long long)a[0] + a[1] + a[2] + a[3] + b[3], __VEC_SIGNED)};
}

/* Exact, where the PPE estimates. */
#define vec_re(a) recipf4(a)
#define vec_rsqrte(a) rsqrtf4(a)
#define vec_expte(a) exp2f4(a)
#define vec_loge(a) log2f4(a)
#define vec_floor(a) floorf4(a)
#define vec_ceil(a) ceilf4(a)
#define vec_trunc(a) truncf4(a)
#define vec_round(a) rintf4(a)

/* Conversions, by a power of two: towards zero and bounded; what is no number becomes zero. */
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
#define __of_vec_ctf(a, scale) (_Generic((a)[0], unsigned int : __vec_ctf_u, default : __vec_ctf_s)((a), (scale)))
#define vec_ctf(a, scale) __SPU_APPLY2(vec_ctf, a, scale)
#endif
__SPU_INLINE vec_int4 vec_cts(vec_float4 a, int scale)
{
    typedef float floats __attribute__((vector_size(16)));
    vec_float4 scaled = a * __builtin_ldexpf(1, scale);
    vec_int4 over = (vec_int4)(scaled >= 2147483648.0f);
    vec_int4 whole = (vec_int4)__builtin_ia32_cvttps2dq((floats)scaled) & (vec_int4)(a == a);
    return (whole & ~over) | (over & 0x7fffffff);
}
__SPU_INLINE vec_uint4 vec_ctu(vec_float4 a, int scale)
{
    vec_float4 scaled = a * __builtin_ldexpf(1, scale);
    vec_uint4 whole;
    for (int at = 0; at < 4; at++)
        whole[at] = scaled[at] >= 4294967296.0f ? ~0u : scaled[at] > 0 ? (unsigned int)(long long)scaled[at] : 0;
    return whole;
}

/* Comparisons: all ones where true. */
#define __VEC_COMPARED(a, relation, b) ((__SPU_U(a))((__VEC_T(a, b))(a)relation(__VEC_T(a, b))(b)))
#define __of_vec_cmpeq(a, b) __VEC_COMPARED(a, ==, b)
__SPU_GENERIC2(vec_cmpeq, __SPU_UNSIGNED)
#define vec_cmpeq(a, b) __SPU_APPLY2(vec_cmpeq, a, b)
#define __of_vec_cmpgt(a, b) __VEC_COMPARED(a, >, b)
__SPU_GENERIC2(vec_cmpgt, __SPU_UNSIGNED)
#define vec_cmpgt(a, b) __SPU_APPLY2(vec_cmpgt, a, b)
#define __of_vec_cmplt(a, b) __VEC_COMPARED(a, <, b)
__SPU_GENERIC2(vec_cmplt, __SPU_UNSIGNED)
#define vec_cmplt(a, b) __SPU_APPLY2(vec_cmplt, a, b)
#define __of_vec_cmpge(a, b) __VEC_COMPARED(a, >=, b)
__SPU_GENERIC2(vec_cmpge, __SPU_UNSIGNED)
#define vec_cmpge(a, b) __SPU_APPLY2(vec_cmpge, a, b)
#define __of_vec_cmple(a, b) __VEC_COMPARED(a, <=, b)
__SPU_GENERIC2(vec_cmple, __SPU_UNSIGNED)
#define vec_cmple(a, b) __SPU_APPLY2(vec_cmple, a, b)
/* Whether each element lies between -b and b: the highest bit, if it is above, the next one, if it is below. */
__SPU_INLINE vec_int4 vec_cmpb(vec_float4 a, vec_float4 b)
{
    return (vec_int4)((~(vec_uint4)(a <= b) & 0x80000000u) | (~(vec_uint4)(a >= -b) & 0x40000000u));
}
__SPU_INLINE int __vec_all(vec_ullong2 mask)
{
    return (mask[0] & mask[1]) == ~0ull;
}
__SPU_INLINE int __vec_any(vec_ullong2 mask)
{
    return (mask[0] | mask[1]) != 0;
}
#define __VEC_MASK(a, relation, b) ((vec_ullong2)((__VEC_T(a, b))(a)relation(__VEC_T(a, b))(b)))
#define __of_vec_all_eq(a, b) __vec_all(__VEC_MASK(a, ==, b))
__SPU_GENERIC2(vec_all_eq, int)
#define vec_all_eq(a, b) __SPU_APPLY2(vec_all_eq, a, b)
#define __of_vec_all_ne(a, b) (!__vec_any(__VEC_MASK(a, ==, b)))
__SPU_GENERIC2(vec_all_ne, int)
#define vec_all_ne(a, b) __SPU_APPLY2(vec_all_ne, a, b)
#define __of_vec_all_gt(a, b) __vec_all(__VEC_MASK(a, >, b))
__SPU_GENERIC2(vec_all_gt, int)
#define vec_all_gt(a, b) __SPU_APPLY2(vec_all_gt, a, b)
#define __of_vec_all_ge(a, b) __vec_all(__VEC_MASK(a, >=, b))
__SPU_GENERIC2(vec_all_ge, int)
#define vec_all_ge(a, b) __SPU_APPLY2(vec_all_ge, a, b)
#define __of_vec_all_lt(a, b) __vec_all(__VEC_MASK(a, <, b))
__SPU_GENERIC2(vec_all_lt, int)
#define vec_all_lt(a, b) __SPU_APPLY2(vec_all_lt, a, b)
#define __of_vec_all_le(a, b) __vec_all(__VEC_MASK(a, <=, b))
__SPU_GENERIC2(vec_all_le, int)
#define vec_all_le(a, b) __SPU_APPLY2(vec_all_le, a, b)
#define __of_vec_any_eq(a, b) __vec_any(__VEC_MASK(a, ==, b))
__SPU_GENERIC2(vec_any_eq, int)
#define vec_any_eq(a, b) __SPU_APPLY2(vec_any_eq, a, b)
#define __of_vec_any_ne(a, b) (!__vec_all(__VEC_MASK(a, ==, b)))
__SPU_GENERIC2(vec_any_ne, int)
#define vec_any_ne(a, b) __SPU_APPLY2(vec_any_ne, a, b)
#define __of_vec_any_gt(a, b) __vec_any(__VEC_MASK(a, >, b))
__SPU_GENERIC2(vec_any_gt, int)
#define vec_any_gt(a, b) __SPU_APPLY2(vec_any_gt, a, b)
#define __of_vec_any_ge(a, b) __vec_any(__VEC_MASK(a, >=, b))
__SPU_GENERIC2(vec_any_ge, int)
#define vec_any_ge(a, b) __SPU_APPLY2(vec_any_ge, a, b)
#define __of_vec_any_lt(a, b) __vec_any(__VEC_MASK(a, <, b))
__SPU_GENERIC2(vec_any_lt, int)
#define vec_any_lt(a, b) __SPU_APPLY2(vec_any_lt, a, b)
#define __of_vec_any_le(a, b) __vec_any(__VEC_MASK(a, <=, b))
__SPU_GENERIC2(vec_any_le, int)
#define vec_any_le(a, b) __SPU_APPLY2(vec_any_le, a, b)
/* Of floating-point numbers: 'not greater' and so on also holds where there is no number. */
#define __VEC_PREDICATES(name, condition)                                     \
    __SPU_INLINE int vec_all_##name(vec_float4 a, vec_float4 b)               \
    {                                                                         \
        return __vec_all((vec_ullong2)(condition));                           \
    }                                                                         \
    __SPU_INLINE int vec_any_##name(vec_float4 a, vec_float4 b)               \
    {                                                                         \
        return __vec_any((vec_ullong2)(condition));                           \
    }
__VEC_PREDICATES(nge, ~(vec_uint4)(a >= b))
__VEC_PREDICATES(ngt, ~(vec_uint4)(a > b))
__VEC_PREDICATES(nle, ~(vec_uint4)(a <= b))
__VEC_PREDICATES(nlt, ~(vec_uint4)(a < b))
#undef __VEC_PREDICATES
__SPU_INLINE int vec_all_nan(vec_float4 a)
{
    return __vec_all((vec_ullong2)(a != a));
}
__SPU_INLINE int vec_any_nan(vec_float4 a)
{
    return __vec_any((vec_ullong2)(a != a));
}
__SPU_INLINE int vec_all_numeric(vec_float4 a)
{
    return __vec_all((vec_ullong2)(a == a));
}
__SPU_INLINE int vec_any_numeric(vec_float4 a)
{
    return __vec_any((vec_ullong2)(a == a));
}
__SPU_INLINE int vec_all_in(vec_float4 a, vec_float4 b)
{
    return !__vec_any((vec_ullong2)vec_cmpb(a, b));
}
__SPU_INLINE int vec_any_out(vec_float4 a, vec_float4 b)
{
    return __vec_any((vec_ullong2)vec_cmpb(a, b));
}

#endif
