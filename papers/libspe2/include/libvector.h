/* The Cell's sample library of functions on vectors of float, on both processors. A vector of three has its numbers in
 * elements 0 to 2. */
#ifndef LIBVECTOR_H
#define LIBVECTOR_H

#ifdef __cplusplus
extern "C++" {
#endif

#include "simdmath.h"
#ifdef __SPU__
/* The SDK's headers of this library give an SPU its intrinsics too. */
#include "spu_intrinsics.h"
#endif

#define __VECTOR_INLINE static inline __attribute__((unused))

__VECTOR_INLINE float _sum_across_float3(vec_float4 v)
{
    return v[0] + v[1] + v[2];
}
__VECTOR_INLINE float _sum_across_float4(vec_float4 v)
{
    return v[0] + v[1] + v[2] + v[3];
}
__VECTOR_INLINE float _dot_product3(vec_float4 a, vec_float4 b)
{
    return _sum_across_float3(a * b);
}
__VECTOR_INLINE float _dot_product4(vec_float4 a, vec_float4 b)
{
    return _sum_across_float4(a * b);
}
__VECTOR_INLINE vec_float4 _cross_product3(vec_float4 a, vec_float4 b)
{
    return (vec_float4){a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0], 0};
}
__VECTOR_INLINE float _length_vec3(vec_float4 v)
{
    return __builtin_sqrtf(_dot_product3(v, v));
}
__VECTOR_INLINE float _inv_length_vec3(vec_float4 v)
{
    return 1.0f / _length_vec3(v);
}
__VECTOR_INLINE vec_float4 _normalize3(vec_float4 v)
{
    return v * _inv_length_vec3(v);
}
__VECTOR_INLINE vec_float4 _lerp_vec(vec_float4 a, vec_float4 b, vec_float4 t)
{
    return a + (b - a) * t;
}
__VECTOR_INLINE vec_float4 _clamp_vec(vec_float4 v, vec_float4 least, vec_float4 most)
{
    return fminf4(fmaxf4(v, least), most);
}
/* This direction after reflection by a surface with that normal, of length 1. */
__VECTOR_INLINE vec_float4 _reflect_vec3(vec_float4 v, vec_float4 normal)
{
    return v - normal * (2 * _dot_product3(v, normal));
}
/* A vector of four numbers. */
__VECTOR_INLINE vec_float4 _load_vec_float4(float x, float y, float z, float w)
{
    return (vec_float4){x, y, z, w};
}

#define load_vec_float4(x, y, z, w) _load_vec_float4(x, y, z, w)
#define sum_across_float3(v) _sum_across_float3(v)
#define sum_across_float4(v) _sum_across_float4(v)
#define dot_product3(a, b) _dot_product3(a, b)
#define dot_product4(a, b) _dot_product4(a, b)
#define cross_product3(a, b) _cross_product3(a, b)
#define length_vec3(v) _length_vec3(v)
#define inv_length_vec3(v) _inv_length_vec3(v)
#define normalize3(v) _normalize3(v)
#define lerp_vec(a, b, t) _lerp_vec(a, b, t)
#define reflect_vec3(v, normal) _reflect_vec3(v, normal)
#define clamp_vec(v, least, most) _clamp_vec(v, least, most)

#ifdef __cplusplus
}
#endif

#endif
