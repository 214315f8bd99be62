/* Vector literals, as the compilers of the Cell wrote them differently. */
#ifndef VEC_LITERAL_H
#define VEC_LITERAL_H

#include "vec_types.h"

#define VEC_LITERAL(_type, ...) ((_type){__VA_ARGS__})
#define __VEC_TWICE(...) __VA_ARGS__, __VA_ARGS__
#define VEC_SPLAT_U8(_v) ((vec_uchar16){__VEC_TWICE(_v, _v, _v, _v, _v, _v, _v, _v)})
#define VEC_SPLAT_S8(_v) ((vec_char16){__VEC_TWICE(_v, _v, _v, _v, _v, _v, _v, _v)})
#define VEC_SPLAT_U16(_v) ((vec_ushort8){__VEC_TWICE(_v, _v, _v, _v)})
#define VEC_SPLAT_S16(_v) ((vec_short8){__VEC_TWICE(_v, _v, _v, _v)})
#define VEC_SPLAT_U32(_v) ((vec_uint4){_v, _v, _v, _v})
#define VEC_SPLAT_S32(_v) ((vec_int4){_v, _v, _v, _v})
#define VEC_SPLAT_F32(_v) ((vec_float4){_v, _v, _v, _v})
#define VEC_SPLAT_U64(_v) ((vec_ullong2){_v, _v})
#define VEC_SPLAT_S64(_v) ((vec_llong2){_v, _v})
#define VEC_SPLAT_F64(_v) ((vec_double2){_v, _v})

#endif
