/* Vectors of 16 bytes, by both processors' names. */
#ifndef VEC_TYPES_H
#define VEC_TYPES_H

/* C++ takes types with attributes as template arguments with a warning only; the driver compiles without the rule that
 * may_alias lifts. */
#ifdef __cplusplus
#define __SEATMAP_VECTOR __attribute__((vector_size(16)))
#else
#define __SEATMAP_VECTOR __attribute__((vector_size(16), may_alias))
#endif

typedef unsigned char vec_uchar16 __SEATMAP_VECTOR;
typedef signed char vec_char16 __SEATMAP_VECTOR;
typedef unsigned short vec_ushort8 __SEATMAP_VECTOR;
typedef signed short vec_short8 __SEATMAP_VECTOR;
typedef unsigned int vec_uint4 __SEATMAP_VECTOR;
typedef signed int vec_int4 __SEATMAP_VECTOR;
typedef unsigned long long vec_ullong2 __SEATMAP_VECTOR;
typedef signed long long vec_llong2 __SEATMAP_VECTOR;
typedef float vec_float4 __SEATMAP_VECTOR;
typedef double vec_double2 __SEATMAP_VECTOR;
/* The PPE's comparisons and pixels. */
typedef vec_uchar16 vec_bchar16;
typedef vec_ushort8 vec_bshort8;
typedef vec_uint4 vec_bint4;
typedef vec_ushort8 vec_pixel8;

/* 'vector' in front of a type is a keyword: seatmap-cellcc sees to it. */
#ifndef __vector
#define __vector __attribute__((vector_size(16)))
#endif

#endif
