/* The parts of the vector intrinsics, in C and C++: types by element size, vector or scalar arguments, and the order of
 * bytes.
 *
 * Element 0 has the lowest address, as on the SPU. Within an element, bytes have this computer's order. An intrinsic
 * that counts bytes begins at the most significant byte of element 0: byte k of the SPU is byte k ^ (size - 1) in
 * memory, for elements of that size.
 *
 * A generic intrinsic NAME is written as a macro __of_NAME over names of variables, which may name them often. Programs
 * nest intrinsics, so what they call takes each argument once: in C a statement with local variables, in C++ a function,
 * which also initialises variables outside of functions (__SPU_GENERIC makes it, and gives its result's type). */
#ifndef SEATMAP_VECTOR_H
#define SEATMAP_VECTOR_H

#ifdef __cplusplus
extern "C++" {
#endif

#include "vec_types.h"

#define __SPU_INLINE static inline __attribute__((always_inline, unused))

#ifdef __cplusplus
#define __SPU_TYPES(T, U, S)  \
    T __spu_type(T);          \
    U __spu_type_unsigned(T); \
    S __spu_type_signed(T);
__SPU_TYPES(vec_uchar16, vec_uchar16, vec_char16)
__SPU_TYPES(vec_char16, vec_uchar16, vec_char16)
__SPU_TYPES(vec_ushort8, vec_ushort8, vec_short8)
__SPU_TYPES(vec_short8, vec_ushort8, vec_short8)
__SPU_TYPES(vec_uint4, vec_uint4, vec_int4)
__SPU_TYPES(vec_int4, vec_uint4, vec_int4)
__SPU_TYPES(vec_ullong2, vec_ullong2, vec_llong2)
__SPU_TYPES(vec_llong2, vec_ullong2, vec_llong2)
__SPU_TYPES(vec_float4, vec_uint4, vec_int4)
__SPU_TYPES(vec_double2, vec_ullong2, vec_llong2)
#undef __SPU_TYPES

template <class T> struct __spu_to {
#define __SPU_FROM(V)                                       \
    __attribute__((always_inline)) static inline T from(V b) \
    {                                                       \
        return (T)b;                                        \
    }
    __SPU_FROM(vec_uchar16)
    __SPU_FROM(vec_char16)
    __SPU_FROM(vec_ushort8)
    __SPU_FROM(vec_short8)
    __SPU_FROM(vec_uint4)
    __SPU_FROM(vec_int4)
    __SPU_FROM(vec_ullong2)
    __SPU_FROM(vec_llong2)
    __SPU_FROM(vec_float4)
    __SPU_FROM(vec_double2)
#undef __SPU_FROM
    template <class N> __attribute__((always_inline)) static inline T from(N b)
    {
        T v;
        for (unsigned i = 0; i < sizeof v / sizeof v[0]; i++)
            v[i] = (__typeof__(v[0] + 0))b;
        return v;
    }
};
/* The types that belong to a vector's: the unsigned and the signed one of the same size, the element, and the integers of
 * twice the width. */
template <class V> struct __spu_kind;
#define __SPU_KIND(V, of, unsigneds, signeds, element, wide) \
    template <> struct __spu_kind<V> {                       \
        typedef of T;                                        \
        typedef unsigneds U;                                 \
        typedef signeds S;                                   \
        typedef element E;                                   \
        typedef wide W;                                      \
    };
__SPU_KIND(vec_uchar16, vec_uchar16, vec_uchar16, vec_char16, unsigned char, vec_ushort8)
__SPU_KIND(vec_char16, vec_char16, vec_uchar16, vec_char16, signed char, vec_short8)
__SPU_KIND(vec_ushort8, vec_ushort8, vec_ushort8, vec_short8, unsigned short, vec_uint4)
__SPU_KIND(vec_short8, vec_short8, vec_ushort8, vec_short8, short, vec_int4)
__SPU_KIND(vec_uint4, vec_uint4, vec_uint4, vec_int4, unsigned int, vec_ullong2)
__SPU_KIND(vec_int4, vec_int4, vec_uint4, vec_int4, int, vec_llong2)
__SPU_KIND(vec_ullong2, vec_ullong2, vec_ullong2, vec_llong2, unsigned long long, vec_ullong2)
__SPU_KIND(vec_llong2, vec_llong2, vec_ullong2, vec_llong2, long long, vec_llong2)
__SPU_KIND(vec_float4, vec_float4, vec_uint4, vec_int4, float, vec_double2)
__SPU_KIND(vec_double2, vec_double2, vec_ullong2, vec_llong2, double, vec_double2)
#undef __SPU_KIND
/* Of two arguments, the type of the one that is a vector; of two vectors, of the first one. */
template <class A, class B, bool is_vector> struct __spu_pair {
    typedef typename __spu_kind<A>::T T;
};
template <class A, class B> struct __spu_pair<A, B, false> {
    typedef typename __spu_kind<B>::T T;
};
/* The elements' type; the unsigned and the signed one of the same size. */
#define __SPU_T(a) __typeof__(__spu_type(a))
#define __SPU_U(a) __typeof__(__spu_type_unsigned(a))
#define __SPU_S(a) __typeof__(__spu_type_signed(a))
/* An argument that is a vector, or a scalar for all elements of type T. */
#define __SPU_ARG(T, b) (__spu_to<T>::from(b))
/* The type of the vector among two arguments. */
#define __SPU_EITHER(a, b) __typeof__(__spu_either(a, b))
#define __SPU_PAIR(T)                                  \
    T __spu_either(T, T);                              \
    template <class N> T __spu_either(T, N);           \
    template <class N> T __spu_either(N, T);
__SPU_PAIR(vec_uchar16)
__SPU_PAIR(vec_char16)
__SPU_PAIR(vec_ushort8)
__SPU_PAIR(vec_short8)
__SPU_PAIR(vec_uint4)
__SPU_PAIR(vec_int4)
__SPU_PAIR(vec_ullong2)
__SPU_PAIR(vec_llong2)
__SPU_PAIR(vec_float4)
__SPU_PAIR(vec_double2)
#undef __SPU_PAIR
/* The name of a helper for one type of elements: one name with overloads. */
#define __SPU_NAME(name, kind) name

/* Results of generic intrinsics, by their arguments' types A, B and C. */
#define __SPU_AS_A typename __spu_kind<A>::T
#define __SPU_AS_B typename __spu_kind<B>::T
#define __SPU_AS_C typename __spu_kind<C>::T
#define __SPU_UNSIGNED typename __spu_kind<A>::U
#define __SPU_WIDE typename __spu_kind<A>::W
#define __SPU_ELEMENT typename __spu_kind<A>::E
#define __SPU_AS_VECTOR typename __spu_pair<A, B, sizeof(A) == 16>::T
#define __SPU_GENERIC1(name, result)                                                                  \
    template <class A> __attribute__((always_inline, unused)) static inline result __fn_##name(A a)   \
    {                                                                                                 \
        return (result)__of_##name(a);                                                                \
    }
#define __SPU_GENERIC2(name, result)                                                                                \
    template <class A, class B> __attribute__((always_inline, unused)) static inline result __fn_##name(A a, B b)   \
    {                                                                                                               \
        return (result)__of_##name(a, b);                                                                           \
    }
#define __SPU_GENERIC3(name, result)                                         \
    template <class A, class B, class C>                                     \
    __attribute__((always_inline, unused)) static inline result __fn_##name(A a, B b, C c) \
    {                                                                        \
        return (result)__of_##name(a, b, c);                                 \
    }
#define __SPU_APPLY1(name, a) __fn_##name(a)
#define __SPU_APPLY2(name, a, b) __fn_##name((a), (b))
#define __SPU_APPLY3(name, a, b, c) __fn_##name((a), (b), (c))
#else
#define __SPU_SIZE(a, c, h, w, d)                                                                   \
    __typeof__(__builtin_choose_expr(                                                               \
        sizeof((a)[0]) == 1, (c){0},                                                                \
        __builtin_choose_expr(sizeof((a)[0]) == 2, (h){0},                                          \
                              __builtin_choose_expr(sizeof((a)[0]) == 4, (w){0}, (d){0}))))
#define __SPU_T(a) __typeof__((a) + (__typeof__(a)){0})
#define __SPU_U(a) __SPU_SIZE(a, vec_uchar16, vec_ushort8, vec_uint4, vec_ullong2)
#define __SPU_S(a) __SPU_SIZE(a, vec_char16, vec_short8, vec_int4, vec_llong2)
#define __SPU_ARG(T, b)                             \
    ((T)__builtin_choose_expr(sizeof(b) == 16, (b), \
                              (T){0} + (__typeof__(((T){0})[0]))__builtin_choose_expr(sizeof(b) == 16, 0, (b))))
#define __SPU_EITHER(a, b) __SPU_T(__builtin_choose_expr(sizeof(a) == 16, (a), (b)))
#define __SPU_NAME(name, kind) name##_##kind
#define __SPU_GENERIC1(name, result)
#define __SPU_GENERIC2(name, result)
#define __SPU_GENERIC3(name, result)
/* The scope of an '__auto_type' begins behind its value, so that calls nest. A macro __of_NAME calls others by that name
 * only: variables that change places on the way would hide each other. */
#define __SPU_APPLY1(name, a)       \
    ({                              \
        __auto_type __spu_a = (a);  \
        __of_##name(__spu_a);       \
    })
#define __SPU_APPLY2(name, a, b)        \
    ({                                  \
        __auto_type __spu_a = (a);      \
        __auto_type __spu_b = (b);      \
        __of_##name(__spu_a, __spu_b);  \
    })
#define __SPU_APPLY3(name, a, b, c)              \
    ({                                           \
        __auto_type __spu_a = (a);               \
        __auto_type __spu_b = (b);               \
        __auto_type __spu_c = (c);               \
        __of_##name(__spu_a, __spu_b, __spu_c);  \
    })
#endif

#define __SPU_LAST(v) (sizeof(v) / sizeof((v)[0]) - 1)
#define __SPU_BITS(v) (8 * sizeof((v)[0]))

/* The 16 bytes of elements of that size as the SPU numbers them, and back. */
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

/* The compiler's own types for instructions of this computer. */
typedef char __spu_x86_bytes __attribute__((vector_size(16)));
typedef short __spu_x86_halves __attribute__((vector_size(16)));
typedef int __spu_x86_words __attribute__((vector_size(16)));

/* Bytes by a pattern in memory's order; a pattern of 128 and more gives zero. */
__SPU_INLINE vec_uchar16 __spu_pick(vec_uchar16 v, vec_uchar16 pattern)
{
    typedef char bytes __attribute__((vector_size(16)));
    return (vec_uchar16)__builtin_ia32_pshufb128((bytes)v, (bytes)pattern);
}

#ifdef __cplusplus
}
#endif

#endif
