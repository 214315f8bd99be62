/* The PPE's vector instructions by their generic names (AltiVec Technology Programming Interface Manual), and those that
 * the Cell's PPE has beside them. Elements and bytes lie as seatmap_vector.h says. A vector of truth values is one of
 * unsigned integers here, a pixel an unsigned halfword. */
#ifndef ALTIVEC_H
#define ALTIVEC_H

#ifdef __cplusplus
extern "C++" {
#endif

#include <stddef.h>
#include <stdint.h>
#include "seatmap_vector.h"
#include "seatmap_vector_bits.h"
#include "simdmath.h"

/* Of two arguments, the one with the result's type: signed or with fractions; the other one holds truth values. */
#ifdef __cplusplus
template <class A, class B, bool is_signed> struct __vec_pair {
    typedef typename __spu_kind<B>::T T;
};
template <class A, class B> struct __vec_pair<A, B, false> {
    typedef typename __spu_kind<A>::T T;
};
template <class E> struct __vec_is_signed {
    enum { value = 0 };
};
#define __VEC_IS_SIGNED(E)                \
    template <> struct __vec_is_signed<E> { \
        enum { value = 1 };               \
    };
__VEC_IS_SIGNED(signed char)
__VEC_IS_SIGNED(short)
__VEC_IS_SIGNED(int)
__VEC_IS_SIGNED(float)
#undef __VEC_IS_SIGNED
template <class A, class B>
struct __vec_result : __vec_pair<A, B, __vec_is_signed<typename __spu_kind<B>::E>::value> {};
template <class A, class B> typename __vec_result<A, B>::T __vec_main(A, B);
#define __VEC_T(a, b) __typeof__(__vec_main(a, b))
#define __VEC_RESULT typename __vec_result<A, B>::T
/* The helper for an element type: one name with overloads. */
#define __VEC_BY(name, v) name
#define __VEC_BY_INTEGER(name, v) name
#else
#define __VEC_T(a, b) __SPU_T(_Generic((b)[0], signed char : (b), short : (b), int : (b), float : (b), default : (a)))
#define __VEC_BY(name, v) \
    _Generic((v)[0], unsigned char : name##_uc, signed char : name##_sc, unsigned short : name##_us, \
             short : name##_ss, unsigned int : name##_ui, int : name##_si, float : name##_f)
#define __VEC_BY_INTEGER(name, v) \
    _Generic((v)[0], unsigned char : name##_uc, signed char : name##_sc, unsigned short : name##_us, \
             short : name##_ss, unsigned int : name##_ui, int : name##_si)
#endif
#define __VEC_FOR_INTEGERS(each)                      \
    each(uc, vec_uchar16, unsigned char, 0, 255)      \
    each(sc, vec_char16, signed char, -128, 127)      \
    each(us, vec_ushort8, unsigned short, 0, 65535)   \
    each(ss, vec_short8, short, -32768, 32767)        \
    each(ui, vec_uint4, unsigned int, 0, 4294967295)  \
    each(si, vec_int4, int, -2147483648ll, 2147483647)
#define __VEC_ELEMENTS(v) (int)(sizeof(v) / sizeof((v)[0]))
__SPU_INLINE long long __vec_bounded(long long value, long long least, long long most)
{
    return value < least ? least : value > most ? most : value;
}

#include "seatmap_altivec_numbers.h"
#include "seatmap_altivec_bits.h"
#include "seatmap_altivec_memory.h"
#include "seatmap_altivec_names.h"

#ifdef __cplusplus
}
#endif

#endif
