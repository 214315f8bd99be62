/* Part of altivec.h: bits, shifts, and elements of other places and widths. */
#ifndef SEATMAP_ALTIVEC_BITS_H
#define SEATMAP_ALTIVEC_BITS_H

#define __VEC_BITWISE(a, b, expression) ((__VEC_T(a, b))(expression))
#define __of_vec_and(a, b) __VEC_BITWISE(a, b, (vec_uint4)(a) & (vec_uint4)(b))
__SPU_GENERIC2(vec_and, __VEC_RESULT)
#define vec_and(a, b) __SPU_APPLY2(vec_and, a, b)
#define __of_vec_or(a, b) __VEC_BITWISE(a, b, (vec_uint4)(a) | (vec_uint4)(b))
__SPU_GENERIC2(vec_or, __VEC_RESULT)
#define vec_or(a, b) __SPU_APPLY2(vec_or, a, b)
#define __of_vec_xor(a, b) __VEC_BITWISE(a, b, (vec_uint4)(a) ^ (vec_uint4)(b))
__SPU_GENERIC2(vec_xor, __VEC_RESULT)
#define vec_xor(a, b) __SPU_APPLY2(vec_xor, a, b)
#define __of_vec_andc(a, b) __VEC_BITWISE(a, b, (vec_uint4)(a) & ~(vec_uint4)(b))
__SPU_GENERIC2(vec_andc, __VEC_RESULT)
#define vec_andc(a, b) __SPU_APPLY2(vec_andc, a, b)
#define __of_vec_nor(a, b) __VEC_BITWISE(a, b, ~((vec_uint4)(a) | (vec_uint4)(b)))
__SPU_GENERIC2(vec_nor, __VEC_RESULT)
#define vec_nor(a, b) __SPU_APPLY2(vec_nor, a, b)
#define __of_vec_sel(a, b, mask) \
    ((__VEC_T(a, b))__spu_sel((vec_ullong2)(a), (vec_ullong2)(b), (vec_ullong2)(mask)))
__SPU_GENERIC3(vec_sel, __VEC_RESULT)
#define vec_sel(a, b, mask) __SPU_APPLY3(vec_sel, a, b, mask)

/* Shifts of each element, by a count that its width masks. */
#define __VEC_COUNT(a, b) ((__SPU_U(a))(b) & (__SPU_ARG(__SPU_U(a), __SPU_BITS(a) - 1)))
#define __of_vec_sl(a, b) ((__SPU_T(a))((__SPU_U(a))(a) << __VEC_COUNT(a, b)))
__SPU_GENERIC2(vec_sl, __SPU_AS_A)
#define vec_sl(a, b) __SPU_APPLY2(vec_sl, a, b)
#define __of_vec_sr(a, b) ((__SPU_T(a))((__SPU_U(a))(a) >> __VEC_COUNT(a, b)))
__SPU_GENERIC2(vec_sr, __SPU_AS_A)
#define vec_sr(a, b) __SPU_APPLY2(vec_sr, a, b)
#define __of_vec_sra(a, b) ((__SPU_T(a))((__SPU_S(a))(a) >> (__SPU_S(a))__VEC_COUNT(a, b)))
__SPU_GENERIC2(vec_sra, __SPU_AS_A)
#define vec_sra(a, b) __SPU_APPLY2(vec_sra, a, b)
#define __of_vec_rl(a, b) \
    ((__SPU_T(a))((__SPU_U(a))(a) << __VEC_COUNT(a, b) | (__SPU_U(a))(a) >> __VEC_COUNT(a, -(__SPU_U(a))(b))))
__SPU_GENERIC2(vec_rl, __SPU_AS_A)
#define vec_rl(a, b) __SPU_APPLY2(vec_rl, a, b)

/* Shifts of the whole quadword: by bits or bytes, which the last byte of the second one counts. */
#define __VEC_LAST_BYTE(b) ((unsigned char)(b)[__SPU_LAST(b)])
#define __of_vec_sll(a, b) \
    ((__SPU_T(a))__spu_slqw((vec_uchar16)(a), __VEC_LAST_BYTE(b) & 7, sizeof((a)[0])))
__SPU_GENERIC2(vec_sll, __SPU_AS_A)
#define vec_sll(a, b) __SPU_APPLY2(vec_sll, a, b)
#define __of_vec_srl(a, b) \
    ((__SPU_T(a))__spu_srqw((vec_uchar16)(a), __VEC_LAST_BYTE(b) & 7, sizeof((a)[0])))
__SPU_GENERIC2(vec_srl, __SPU_AS_A)
#define vec_srl(a, b) __SPU_APPLY2(vec_srl, a, b)
/* A float's last byte is one of its bits. */
#define __VEC_BYTES(b) (sizeof((b)[0]) == 4 ? (int)(((vec_uint4)(b))[3] >> 3 & 15) : (int)(__VEC_LAST_BYTE(b) >> 3 & 15))
#define __of_vec_slo(a, b) \
    ((__SPU_T(a))__spu_move_bytes((vec_uchar16)(a), __VEC_BYTES(b), sizeof((a)[0])))
__SPU_GENERIC2(vec_slo, __SPU_AS_A)
#define vec_slo(a, b) __SPU_APPLY2(vec_slo, a, b)
#define __of_vec_sro(a, b) \
    ((__SPU_T(a))__spu_move_bytes((vec_uchar16)(a), -__VEC_BYTES(b), sizeof((a)[0])))
__SPU_GENERIC2(vec_sro, __SPU_AS_A)
#define vec_sro(a, b) __SPU_APPLY2(vec_sro, a, b)

/* Bytes of two vectors by a pattern, of which five bits count. */
__SPU_INLINE vec_uchar16 __vec_perm(vec_uchar16 a, vec_uchar16 b, vec_uchar16 pattern, unsigned int size)
{
    return __builtin_shuffle(a, b, (__spu_order(pattern, size) & 31) ^ (unsigned char)(size - 1));
}
#define __of_vec_perm(a, b, pattern) \
    ((__SPU_T(a))__vec_perm((vec_uchar16)(a), (vec_uchar16)(b), (vec_uchar16)(pattern), sizeof((a)[0])))
__SPU_GENERIC3(vec_perm, __SPU_AS_A)
#define vec_perm(a, b, pattern) __SPU_APPLY3(vec_perm, a, b, pattern)
__SPU_INLINE vec_uchar16 __vec_places(unsigned int first)
{
    vec_uchar16 places = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return places + (unsigned char)first;
}
__SPU_INLINE vec_uchar16 __vec_sld(vec_uchar16 a, vec_uchar16 b, unsigned int count, unsigned int size)
{
    vec_uchar16 at = __spu_order(__vec_places(count & 15), size);
    return __builtin_shuffle(a, b, at ^ (unsigned char)(size - 1));
}
#define __of_vec_sld(a, b, count) \
    ((__SPU_T(a))__vec_sld((vec_uchar16)(a), (vec_uchar16)(b), (unsigned int)(count), sizeof((a)[0])))
__SPU_GENERIC3(vec_sld, __SPU_AS_A)
#define vec_sld(a, b, count) __SPU_APPLY3(vec_sld, a, b, count)
/* Elements in turn, of the first or the second halves. */
__SPU_INLINE vec_uchar16 __vec_merge(vec_uchar16 a, vec_uchar16 b, unsigned int first, unsigned int size)
{
    vec_uchar16 pattern;
    for (unsigned int at = 0; at < 16; at++)
        pattern[at] = (unsigned char)(first + at / (2 * size) * size + at % size + (at / size % 2) * 16);
    return __builtin_shuffle(a, b, pattern);
}
#define __of_vec_mergeh(a, b) ((__SPU_T(a))__vec_merge((vec_uchar16)(a), (vec_uchar16)(b), 0, sizeof((a)[0])))
__SPU_GENERIC2(vec_mergeh, __SPU_AS_A)
#define vec_mergeh(a, b) __SPU_APPLY2(vec_mergeh, a, b)
#define __of_vec_mergel(a, b) ((__SPU_T(a))__vec_merge((vec_uchar16)(a), (vec_uchar16)(b), 8, sizeof((a)[0])))
__SPU_GENERIC2(vec_mergel, __SPU_AS_A)
#define vec_mergel(a, b) __SPU_APPLY2(vec_mergel, a, b)

/* Elements of two vectors in one of half their width: around the end, bounded, and bounded without a sign. */
#define __VEC_PACK(name, kind, T, R, E, expression)          \
    __SPU_INLINE R __SPU_NAME(name, kind)(T a, T b)          \
    {                                                        \
        R r;                                                 \
        for (int at = 0; at < __VEC_ELEMENTS(r); at++) {     \
            int half = __VEC_ELEMENTS(a);                    \
            long long x = at < half ? a[at] : b[at - half];  \
            r[at] = (E)(expression);                         \
        }                                                    \
        return r;                                            \
    }
__VEC_PACK(__vec_pack, us, vec_ushort8, vec_uchar16, unsigned char, x)
__VEC_PACK(__vec_pack, ss, vec_short8, vec_char16, signed char, x)
__VEC_PACK(__vec_pack, ui, vec_uint4, vec_ushort8, unsigned short, x)
__VEC_PACK(__vec_pack, si, vec_int4, vec_short8, short, x)
__VEC_PACK(__vec_packs, us, vec_ushort8, vec_uchar16, unsigned char, __vec_bounded(x, 0, 255))
__VEC_PACK(__vec_packs, ss, vec_short8, vec_char16, signed char, __vec_bounded(x, -128, 127))
__VEC_PACK(__vec_packs, ui, vec_uint4, vec_ushort8, unsigned short, __vec_bounded(x, 0, 65535))
__VEC_PACK(__vec_packs, si, vec_int4, vec_short8, short, __vec_bounded(x, -32768, 32767))
__VEC_PACK(__vec_packsu, us, vec_ushort8, vec_uchar16, unsigned char, __vec_bounded(x, 0, 255))
__VEC_PACK(__vec_packsu, ss, vec_short8, vec_uchar16, unsigned char, __vec_bounded(x, 0, 255))
__VEC_PACK(__vec_packsu, ui, vec_uint4, vec_ushort8, unsigned short, __vec_bounded(x, 0, 65535))
__VEC_PACK(__vec_packsu, si, vec_int4, vec_ushort8, unsigned short, __vec_bounded(x, 0, 65535))
#undef __VEC_PACK
#ifdef __cplusplus
#define vec_pack(a, b) __vec_pack((a), (b))
#define vec_packs(a, b) __vec_packs((a), (b))
#define vec_packsu(a, b) __vec_packsu((a), (b))
#else
#define __VEC_BY_BROAD(name, v) \
    _Generic((v)[0], unsigned short : name##_us, short : name##_ss, unsigned int : name##_ui, int : name##_si)
#define __of_vec_pack(a, b) (__VEC_BY_BROAD(__vec_pack, a)((a), (b)))
#define vec_pack(a, b) __SPU_APPLY2(vec_pack, a, b)
#define __of_vec_packs(a, b) (__VEC_BY_BROAD(__vec_packs, a)((a), (b)))
#define vec_packs(a, b) __SPU_APPLY2(vec_packs, a, b)
#define __of_vec_packsu(a, b) (__VEC_BY_BROAD(__vec_packsu, a)((a), (b)))
#define vec_packsu(a, b) __SPU_APPLY2(vec_packsu, a, b)
#endif
/* Pixels of 1, 5, 5 and 5 bits, from the upper bits of bytes. */
__SPU_INLINE vec_pixel8 vec_packpx(vec_uint4 a, vec_uint4 b)
{
    vec_pixel8 r;
    for (int at = 0; at < 8; at++) {
        unsigned int x = at < 4 ? a[at] : b[at - 4];
        r[at] = (unsigned short)((x >> 9 & 0xfc00) | (x >> 6 & 0x3e0) | (x >> 3 & 0x1f));
    }
    return r;
}

/* The first or the last half of the elements, each of twice the width; truth values stay those. */
#define __VEC_UNPACK(kind, T, S, R, W)                             \
    __SPU_INLINE R __SPU_NAME(__vec_unpackh, kind)(T a)            \
    {                                                              \
        R r;                                                       \
        for (int at = 0; at < __VEC_ELEMENTS(r); at++)             \
            r[at] = (W)(S)a[at];                                   \
        return r;                                                  \
    }                                                              \
    __SPU_INLINE R __SPU_NAME(__vec_unpackl, kind)(T a)            \
    {                                                              \
        R r;                                                       \
        for (int at = 0; at < __VEC_ELEMENTS(r); at++)             \
            r[at] = (W)(S)a[at + __VEC_ELEMENTS(r)];               \
        return r;                                                  \
    }
__VEC_UNPACK(uc, vec_bchar16, signed char, vec_bshort8, unsigned short)
__VEC_UNPACK(sc, vec_char16, signed char, vec_short8, short)
__VEC_UNPACK(us, vec_bshort8, short, vec_bint4, unsigned int)
__VEC_UNPACK(ss, vec_short8, short, vec_int4, int)
#undef __VEC_UNPACK
#define __of_vec_unpackh(a) (__VEC_BY_NARROW(__vec_unpackh, a)(a))
__SPU_GENERIC1(vec_unpackh, __SPU_WIDE)
#define vec_unpackh(a) __SPU_APPLY1(vec_unpackh, a)
#define __of_vec_unpackl(a) (__VEC_BY_NARROW(__vec_unpackl, a)(a))
__SPU_GENERIC1(vec_unpackl, __SPU_WIDE)
#define vec_unpackl(a) __SPU_APPLY1(vec_unpackl, a)
/* Pixels have their own names: their type is that of truth values. */
__SPU_INLINE vec_uint4 __vec_pixels(vec_pixel8 a, int first)
{
    vec_uint4 r;
    for (int at = 0; at < 4; at++) {
        unsigned int x = a[first + at];
        r[at] = (x >> 15 ? 0xff000000u : 0) | (x >> 10 & 31) << 16 | (x >> 5 & 31) << 8 | (x & 31);
    }
    return r;
}
#define vec_vupkhpx(a) __vec_pixels((a), 0)
#define vec_vupklpx(a) __vec_pixels((a), 4)

/* Single elements, and vectors of one number. */
#define __of_vec_extract(v, element) ((v)[(element) & (int)__SPU_LAST(v)])
__SPU_GENERIC2(vec_extract, __SPU_ELEMENT)
#define vec_extract(v, element) __SPU_APPLY2(vec_extract, v, element)
#define __of_vec_splat(v, element) __SPU_ARG(__SPU_T(v), __of_vec_extract(v, element))
__SPU_GENERIC2(vec_splat, __SPU_AS_A)
#define vec_splat(v, element) __SPU_APPLY2(vec_splat, v, element)
#define vec_splat_u8(n) ((vec_uchar16){0} + (unsigned char)(n))
#define vec_splat_s8(n) ((vec_char16){0} + (signed char)(n))
#define vec_splat_u16(n) ((vec_ushort8){0} + (unsigned short)(n))
#define vec_splat_s16(n) ((vec_short8){0} + (short)(n))
#define vec_splat_u32(n) ((vec_uint4){0} + (unsigned int)(n))
#define vec_splat_s32(n) ((vec_int4){0} + (int)(n))
#ifdef __cplusplus
template <class N, class V> __attribute__((always_inline)) static inline V __vec_insert(N s, V v, int element)
{
    v[element & (int)__SPU_LAST(v)] = s;
    return v;
}
#define vec_insert(s, v, element) __vec_insert((s), (v), (element))
#define __VEC_SPLATS(S, T)                                     \
    __SPU_INLINE T vec_splats(S s)                             \
    {                                                          \
        return (T){0} + s;                                     \
    }                                                          \
    __SPU_INLINE T vec_promote(S s, int element)               \
    {                                                          \
        return __vec_insert(s, (T){0}, element);               \
    }
__VEC_SPLATS(unsigned char, vec_uchar16)
__VEC_SPLATS(signed char, vec_char16)
__VEC_SPLATS(unsigned short, vec_ushort8)
__VEC_SPLATS(short, vec_short8)
__VEC_SPLATS(unsigned int, vec_uint4)
__VEC_SPLATS(int, vec_int4)
__VEC_SPLATS(float, vec_float4)
#undef __VEC_SPLATS
#else
#define __VEC_OF(s)                                                                                                \
    __typeof__(_Generic((s), unsigned char : (vec_uchar16){0}, signed char : (vec_char16){0}, char : (vec_char16){0}, \
                        unsigned short : (vec_ushort8){0}, short : (vec_short8){0}, unsigned int : (vec_uint4){0},  \
                        int : (vec_int4){0}, unsigned long : (vec_uint4){0}, long : (vec_int4){0},                  \
                        float : (vec_float4){0}))
#define __of_vec_splats(s) __SPU_ARG(__VEC_OF(s), s)
#define vec_splats(s) __SPU_APPLY1(vec_splats, s)
#define __of_vec_insert(s, v, element)                         \
    ({                                                         \
        __SPU_T(v) __vec_inserted = (v);                       \
        __vec_inserted[(element) & (int)__SPU_LAST(v)] = (s);  \
        __vec_inserted;                                        \
    })
#define vec_insert(s, v, element) __SPU_APPLY3(vec_insert, s, v, element)
#define __of_vec_promote(s, element) __of_vec_insert(s, ((__VEC_OF(s)){0}), element)
#define vec_promote(s, element) __SPU_APPLY2(vec_promote, s, element)
#endif

#endif
