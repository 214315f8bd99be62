/* Vectors of 16 bytes, by the names that both processors' programs use. */
#ifndef VEC_TYPES_H
#define VEC_TYPES_H

typedef unsigned char vec_uchar16 __attribute__((vector_size(16), may_alias));
typedef signed char vec_char16 __attribute__((vector_size(16), may_alias));
typedef unsigned short vec_ushort8 __attribute__((vector_size(16), may_alias));
typedef signed short vec_short8 __attribute__((vector_size(16), may_alias));
typedef unsigned int vec_uint4 __attribute__((vector_size(16), may_alias));
typedef signed int vec_int4 __attribute__((vector_size(16), may_alias));
typedef unsigned long long vec_ullong2 __attribute__((vector_size(16), may_alias));
typedef signed long long vec_llong2 __attribute__((vector_size(16), may_alias));
typedef float vec_float4 __attribute__((vector_size(16), may_alias));
typedef double vec_double2 __attribute__((vector_size(16), may_alias));

#ifndef __cplusplus
#ifndef vector
#define vector __attribute__((vector_size(16)))
#endif
#endif
#ifndef __vector
#define __vector __attribute__((vector_size(16)))
#endif

#endif
