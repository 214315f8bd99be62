/* The SDK's matrices of four vectors of float, on both processors: the vectors are columns. The result may be one of
 * the arguments. */
#ifndef LIBMATRIX_H
#define LIBMATRIX_H

#ifdef __cplusplus
extern "C++" {
#endif

#include "simdmath.h"

#define __MATRIX_INLINE static inline __attribute__((unused))

__MATRIX_INLINE void _identity_matrix4x4(vec_float4 *out)
{
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++)
            out[column][row] = row == column;
}
__MATRIX_INLINE void _transpose_matrix4x4(vec_float4 *out, const vec_float4 *in)
{
    vec_float4 found[4];
    for (int column = 0; column < 4; column++)
        found[column] = (vec_float4){in[0][column], in[1][column], in[2][column], in[3][column]};
    for (int column = 0; column < 4; column++)
        out[column] = found[column];
}
/* The product of both: it does to a vector what m2 does, and then m1. */
__MATRIX_INLINE void _mult_matrix4x4(vec_float4 *out, const vec_float4 *m1, const vec_float4 *m2)
{
    vec_float4 found[4];
    for (int column = 0; column < 4; column++)
        found[column] = m1[0] * m2[column][0] + m1[1] * m2[column][1] + m1[2] * m2[column][2] + m1[3] * m2[column][3];
    for (int column = 0; column < 4; column++)
        out[column] = found[column];
}
/* The product with the diagonal matrix of these numbers. */
__MATRIX_INLINE void _scale_matrix4x4(vec_float4 *out, const vec_float4 *in, vec_float4 scales)
{
    for (int column = 0; column < 4; column++)
        out[column] = in[column] * scales[column];
}
/* The inverse, by elimination with the largest pivot. A matrix without one gives infinities. */
__MATRIX_INLINE void _inverse_matrix4x4(vec_float4 *out, const vec_float4 *in)
{
    vec_float4 left[4], right[4];
    _transpose_matrix4x4(left, in);
    _identity_matrix4x4(right);
    for (int at = 0; at < 4; at++) {
        int pivot = at;
        for (int row = at + 1; row < 4; row++)
            if (fabsf(left[row][at]) > fabsf(left[pivot][at]))
                pivot = row;
        vec_float4 whole = left[pivot] / left[pivot][at], own = right[pivot] / left[pivot][at];
        left[pivot] = left[at], right[pivot] = right[at], left[at] = whole, right[at] = own;
        for (int row = 0; row < 4; row++) {
            if (row == at)
                continue;
            float factor = left[row][at];
            left[row] -= whole * factor, right[row] -= own * factor;
        }
    }
    _transpose_matrix4x4(out, right);
}

#define identity_matrix4x4(out) _identity_matrix4x4(out)
#define transpose_matrix4x4(out, in) _transpose_matrix4x4(out, in)
#define mult_matrix4x4(out, m1, m2) _mult_matrix4x4(out, m1, m2)
#define scale_matrix4x4(out, in, scales) _scale_matrix4x4(out, in, scales)
#define inverse_matrix4x4(out, in) _inverse_matrix4x4(out, in)

#ifdef __cplusplus
}
#endif

#endif
