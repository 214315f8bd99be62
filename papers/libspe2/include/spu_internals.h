/* The SPU's specific intrinsics: one for each instruction, on quadwords of any content.
 *
 * An instruction takes its operands as the elements that it works on. Those that count bytes of the whole quadword take
 * it as four words; a pattern for a shuffle is 16 bytes. The preferred slot is element 0. */
#ifndef SPU_INTERNALS_H
#define SPU_INTERNALS_H

#ifdef __cplusplus
extern "C++" {
#endif

#include "spu_intrinsics.h"

#define __SI1(name, T, expression)          \
    __SPU_INLINE qword si_##name(qword ra)  \
    {                                       \
        T a = (T)ra;                        \
        return (qword)(expression);         \
    }
#define __SI2(name, T, expression)                   \
    __SPU_INLINE qword si_##name(qword ra, qword rb) \
    {                                                \
        T a = (T)ra, b = (T)rb;                      \
        return (qword)(expression);                  \
    }
#define __SI3(name, T, R, expression)                          \
    __SPU_INLINE qword si_##name(qword ra, qword rb, qword rc) \
    {                                                          \
        T a = (T)ra, b = (T)rb;                                \
        R c = (R)rc;                                           \
        return (qword)(expression);                            \
    }
/* With a number in the instruction. */
#define __SI_NUMBER(name, T, expression)            \
    __SPU_INLINE qword si_##name(qword ra, int imm) \
    {                                               \
        T a = (T)ra;                                \
        return (qword)(expression);                 \
    }
/* With a count in the preferred slot of the second operand. */
#define __SI_COUNT(name, expression)                \
    __SPU_INLINE qword si_##name(qword a, qword rb) \
    {                                               \
        int count = (int)rb[0];                     \
        return (qword)(expression);                 \
    }

/* Integers. */
__SI2(a, vec_uint4, a + b)
__SI2(ah, vec_ushort8, a + b)
__SI_NUMBER(ai, vec_int4, a + imm)
__SI_NUMBER(ahi, vec_short8, a + (short)imm)
__SI2(sf, vec_uint4, b - a)
__SI2(sfh, vec_ushort8, b - a)
__SI_NUMBER(sfi, vec_int4, imm - a)
__SI_NUMBER(sfhi, vec_short8, (short)imm - a)
__SI3(addx, vec_uint4, vec_uint4, spu_addx(a, b, c))
__SI3(sfx, vec_uint4, vec_uint4, spu_subx(b, a, c))
__SI2(cg, vec_uint4, spu_genc(a, b))
__SI2(bg, vec_uint4, spu_genb(b, a))
__SI3(cgx, vec_uint4, vec_uint4, spu_gencx(a, b, c))
__SI3(bgx, vec_uint4, vec_uint4, spu_genbx(b, a, c))
__SI2(mpy, vec_short8, spu_mulo(a, b))
__SI2(mpyu, vec_ushort8, spu_mulo(a, b))
__SI_NUMBER(mpyi, vec_short8, spu_mulo(a, (short)imm))
__SI_NUMBER(mpyui, vec_ushort8, spu_mulo(a, (unsigned short)imm))
__SI3(mpya, vec_short8, vec_int4, spu_madd(a, b, c))
__SI2(mpyh, vec_short8, spu_mulh(a, b))
__SI2(mpys, vec_short8, spu_mulsr(a, b))
__SI2(mpyhh, vec_short8, spu_mulhh(a, b))
__SI2(mpyhhu, vec_ushort8, spu_mulhh(a, b))
__SI3(mpyhha, vec_short8, vec_int4, spu_mhhadd(a, b, c))
__SI3(mpyhhau, vec_ushort8, vec_uint4, spu_mhhadd(a, b, c))
__SI1(clz, vec_uint4, spu_cntlz(a))
__SI1(cntb, vec_uchar16, spu_cntb(a))
__SI2(avgb, vec_uchar16, spu_avg(a, b))
__SI2(absdb, vec_uchar16, spu_absd(a, b))
__SI2(sumb, vec_uchar16, spu_sumb(a, b))
__SI1(xsbh, vec_char16, spu_extend(a))
__SI1(xshw, vec_short8, spu_extend(a))
__SI1(xswd, vec_int4, spu_extend(a))
__SI1(gb, vec_uint4, spu_gather(a))
__SI1(gbh, vec_ushort8, spu_gather(a))
__SI1(gbb, vec_uchar16, spu_gather(a))
__SI1(fsm, vec_uint4, spu_maskw((unsigned char)(a[0] & 15)))
__SI1(fsmh, vec_uint4, spu_maskh((unsigned char)a[0]))
__SI1(fsmb, vec_uint4, spu_maskb((unsigned short)a[0]))

/* Numbers from the instruction. */
#define si_fsmbi(imm) ((qword)spu_maskb((unsigned short)(imm)))
#define si_il(imm) ((qword)spu_splats((int)(short)(imm)))
#define si_ila(imm) ((qword)spu_splats((unsigned int)((imm) & 0x3ffff)))
#define si_ilh(imm) ((qword)spu_splats((short)(imm)))
#define si_ilhu(imm) ((qword)spu_splats((unsigned int)(imm) << 16))
__SI_NUMBER(iohl, vec_uint4, a | (unsigned int)(imm & 0xffff))

/* Bits. */
__SI2(and, vec_uint4, a & b)
__SI2(andc, vec_uint4, a & ~b)
__SI2(or, vec_uint4, a | b)
__SI2(orc, vec_uint4, a | ~b)
__SI2(xor, vec_uint4, a ^ b)
__SI2(nand, vec_uint4, ~(a & b))
__SI2(nor, vec_uint4, ~(a | b))
__SI2(eqv, vec_uint4, ~(a ^ b))
__SI1(orx, vec_uint4, spu_orx(a))
__SI_NUMBER(andbi, vec_uchar16, a & (unsigned char)imm)
__SI_NUMBER(andhi, vec_ushort8, a & (unsigned short)imm)
__SI_NUMBER(andi, vec_int4, a & imm)
__SI_NUMBER(orbi, vec_uchar16, a | (unsigned char)imm)
__SI_NUMBER(orhi, vec_ushort8, a | (unsigned short)imm)
__SI_NUMBER(ori, vec_int4, a | imm)
__SI_NUMBER(xorbi, vec_uchar16, a ^ (unsigned char)imm)
__SI_NUMBER(xorhi, vec_ushort8, a ^ (unsigned short)imm)
__SI_NUMBER(xori, vec_int4, a ^ imm)
__SI3(selb, vec_uint4, vec_uint4, spu_sel(a, b, c))
__SI3(shufb, vec_uint4, vec_uchar16, spu_shuffle(a, b, c))

/* Shifts and rotations. */
__SI2(shl, vec_uint4, spu_sl(a, b))
__SI2(shlh, vec_ushort8, spu_sl(a, b))
__SI_NUMBER(shli, vec_uint4, spu_sl(a, (unsigned int)imm))
__SI_NUMBER(shlhi, vec_ushort8, spu_sl(a, (unsigned short)imm))
__SI2(rot, vec_uint4, spu_rl(a, (vec_int4)b))
__SI2(roth, vec_ushort8, spu_rl(a, (vec_short8)b))
__SI_NUMBER(roti, vec_uint4, spu_rl(a, imm))
__SI_NUMBER(rothi, vec_ushort8, spu_rl(a, (short)imm))
__SI2(rotm, vec_uint4, spu_rlmask(a, (vec_int4)b))
__SI2(rothm, vec_ushort8, spu_rlmask(a, (vec_short8)b))
__SI_NUMBER(rotmi, vec_uint4, spu_rlmask(a, imm))
__SI_NUMBER(rothmi, vec_ushort8, spu_rlmask(a, (short)imm))
__SI2(rotma, vec_int4, spu_rlmaska(a, b))
__SI2(rotmah, vec_short8, spu_rlmaska(a, b))
__SI_NUMBER(rotmai, vec_int4, spu_rlmaska(a, imm))
__SI_NUMBER(rotmahi, vec_short8, spu_rlmaska(a, (short)imm))
__SI_COUNT(shlqbi, spu_slqw(a, count))
__SI_COUNT(shlqby, spu_slqwbyte(a, count))
__SI_COUNT(shlqbybi, spu_slqwbytebc(a, count))
__SI_NUMBER(shlqbii, vec_uint4, spu_slqw(a, imm))
__SI_NUMBER(shlqbyi, vec_uint4, spu_slqwbyte(a, imm))
__SI_COUNT(rotqbi, spu_rlqw(a, count))
__SI_COUNT(rotqby, spu_rlqwbyte(a, count))
__SI_COUNT(rotqbybi, spu_rlqwbytebc(a, count))
__SI_NUMBER(rotqbii, vec_uint4, spu_rlqw(a, imm))
__SI_NUMBER(rotqbyi, vec_uint4, spu_rlqwbyte(a, imm))
__SI_COUNT(rotqmbi, spu_rlmaskqw(a, count))
__SI_COUNT(rotqmby, spu_rlmaskqwbyte(a, count))
__SI_COUNT(rotqmbybi, spu_rlmaskqwbytebc(a, count))
__SI_NUMBER(rotqmbii, vec_uint4, spu_rlmaskqw(a, imm))
__SI_NUMBER(rotqmbyi, vec_uint4, spu_rlmaskqwbyte(a, imm))

/* Comparisons. */
__SI2(ceq, vec_uint4, a == b)
__SI2(ceqh, vec_ushort8, a == b)
__SI2(ceqb, vec_uchar16, a == b)
__SI_NUMBER(ceqi, vec_int4, a == imm)
__SI_NUMBER(ceqhi, vec_short8, a == (short)imm)
__SI_NUMBER(ceqbi, vec_uchar16, a == (unsigned char)imm)
__SI2(cgt, vec_int4, a > b)
__SI2(cgth, vec_short8, a > b)
__SI2(cgtb, vec_char16, a > b)
__SI_NUMBER(cgti, vec_int4, a > imm)
__SI_NUMBER(cgthi, vec_short8, a > (short)imm)
__SI_NUMBER(cgtbi, vec_char16, a > (signed char)imm)
__SI2(clgt, vec_uint4, a > b)
__SI2(clgth, vec_ushort8, a > b)
__SI2(clgtb, vec_uchar16, a > b)
__SI_NUMBER(clgti, vec_uint4, a > (unsigned int)imm)
__SI_NUMBER(clgthi, vec_ushort8, a > (unsigned short)imm)
__SI_NUMBER(clgtbi, vec_uchar16, a > (unsigned char)imm)
#define si_heq(a, b) spu_hcmpeq((a)[0], (b)[0])
#define si_heqi(a, imm) spu_hcmpeq((int)(a)[0], (imm))
#define si_hgt(a, b) spu_hcmpgt((int)(a)[0], (int)(b)[0])
#define si_hgti(a, imm) spu_hcmpgt((int)(a)[0], (imm))
#define si_hlgt(a, b) spu_hcmpgt((a)[0], (b)[0])
#define si_hlgti(a, imm) spu_hcmpgt((a)[0], (unsigned int)(imm))

/* Floating point. */
__SI2(fa, vec_float4, a + b)
__SI2(fs, vec_float4, a - b)
__SI2(fm, vec_float4, a *b)
__SI3(fma, vec_float4, vec_float4, spu_madd(a, b, c))
__SI3(fms, vec_float4, vec_float4, spu_msub(a, b, c))
__SI3(fnms, vec_float4, vec_float4, spu_nmsub(a, b, c))
__SI2(dfa, vec_double2, a + b)
__SI2(dfs, vec_double2, a - b)
__SI2(dfm, vec_double2, a *b)
__SI3(dfma, vec_double2, vec_double2, spu_madd(a, b, c))
__SI3(dfms, vec_double2, vec_double2, spu_msub(a, b, c))
__SI3(dfnms, vec_double2, vec_double2, spu_nmsub(a, b, c))
__SI3(dfnma, vec_double2, vec_double2, spu_nmadd(a, b, c))
__SI1(frest, vec_float4, spu_re(a))
__SI1(frsqest, vec_float4, spu_rsqrte(a))
/* The estimate, which is exact here, interpolated. */
#define si_fi(a, estimate) ((void)(a), (qword)(estimate))
__SI_NUMBER(csflt, vec_int4, spu_convtf(a, imm))
__SI_NUMBER(cuflt, vec_uint4, spu_convtf(a, imm))
__SI_NUMBER(cflts, vec_float4, spu_convts(a, imm))
__SI_NUMBER(cfltu, vec_float4, spu_convtu(a, imm))
__SI1(frds, vec_double2, spu_roundtf(a))
__SI1(fesd, vec_float4, spu_extend(a))
__SI2(fceq, vec_float4, spu_cmpeq(a, b))
__SI2(fcgt, vec_float4, spu_cmpgt(a, b))
__SI2(fcmeq, vec_float4, spu_cmpabseq(a, b))
__SI2(fcmgt, vec_float4, spu_cmpabsgt(a, b))
__SI2(dfceq, vec_double2, spu_cmpeq(a, b))
__SI2(dfcgt, vec_double2, spu_cmpgt(a, b))
__SI2(dfcmeq, vec_double2, spu_cmpabseq(a, b))
__SI2(dfcmgt, vec_double2, spu_cmpabsgt(a, b))
__SI_NUMBER(dftsv, vec_double2, spu_testsv(a, (unsigned int)imm))
#define si_fscrrd() ((qword)spu_mffpscr())
#define si_fscrwr(a) spu_mtfpscr(a)

/* Scalars in the preferred slot. */
#define __SI_SCALAR(name, S, T)                   \
    __SPU_INLINE qword si_from_##name(S value)    \
    {                                             \
        T vector_of = {0};                        \
        vector_of[0] = value;                     \
        return (qword)vector_of;                  \
    }                                             \
    __SPU_INLINE S si_to_##name(qword a)          \
    {                                             \
        return (S)((T)a)[0];                      \
    }
__SI_SCALAR(char, signed char, vec_int4)
__SI_SCALAR(uchar, unsigned char, vec_uint4)
__SI_SCALAR(short, short, vec_int4)
__SI_SCALAR(ushort, unsigned short, vec_uint4)
__SI_SCALAR(int, int, vec_int4)
__SI_SCALAR(uint, unsigned int, vec_uint4)
__SI_SCALAR(llong, long long, vec_llong2)
__SI_SCALAR(ullong, unsigned long long, vec_ullong2)
__SI_SCALAR(float, float, vec_float4)
__SI_SCALAR(double, double, vec_double2)
#undef __SI_SCALAR

/* Memory: a local-store address is the low half of a pointer. */
__SPU_INLINE qword *__si_at(unsigned int address)
{
    return (qword *)(uintptr_t)(__seatmap_spu.store + (address & ~15u));
}
__SPU_INLINE qword si_from_ptr(const volatile void *pointer)
{
    return si_from_uint((unsigned int)(uintptr_t)pointer);
}
__SPU_INLINE void *si_to_ptr(qword a)
{
    return (void *)(uintptr_t)(__seatmap_spu.store + a[0]);
}
#define si_lqa(imm) (*__si_at((unsigned int)(uintptr_t)(imm)))
#define si_lqr(imm) si_lqa(imm)
#define si_lqd(a, imm) (*__si_at((a)[0] + (unsigned int)(imm)))
#define si_lqx(a, b) (*__si_at((a)[0] + (b)[0]))
#define si_stqa(value, imm) ((void)(si_lqa(imm) = (value)))
#define si_stqr(value, imm) si_stqa(value, imm)
#define si_stqd(value, a, imm) ((void)(si_lqd(a, imm) = (value)))
#define si_stqx(value, a, b) ((void)(si_lqx(a, b) = (value)))
/* Patterns that put the preferred slot's bytes into a quadword, at an address. */
__SPU_INLINE qword __si_insertion(unsigned int address, unsigned int size)
{
    vec_uchar16 pattern = {16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    unsigned int first = address & 15 & ~(size - 1);
    for (unsigned int at = 0; at < size; at++)
        pattern[first + at] = (unsigned char)((size < 4 ? 4 - size : 0) + at);
    return (qword)pattern;
}
#define si_cbd(a, imm) __si_insertion((a)[0] + (unsigned int)(imm), 1)
#define si_chd(a, imm) __si_insertion((a)[0] + (unsigned int)(imm), 2)
#define si_cwd(a, imm) __si_insertion((a)[0] + (unsigned int)(imm), 4)
#define si_cdd(a, imm) __si_insertion((a)[0] + (unsigned int)(imm), 8)
#define si_cbx(a, b) __si_insertion((a)[0] + (b)[0], 1)
#define si_chx(a, b) __si_insertion((a)[0] + (b)[0], 2)
#define si_cwx(a, b) __si_insertion((a)[0] + (b)[0], 4)
#define si_cdx(a, b) __si_insertion((a)[0] + (b)[0], 8)

/* Channels and control. */
#define si_rdch(channel) si_from_uint(spu_readch(channel))
#define si_rchcnt(channel) si_from_uint(spu_readchcnt(channel))
#define si_wrch(channel, a) spu_writech((channel), (a)[0])
#define si_stop(code) spu_stop(code)
#define si_stopd(a, b, c) spu_stopd(a, b, c)
#define si_nop() ((void)0)
#define si_lnop() ((void)0)
#define si_sync() spu_sync()
#define si_syncc() spu_sync_c()
#define si_dsync() spu_dsync()
#define si_mfspr(number) si_from_uint(spu_mfspr(number))
#define si_mtspr(number, a) spu_mtspr((number), (a)[0])

#undef __SI1
#undef __SI2
#undef __SI3
#undef __SI_NUMBER
#undef __SI_COUNT

#ifdef __cplusplus
}
#endif

#endif
