#ifndef REDUCE_H
#define REDUCE_H

#include <vec_types.h>

#ifdef __cplusplus
extern "C" {
#endif

float reduce_sum(vec_float4 v);
float reduce_largest(vec_float4 v);

#ifdef __cplusplus
}
#endif
#endif
