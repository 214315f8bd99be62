/* Part of spu_intrinsics.h: bits, shifts and rotations, shuffles and shifts of whole quadwords. */
#ifndef SEATMAP_VECTOR_BITS_H
#define SEATMAP_VECTOR_BITS_H

#define __of_spu_and(a, b) ((__SPU_T(a))((__SPU_U(a))(a) & (__SPU_U(a))__SPU_ARG(__SPU_T(a), b)))
__SPU_GENERIC2(spu_and, __SPU_AS_A)
#define spu_and(a, b) __SPU_APPLY2(spu_and, a, b)
#define __of_spu_or(a, b) ((__SPU_T(a))((__SPU_U(a))(a) | (__SPU_U(a))__SPU_ARG(__SPU_T(a), b)))
__SPU_GENERIC2(spu_or, __SPU_AS_A)
#define spu_or(a, b) __SPU_APPLY2(spu_or, a, b)
#define __of_spu_xor(a, b) ((__SPU_T(a))((__SPU_U(a))(a) ^ (__SPU_U(a))__SPU_ARG(__SPU_T(a), b)))
__SPU_GENERIC2(spu_xor, __SPU_AS_A)
#define spu_xor(a, b) __SPU_APPLY2(spu_xor, a, b)
#define __of_spu_andc(a, b) ((__SPU_T(a))((__SPU_U(a))(a) & ~(__SPU_U(a))(b)))
__SPU_GENERIC2(spu_andc, __SPU_AS_A)
#define spu_andc(a, b) __SPU_APPLY2(spu_andc, a, b)
#define __of_spu_orc(a, b) ((__SPU_T(a))((__SPU_U(a))(a) | ~(__SPU_U(a))(b)))
__SPU_GENERIC2(spu_orc, __SPU_AS_A)
#define spu_orc(a, b) __SPU_APPLY2(spu_orc, a, b)
#define __of_spu_nand(a, b) ((__SPU_T(a))~((__SPU_U(a))(a) & (__SPU_U(a))(b)))
__SPU_GENERIC2(spu_nand, __SPU_AS_A)
#define spu_nand(a, b) __SPU_APPLY2(spu_nand, a, b)
#define __of_spu_nor(a, b) ((__SPU_T(a))~((__SPU_U(a))(a) | (__SPU_U(a))(b)))
__SPU_GENERIC2(spu_nor, __SPU_AS_A)
#define spu_nor(a, b) __SPU_APPLY2(spu_nor, a, b)
#define __of_spu_eqv(a, b) ((__SPU_T(a))~((__SPU_U(a))(a) ^ (__SPU_U(a))(b)))
__SPU_GENERIC2(spu_eqv, __SPU_AS_A)
#define spu_eqv(a, b) __SPU_APPLY2(spu_eqv, a, b)
__SPU_INLINE vec_ullong2 __spu_sel(vec_ullong2 a, vec_ullong2 b, vec_ullong2 pattern)
{
    return (a & ~pattern) | (b & pattern);
}
#define __of_spu_sel(a, b, pattern) ((__SPU_T(a))__spu_sel((vec_ullong2)(a), (vec_ullong2)(b), (vec_ullong2)(pattern)))
__SPU_GENERIC3(spu_sel, __SPU_AS_A)
#define spu_sel(a, b, pattern) __SPU_APPLY3(spu_sel, a, b, pattern)
__SPU_INLINE vec_uint4 __spu_orx(vec_uint4 a)
{
    return (vec_uint4){a[0] | a[1] | a[2] | a[3], 0, 0, 0};
}
#define __of_spu_orx(a) ((__SPU_T(a))__spu_orx((vec_uint4)(a)))
__SPU_GENERIC1(spu_orx, __SPU_AS_A)
#define spu_orx(a) __SPU_APPLY1(spu_orx, a)
__SPU_INLINE vec_uint4 __spu_cntlz(vec_uint4 a)
{
    vec_uint4 counts;
    for (int i = 0; i < 4; i++)
        counts[i] = a[i] ? (unsigned int)__builtin_clz(a[i]) : 32;
    return counts;
}
#define spu_cntlz(a) __spu_cntlz((vec_uint4)(a))
__SPU_INLINE vec_uchar16 __spu_cntb(vec_uchar16 a)
{
    vec_uchar16 ones = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    vec_uchar16 upper = (vec_uchar16)((vec_ushort8)a >> 4) & 15;
    return __spu_pick(ones, a & 15) + __spu_pick(ones, upper);
}
#define spu_cntb(a) __spu_cntb((vec_uchar16)(a))

/* The lowest bit of each element, gathered into the low bits of element 0: element 0 gives the highest. */
__SPU_INLINE vec_uint4 __spu_gather(vec_uchar16 a, unsigned int size)
{
    vec_uchar16 turned = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, last;
    unsigned int bits;
    for (unsigned int i = 0; i < 16; i++)
        turned[i] = i * size < 16 ? (unsigned char)((16 / size - 1 - i) * size) : 0x80;
    last = __spu_pick(a, turned);
    bits = (unsigned int)__builtin_ia32_pmovmskb128((__spu_x86_bytes)((vec_ushort8)last << 7));
    return (vec_uint4){bits, 0, 0, 0};
}
#define __of_spu_gather(a) __spu_gather((vec_uchar16)(a), sizeof((a)[0]))
__SPU_GENERIC1(spu_gather, vec_uint4)
#define spu_gather(a) __SPU_APPLY1(spu_gather, a)
/* Elements of ones where a bit is set: the highest bit for element 0. */
__SPU_INLINE vec_uchar16 spu_maskb(unsigned short bits)
{
    vec_uchar16 each = {128, 64, 32, 16, 8, 4, 2, 1, 128, 64, 32, 16, 8, 4, 2, 1}, all;
    for (int i = 0; i < 16; i++)
        all[i] = (unsigned char)(i < 8 ? bits >> 8 : bits);
    return (vec_uchar16)((all & each) == each);
}
__SPU_INLINE vec_ushort8 spu_maskh(unsigned char bits)
{
    vec_ushort8 each = {128, 64, 32, 16, 8, 4, 2, 1};
    return (vec_ushort8)((each & bits) == each);
}
__SPU_INLINE vec_uint4 spu_maskw(unsigned char bits)
{
    vec_uint4 each = {8, 4, 2, 1};
    return (vec_uint4)((each & bits) == each);
}

/* Shifts and rotations of halfwords and words. Counts are masked as the SPU masks them: to twice the width, so that
 * larger ones leave nothing. */
#define __SPU_IS_KNOWN(v) __builtin_constant_p((v)[0] | (v)[1] | (v)[2] | (v)[3])
#ifdef __AVX2__
/* The processor masks counts like the SPU. The compiler makes better instructions of known counts. */
#define __SPU_BY_PROCESSOR(instruction)                                                           \
    if (!__SPU_IS_KNOWN(count))                                                                   \
        return (vec_uint4)instruction((__spu_x86_words)a, (__spu_x86_words)count);
#else
#define __SPU_BY_PROCESSOR(instruction)
#endif
__SPU_INLINE vec_uint4 __spu_left_words(vec_uint4 a, vec_uint4 count)
{
    __SPU_BY_PROCESSOR(__builtin_ia32_psllv4si)
    return (a << (count & 31)) & (vec_uint4)(count < 32);
}
__SPU_INLINE vec_uint4 __spu_right_words(vec_uint4 a, vec_uint4 count)
{
    __SPU_BY_PROCESSOR(__builtin_ia32_psrlv4si)
    return (a >> (count & 31)) & (vec_uint4)(count < 32);
}
__SPU_INLINE vec_uint4 __spu_signed_words(vec_uint4 a, vec_uint4 count)
{
    __SPU_BY_PROCESSOR(__builtin_ia32_psrav4si)
    vec_uint4 over = (vec_uint4)(count > 31);
    return (vec_uint4)((vec_int4)a >> (vec_int4)((count | over) & 31));
}
#undef __SPU_BY_PROCESSOR
__SPU_INLINE vec_ushort8 __spu_left_halves(vec_ushort8 a, vec_ushort8 count)
{
    return (a << (count & 15)) & (vec_ushort8)(count < 16);
}
__SPU_INLINE vec_ushort8 __spu_right_halves(vec_ushort8 a, vec_ushort8 count)
{
    return (a >> (count & 15)) & (vec_ushort8)(count < 16);
}
__SPU_INLINE vec_ushort8 __spu_signed_halves(vec_ushort8 a, vec_ushort8 count)
{
    vec_ushort8 over = (vec_ushort8)(count > 15);
    return (vec_ushort8)((vec_short8)a >> (vec_short8)((count | over) & 15));
}
#define __SPU_SHIFTS(name, halves, words)                                              \
    __SPU_INLINE vec_uchar16 name(vec_uchar16 a, vec_uchar16 b, unsigned int size)     \
    {                                                                                  \
        vec_ushort8 half = (vec_ushort8)a, by_half = (vec_ushort8)b;                   \
        vec_uint4 word = (vec_uint4)a, by_word = (vec_uint4)b;                         \
        return size == 2 ? (vec_uchar16)(halves) : (vec_uchar16)(words);               \
    }
__SPU_SHIFTS(__spu_sl, __spu_left_halves(half, by_half & 31), __spu_left_words(word, by_word & 63))
__SPU_SHIFTS(__spu_rlmask, __spu_right_halves(half, -by_half & 31), __spu_right_words(word, -by_word & 63))
__SPU_SHIFTS(__spu_rlmaska, __spu_signed_halves(half, -by_half & 31), __spu_signed_words(word, -by_word & 63))
__SPU_SHIFTS(__spu_sr, __spu_right_halves(half, by_half & 31), __spu_right_words(word, by_word & 63))
__SPU_SHIFTS(__spu_sra, __spu_signed_halves(half, by_half & 31), __spu_signed_words(word, by_word & 63))
__SPU_SHIFTS(__spu_rl, half << (by_half & 15) | half >> (-by_half & 15), word << (by_word & 31) | word >> (-by_word & 31))
#undef __SPU_SHIFTS
#define __SPU_SHIFTED(name, a, b) \
    ((__SPU_T(a))name((vec_uchar16)(a), (vec_uchar16)__SPU_ARG(__SPU_S(a), b), sizeof((a)[0])))
#define __of_spu_sl(a, b) __SPU_SHIFTED(__spu_sl, a, b)
__SPU_GENERIC2(spu_sl, __SPU_AS_A)
#define spu_sl(a, b) __SPU_APPLY2(spu_sl, a, b)
#define __of_spu_rl(a, b) __SPU_SHIFTED(__spu_rl, a, b)
__SPU_GENERIC2(spu_rl, __SPU_AS_A)
#define spu_rl(a, b) __SPU_APPLY2(spu_rl, a, b)
#define __of_spu_rlmask(a, b) __SPU_SHIFTED(__spu_rlmask, a, b)
__SPU_GENERIC2(spu_rlmask, __SPU_AS_A)
#define spu_rlmask(a, b) __SPU_APPLY2(spu_rlmask, a, b)
#define __of_spu_rlmaska(a, b) __SPU_SHIFTED(__spu_rlmaska, a, b)
__SPU_GENERIC2(spu_rlmaska, __SPU_AS_A)
#define spu_rlmaska(a, b) __SPU_APPLY2(spu_rlmaska, a, b)
#define __of_spu_sr(a, b) __SPU_SHIFTED(__spu_sr, a, b)
__SPU_GENERIC2(spu_sr, __SPU_AS_A)
#define spu_sr(a, b) __SPU_APPLY2(spu_sr, a, b)
#define __of_spu_sra(a, b) __SPU_SHIFTED(__spu_sra, a, b)
__SPU_GENERIC2(spu_sra, __SPU_AS_A)
#define spu_sra(a, b) __SPU_APPLY2(spu_sra, a, b)

/* Bytes of two quadwords by a pattern. Bytes of it from 0x80, 0xc0 and 0xe0 mean 0, 0xff and 0x80. */
__SPU_INLINE vec_uchar16 __spu_shuffle(vec_uchar16 a, vec_uchar16 b, vec_uchar16 pattern, unsigned int size)
{
    vec_uchar16 at = __spu_order(pattern, size);
    vec_uchar16 picked = __builtin_shuffle(a, b, (at & 31) ^ (unsigned char)(size - 1));
    vec_uchar16 ones = (vec_uchar16)((at & 0xe0) == 0xc0), high = (vec_uchar16)((at & 0xe0) == 0xe0);
    return (picked & (vec_uchar16)(at < 128)) | ones | (high & 0x80);
}
#define __of_spu_shuffle(a, b, pattern) \
    ((__SPU_T(a))__spu_shuffle((vec_uchar16)(a), (vec_uchar16)(b), (vec_uchar16)(pattern), sizeof((a)[0])))
__SPU_GENERIC3(spu_shuffle, __SPU_AS_A)
#define spu_shuffle(a, b, pattern) __SPU_APPLY3(spu_shuffle, a, b, pattern)

/* The places of a quadword's bytes, as the SPU numbers them. */
__SPU_INLINE vec_uchar16 __spu_places(unsigned int size)
{
    vec_uchar16 places = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return places ^ (unsigned char)(size - 1);
}
/* Bytes moved to the left by up to 31, or to the right by a negative count; the others are zero. */
__SPU_INLINE vec_uchar16 __spu_move_bytes(vec_uchar16 a, int count, unsigned int size)
{
    vec_uchar16 from = __spu_places(size) + (unsigned char)count;
    return __spu_pick(a, (from ^ (unsigned char)(size - 1)) | (vec_uchar16)(from > 15));
}
__SPU_INLINE vec_uchar16 __spu_turn_bytes(vec_uchar16 a, int count, unsigned int size)
{
    vec_uchar16 from = (__spu_places(size) + (unsigned char)count) & 15;
    return __spu_pick(a, from ^ (unsigned char)(size - 1));
}
/* Bits moved by up to seven: each byte gets the rest from the byte behind it. */
__SPU_INLINE vec_uchar16 __spu_left_bits(vec_uchar16 a, vec_uchar16 behind, int count)
{
    vec_ushort8 low = (vec_ushort8)(vec_uchar16)(a & (unsigned char)(0xff >> count)) << count;
    vec_ushort8 high = ((vec_ushort8)behind >> (8 - count)) & (unsigned short)((0xff >> (8 - count)) * 0x101);
    return (vec_uchar16)(low | high);
}
__SPU_INLINE vec_uchar16 __spu_right_bits(vec_uchar16 a, vec_uchar16 before, int count)
{
    vec_ushort8 high = ((vec_ushort8)a >> count) & (unsigned short)((0xff >> count) * 0x101);
    vec_ushort8 low = (vec_ushort8)(vec_uchar16)(before & (unsigned char)((1 << count) - 1)) << (8 - count);
    return (vec_uchar16)(high | low);
}
__SPU_INLINE vec_uchar16 __spu_slqw(vec_uchar16 a, int count, unsigned int size)
{
    return __spu_left_bits(a, __spu_move_bytes(a, 1, size), count & 7);
}
__SPU_INLINE vec_uchar16 __spu_rlqw(vec_uchar16 a, int count, unsigned int size)
{
    return __spu_left_bits(a, __spu_turn_bytes(a, 1, size), count & 7);
}
__SPU_INLINE vec_uchar16 __spu_srqw(vec_uchar16 a, int count, unsigned int size)
{
    return __spu_right_bits(a, __spu_move_bytes(a, -1, size), count & 7);
}
#define __SPU_MOVED(name, a, count) ((__SPU_T(a))name((vec_uchar16)(a), (int)(count), sizeof((a)[0])))
#define __of_spu_slqw(a, count) __SPU_MOVED(__spu_slqw, a, count)
__SPU_GENERIC2(spu_slqw, __SPU_AS_A)
#define spu_slqw(a, count) __SPU_APPLY2(spu_slqw, a, count)
#define __of_spu_slqwbyte(a, count) __SPU_MOVED(__spu_move_bytes, a, (count) & 31)
__SPU_GENERIC2(spu_slqwbyte, __SPU_AS_A)
#define spu_slqwbyte(a, count) __SPU_APPLY2(spu_slqwbyte, a, count)
#define __of_spu_slqwbytebc(a, count) __SPU_MOVED(__spu_move_bytes, a, (count) >> 3 & 31)
__SPU_GENERIC2(spu_slqwbytebc, __SPU_AS_A)
#define spu_slqwbytebc(a, count) __SPU_APPLY2(spu_slqwbytebc, a, count)
#define __of_spu_rlqw(a, count) __SPU_MOVED(__spu_rlqw, a, count)
__SPU_GENERIC2(spu_rlqw, __SPU_AS_A)
#define spu_rlqw(a, count) __SPU_APPLY2(spu_rlqw, a, count)
#define __of_spu_rlqwbyte(a, count) __SPU_MOVED(__spu_turn_bytes, a, (count) & 15)
__SPU_GENERIC2(spu_rlqwbyte, __SPU_AS_A)
#define spu_rlqwbyte(a, count) __SPU_APPLY2(spu_rlqwbyte, a, count)
#define __of_spu_rlqwbytebc(a, count) __SPU_MOVED(__spu_turn_bytes, a, (count) >> 3 & 15)
__SPU_GENERIC2(spu_rlqwbytebc, __SPU_AS_A)
#define spu_rlqwbytebc(a, count) __SPU_APPLY2(spu_rlqwbytebc, a, count)
#define __of_spu_rlmaskqw(a, count) __SPU_MOVED(__spu_srqw, a, -(int)(count))
__SPU_GENERIC2(spu_rlmaskqw, __SPU_AS_A)
#define spu_rlmaskqw(a, count) __SPU_APPLY2(spu_rlmaskqw, a, count)
#define __of_spu_rlmaskqwbyte(a, count) __SPU_MOVED(__spu_move_bytes, a, -(-(int)(count) & 31))
__SPU_GENERIC2(spu_rlmaskqwbyte, __SPU_AS_A)
#define spu_rlmaskqwbyte(a, count) __SPU_APPLY2(spu_rlmaskqwbyte, a, count)
#define __of_spu_rlmaskqwbytebc(a, count) __SPU_MOVED(__spu_move_bytes, a, -(-((int)(count) >> 3) & 31))
__SPU_GENERIC2(spu_rlmaskqwbytebc, __SPU_AS_A)
#define spu_rlmaskqwbytebc(a, count) __SPU_APPLY2(spu_rlmaskqwbytebc, a, count)
#define __of_spu_srqw(a, count) __SPU_MOVED(__spu_srqw, a, count)
__SPU_GENERIC2(spu_srqw, __SPU_AS_A)
#define spu_srqw(a, count) __SPU_APPLY2(spu_srqw, a, count)
#define __of_spu_srqwbyte(a, count) __SPU_MOVED(__spu_move_bytes, a, -((int)(count) & 31))
__SPU_GENERIC2(spu_srqwbyte, __SPU_AS_A)
#define spu_srqwbyte(a, count) __SPU_APPLY2(spu_srqwbyte, a, count)
#define __of_spu_srqwbytebc(a, count) __SPU_MOVED(__spu_move_bytes, a, -((int)(count) >> 3 & 31))
__SPU_GENERIC2(spu_srqwbytebc, __SPU_AS_A)
#define spu_srqwbytebc(a, count) __SPU_APPLY2(spu_srqwbytebc, a, count)

#endif
