/* Intrinsics for which the processor has one instruction: each function is that instruction and a return. */
#include <spu_intrinsics.h>

#define ONE(instruction, name, T, expression)      \
    T name##__##instruction(T a, T b, T c)         \
    {                                              \
        (void)a, (void)b, (void)c;                 \
        return (T)(expression);                    \
    }
#define PATTERN(...) ((vec_uchar16){__VA_ARGS__})

ONE(vaddps, add_float, vec_float4, spu_add(a, b))
ONE(vaddpd, add_double, vec_double2, spu_add(a, b))
ONE(vpaddd, add_word, vec_uint4, spu_add(a, b))
ONE(vpaddw, add_half, vec_short8, spu_add(a, b))
ONE(vsubps, sub_float, vec_float4, spu_sub(a, b))
ONE(vpsubd, sub_word, vec_int4, spu_sub(a, b))
ONE(vmulps, mul_float, vec_float4, spu_mul(a, b))
ONE(vmulpd, mul_double, vec_double2, spu_mul(a, b))
ONE(vfmadd, madd_float, vec_float4, spu_madd(a, b, c))
ONE(vfmadd, madd_double, vec_double2, spu_madd(a, b, c))
ONE(vfmsub, msub_float, vec_float4, spu_msub(a, b, c))
ONE(vfnmadd, nmsub_float, vec_float4, spu_nmsub(a, b, c))
ONE(vfnmsub, nmadd_float, vec_float4, spu_nmadd(a, b, c))
ONE(vpavgb, avg, vec_uchar16, spu_avg(a, b))
ONE(vandps, and_float, vec_float4, spu_and(a, b))
ONE(vpand, and_word, vec_uint4, spu_and(a, b))
ONE(vpor, or_half, vec_ushort8, spu_or(a, b))
ONE(vpxor, xor_byte, vec_uchar16, spu_xor(a, b))
ONE(vpandn, andc_word, vec_uint4, spu_andc(a, b))
ONE(vpcmpeqd, cmpeq_word, vec_uint4, spu_cmpeq(a, b))
ONE(vpcmpeqb, cmpeq_byte, vec_uchar16, spu_cmpeq(a, b))
ONE(vcmpeqps, cmpeq_float, vec_float4, spu_cmpeq(a, b))
ONE(vpcmpgtd, cmpgt_word, vec_int4, spu_cmpgt(a, b))
ONE(vpcmpgtw, cmpgt_half, vec_short8, spu_cmpgt(a, b))
ONE(vcmpltps, cmpgt_float, vec_float4, spu_cmpgt(a, b))
ONE(vpslld, sl_word, vec_uint4, spu_sl(a, 5u))
ONE(vpsllw, sl_half, vec_ushort8, spu_sl(a, (unsigned short)5))
ONE(vpsrld, rlmask_word, vec_uint4, spu_rlmask(a, -5))
ONE(vpsrad, rlmaska_word, vec_int4, spu_rlmaska(a, -5))
ONE(vpsrlw, sr_half, vec_ushort8, spu_sr(a, 5))
ONE(vcvtdq2ps, convtf, vec_int4, spu_convtf(a, 0))
ONE(vps, slqwbyte_word, vec_uint4, spu_slqwbyte(a, 4))
ONE(vps, rlmaskqwbyte_word, vec_uint4, spu_rlmaskqwbyte(a, -4))
ONE(vp, rlqwbyte_word, vec_uint4, spu_rlqwbyte(a, 4))
ONE(vpshufb, rlqwbyte_byte, vec_uchar16, spu_rlqwbyte(a, 3))
ONE(v, merge_high, vec_uint4,
    spu_shuffle(a, b, PATTERN(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23)))
ONE(v, merge_low, vec_float4,
    spu_shuffle(a, b, PATTERN(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31)))
ONE(v, upper_halves, vec_uint4,
    spu_shuffle(a, b, PATTERN(0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)))
ONE(vp, shuffle_one, vec_uint4, spu_shuffle(a, a, PATTERN(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3)))
ONE(vinsertps, insert_float, vec_float4, spu_insert(spu_extract(b, 0), a, 2))
ONE(vp, splats_word, vec_uint4, spu_splats(spu_extract(a, 0)))

vec_float4 splats__v(float a)
{
    return spu_splats(a);
}

int extract__vpextrd(vec_int4 a)
{
    return spu_extract(a, 2);
}
