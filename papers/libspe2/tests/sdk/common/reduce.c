/* The sum and the largest of a vector's elements. */
#include "reduce.h"
#include <spu_intrinsics.h>

#if LANES != 4
#error "the flags of one object are missing"
#endif

float reduce_sum(vec_float4 v)
{
    v = spu_add(v, spu_rlqwbyte(v, 8));
    return spu_extract(spu_add(v, spu_rlqwbyte(v, 4)), 0);
}

float reduce_largest(vec_float4 v)
{
    vec_float4 turned = spu_rlqwbyte(v, 8);
    v = spu_sel(turned, v, spu_cmpgt(v, turned));
    turned = spu_rlqwbyte(v, 4);
    return spu_extract(spu_sel(turned, v, spu_cmpgt(v, turned)), 0);
}
