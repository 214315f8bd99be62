/* The SPU's vector intrinsics in element order, for C and C++: seatmap_vector.h says how elements and bytes lie.
 *
 * Each is a macro over helpers that work on one type or on bytes. Where the processor has one instruction for it, the
 * compiler uses that. A vector that is cast to one of another element size keeps this computer's byte order within
 * elements. */
#ifndef SPU_INTRINSICS_H
#define SPU_INTRINSICS_H

#ifdef __cplusplus
extern "C++" {
#endif

#include "seatmap_spu.h"
#include "seatmap_vector.h"

/* Any 16 bytes. The specific intrinsics (spu_internals.h) take them as four words. */
typedef vec_uint4 qword;

/* The helper for an element type, or the other one. */
#ifdef __cplusplus
#define __SPU_PICK(name, a, type, kind, other) name
#else
#define __SPU_PICK(name, a, type, kind, other) _Generic((a)[0], type : name##_##kind, default : name##_##other)
#endif

/* Scalars and elements. */
#define __SPU_TWICE(...) __VA_ARGS__, __VA_ARGS__
#define __SPU_SPLATS(kind, T, S, ...)                  \
    __SPU_INLINE T __SPU_NAME(__spu_splats, kind)(S s) \
    {                                                  \
        return (T){__VA_ARGS__};                       \
    }
__SPU_SPLATS(uc, vec_uchar16, unsigned char, __SPU_TWICE(s, s, s, s, s, s, s, s))
__SPU_SPLATS(sc, vec_char16, signed char, __SPU_TWICE(s, s, s, s, s, s, s, s))
__SPU_SPLATS(us, vec_ushort8, unsigned short, __SPU_TWICE(s, s, s, s))
__SPU_SPLATS(ss, vec_short8, short, __SPU_TWICE(s, s, s, s))
__SPU_SPLATS(ui, vec_uint4, unsigned int, s, s, s, s)
__SPU_SPLATS(si, vec_int4, int, s, s, s, s)
__SPU_SPLATS(ul, vec_ullong2, unsigned long long, s, s)
__SPU_SPLATS(sl, vec_llong2, long long, s, s)
__SPU_SPLATS(f, vec_float4, float, s, s, s, s)
__SPU_SPLATS(d, vec_double2, double, s, s)
#undef __SPU_SPLATS
#ifdef __cplusplus
__SPU_INLINE vec_char16 __spu_splats(char s)
{
    return __spu_splats((signed char)s);
}
__SPU_INLINE vec_ullong2 __spu_splats(unsigned long s)
{
    return __spu_splats((unsigned long long)s);
}
__SPU_INLINE vec_llong2 __spu_splats(long s)
{
    return __spu_splats((long long)s);
}
template <class N, class V> __attribute__((always_inline)) static inline V __spu_insert(N s, V v, int element)
{
    v[element & (int)__SPU_LAST(v)] = s;
    return v;
}
#define spu_splats(s) __spu_splats(s)
#define __of_spu_splats(s) __spu_splats(s)
#define spu_insert(s, v, element) __spu_insert((s), (v), (element))
#define spu_promote(s, element) __spu_promote((s), (element))
#define __SPU_PROMOTE(S, T)                                \
    __SPU_INLINE T __spu_promote(S s, int element)         \
    {                                                      \
        return __spu_insert(s, (T){0}, element);           \
    }
__SPU_PROMOTE(unsigned char, vec_uchar16)
__SPU_PROMOTE(signed char, vec_char16)
__SPU_PROMOTE(char, vec_char16)
__SPU_PROMOTE(unsigned short, vec_ushort8)
__SPU_PROMOTE(short, vec_short8)
__SPU_PROMOTE(unsigned int, vec_uint4)
__SPU_PROMOTE(int, vec_int4)
__SPU_PROMOTE(unsigned long, vec_ullong2)
__SPU_PROMOTE(long, vec_llong2)
__SPU_PROMOTE(unsigned long long, vec_ullong2)
__SPU_PROMOTE(long long, vec_llong2)
__SPU_PROMOTE(float, vec_float4)
__SPU_PROMOTE(double, vec_double2)
#undef __SPU_PROMOTE
#else
#define __of_spu_splats(s)                                                                                        \
    _Generic((s), unsigned char : __spu_splats_uc, signed char : __spu_splats_sc, char : __spu_splats_sc,         \
             unsigned short : __spu_splats_us, short : __spu_splats_ss, unsigned int : __spu_splats_ui,           \
             int : __spu_splats_si, unsigned long : __spu_splats_ul, long : __spu_splats_sl,                      \
             unsigned long long : __spu_splats_ul, long long : __spu_splats_sl, float : __spu_splats_f,           \
             double : __spu_splats_d)(s)
#define spu_splats(s) __SPU_APPLY1(spu_splats, s)
#define __of_spu_insert(s, v, element)                              \
    ({                                                              \
        __SPU_T(v) __spu_inserted = (v);                            \
        __spu_inserted[(element) & (int)__SPU_LAST(v)] = (s);       \
        __spu_inserted;                                             \
    })
#define spu_insert(s, v, element) __SPU_APPLY3(spu_insert, s, v, element)
#define __of_spu_promote(s, element)                                             \
    ({                                                                           \
        __typeof__(__of_spu_splats(s)) __spu_promoted = {0};                     \
        __spu_promoted[(element) & (int)__SPU_LAST(__spu_promoted)] = (s);       \
        __spu_promoted;                                                          \
    })
#define spu_promote(s, element) __SPU_APPLY2(spu_promote, s, element)
#endif
#define __of_spu_extract(v, element) ((v)[(element) & (int)__SPU_LAST(v)])
__SPU_GENERIC2(spu_extract, __SPU_ELEMENT)
#define spu_extract(v, element) __SPU_APPLY2(spu_extract, v, element)

#include "seatmap_vector_numbers.h"
#include "seatmap_vector_bits.h"

/* Control. */
#define spu_mffpscr() ((vec_uint4){0})
#define spu_mtfpscr(value) ((void)(value))
#define spu_mfspr(number) ((void)(number), 0u)
#define spu_mtspr(number, value) ((void)(number), (void)(value))
#define spu_stopd(a, b, c) ((void)(a), (void)(b), (void)(c), spu_stop(0x3fff))
/* Calls the function if an awaited event has happened. */
#define spu_bisled(function) (spu_readchcnt(SPU_RdEventStat) ? ((void (*)(void))(function))() : (void)0)
#define spu_bisled_d(function) spu_bisled(function)
#define spu_bisled_e(function) spu_bisled(function)
#define spu_idisable() ((void)0)
#define spu_ienable() ((void)0)
#define spu_readchqw(channel) spu_promote(spu_readch(channel), 0)
#define spu_writechqw(channel, value) spu_writech((channel), spu_extract((vec_uint4)(value), 0))
/* The commands of spu_mfcio.h, which programs give by their numbers. */
#define spu_mfcdma32(ls, ea, size, tag, cmd) __seatmap_command((ls), (uint64_t)(uintptr_t)(ea), size, tag, cmd)
#define spu_mfcdma64(ls, eah, eal, size, tag, cmd)                                                               \
    __seatmap_command((ls), ((uint64_t)(unsigned int)(eah) << 32) | (unsigned int)(uintptr_t)(eal), size, tag, cmd)
#define spu_mfcstat(how) (spu_writech(MFC_WrTagUpdate, (how)), spu_readch(MFC_RdTagStat))
#define __align_hint(pointer, base, offset) ((void)0)

#include "spu_internals.h"
#include "seatmap_builtins.h"

#ifdef __cplusplus
}
#endif

#endif
