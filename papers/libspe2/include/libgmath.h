/* The game mathematics library of the Cell's SDK, on both processors: sines and cosines. The number in a name is the bits
 * that the Cell's function guarantees; these have all bits of the C library's. */
#ifndef LIBGMATH_H
#define LIBGMATH_H

#ifdef __cplusplus
extern "C++" {
#endif

#include "simdmath.h"

#define __GMATH_INLINE static inline __attribute__((unused))
#define __GMATH_TURN 6.283185307179586f

/* Of an angle, and of four angles, in radians. */
#define __GMATH(name, of)                                    \
    __GMATH_INLINE float _##name(float angle)                \
    {                                                        \
        return of##f(angle);                                 \
    }                                                        \
    __GMATH_INLINE vec_float4 _##name##_v(vec_float4 angles) \
    {                                                        \
        return of##f4(angles);                               \
    }
__GMATH(cos8, cos)
__GMATH(cos14, cos)
__GMATH(cos18, cos)
__GMATH(sin8, sin)
__GMATH(sin14, sin)
__GMATH(sin18, sin)
#undef __GMATH

/* The cosine of an angle in turns: 1.0 is 2 pi. */
#define __GMATH(name)                                                \
    __GMATH_INLINE float _##name(float turns)                        \
    {                                                                \
        return cosf(turns * __GMATH_TURN);                           \
    }                                                                \
    __GMATH_INLINE vec_float4 _##name##_v(vec_float4 turns)          \
    {                                                                \
        return cosf4(turns * __GMATH_TURN);                          \
    }
__GMATH(cos_sin6)
__GMATH(cos_sin8)
__GMATH(cos_sin14)
__GMATH(cos_sin18)
#undef __GMATH

#define cos8(angle) _cos8(angle)
#define cos8_v(angle) _cos8_v(angle)
#define sin8(angle) _sin8(angle)
#define sin8_v(angle) _sin8_v(angle)
#define cos14(angle) _cos14(angle)
#define cos14_v(angle) _cos14_v(angle)
#define sin14(angle) _sin14(angle)
#define sin14_v(angle) _sin14_v(angle)
#define cos18(angle) _cos18(angle)
#define cos18_v(angle) _cos18_v(angle)
#define sin18(angle) _sin18(angle)
#define sin18_v(angle) _sin18_v(angle)
#define cos_sin6(angle) _cos_sin6(angle)
#define cos_sin6_v(angle) _cos_sin6_v(angle)
#define cos_sin8(angle) _cos_sin8(angle)
#define cos_sin8_v(angle) _cos_sin8_v(angle)
#define cos_sin14(angle) _cos_sin14(angle)
#define cos_sin14_v(angle) _cos_sin14_v(angle)
#define cos_sin18(angle) _cos_sin18(angle)
#define cos_sin18_v(angle) _cos_sin18_v(angle)

#ifdef __cplusplus
}
#endif

#endif
