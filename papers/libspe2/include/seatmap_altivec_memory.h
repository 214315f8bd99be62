/* Part of altivec.h: loads, stores, prefetches, and the status register. */
#ifndef SEATMAP_ALTIVEC_MEMORY_H
#define SEATMAP_ALTIVEC_MEMORY_H

/* The type of vectors of what a pointer leads to. */
#ifdef __cplusplus
template <class S> struct __vec_at {
    typedef S T;
    typedef __typeof__(((S *)0)[0][0] + 0) E;
};
#define __VEC_AT_TYPE(S, V)            \
    template <> struct __vec_at<S> {   \
        typedef V T;                   \
        typedef S E;                   \
    };                                 \
    template <> struct __vec_at<const S> : __vec_at<S> {}; \
    template <> struct __vec_at<volatile S> : __vec_at<S> {};
__VEC_AT_TYPE(unsigned char, vec_uchar16)
__VEC_AT_TYPE(signed char, vec_char16)
__VEC_AT_TYPE(char, vec_char16)
__VEC_AT_TYPE(unsigned short, vec_ushort8)
__VEC_AT_TYPE(short, vec_short8)
__VEC_AT_TYPE(unsigned int, vec_uint4)
__VEC_AT_TYPE(int, vec_int4)
__VEC_AT_TYPE(unsigned long, vec_uint4)
__VEC_AT_TYPE(long, vec_int4)
__VEC_AT_TYPE(float, vec_float4)
#undef __VEC_AT_TYPE
template <class S> struct __vec_at<const S> : __vec_at<S> {};
template <class P> struct __vec_pointer;
template <class S> struct __vec_pointer<S *> : __vec_at<S> {};
template <class P> typename __vec_pointer<P>::T __vec_loaded(P);
#define __VEC_LOADED(pointer) __typeof__(__vec_loaded(pointer))
#define __VEC_LOAD typename __vec_pointer<B>::T
#else
#define __VEC_LOADED(pointer)                                                                                     \
    __typeof__(_Generic(*(pointer), unsigned char: (vec_uchar16){0}, signed char: (vec_char16){0},                \
                        char: (vec_char16){0}, unsigned short: (vec_ushort8){0}, short: (vec_short8){0},          \
                        unsigned int: (vec_uint4){0}, int: (vec_int4){0}, unsigned long: (vec_uint4){0},          \
                        long: (vec_int4){0}, float: (vec_float4){0}, default: *(pointer)))
#endif
#define __VEC_ADDRESS(offset, pointer) ((uintptr_t)(pointer) + (uintptr_t)(offset))

/* Loads and stores of whole quadwords: the address loses its last four bits. */
#define __of_vec_ld(offset, pointer) \
    (*(__VEC_LOADED(pointer) *)(__VEC_ADDRESS(offset, pointer) & ~(uintptr_t)15))
__SPU_GENERIC2(vec_ld, __VEC_LOAD)
#define vec_ld(offset, pointer) __SPU_APPLY2(vec_ld, offset, pointer)
#define vec_ldl(offset, pointer) __SPU_APPLY2(vec_ld, offset, pointer)
#define __of_vec_st(value, offset, pointer) \
    ((void)(*(__SPU_T(value) *)(__VEC_ADDRESS(offset, pointer) & ~(uintptr_t)15) = (value)))
__SPU_GENERIC3(vec_st, void)
#define vec_st(value, offset, pointer) __SPU_APPLY3(vec_st, value, offset, pointer)
#define vec_stl(value, offset, pointer) __SPU_APPLY3(vec_st, value, offset, pointer)

/* Loads and stores of one element, at its place in a vector. */
__SPU_INLINE vec_uchar16 __vec_lde(uintptr_t address, unsigned int size)
{
    vec_uchar16 r = {0};
    address &= ~(uintptr_t)(size - 1);
    __builtin_memcpy((unsigned char *)&r + (address & 15), (const void *)address, size);
    return r;
}
#define __of_vec_lde(offset, pointer) \
    ((__VEC_LOADED(pointer))__vec_lde(__VEC_ADDRESS(offset, pointer), sizeof(((__VEC_LOADED(pointer)){0})[0])))
__SPU_GENERIC2(vec_lde, __VEC_LOAD)
#define vec_lde(offset, pointer) __SPU_APPLY2(vec_lde, offset, pointer)
__SPU_INLINE void __vec_ste(vec_uchar16 value, uintptr_t address, unsigned int size)
{
    address &= ~(uintptr_t)(size - 1);
    __builtin_memcpy((void *)address, (unsigned char *)&value + (address & 15), size);
}
#define __of_vec_ste(value, offset, pointer) \
    __vec_ste((vec_uchar16)(value), __VEC_ADDRESS(offset, pointer), sizeof((value)[0]))
__SPU_GENERIC3(vec_ste, void)
#define vec_ste(value, offset, pointer) __SPU_APPLY3(vec_ste, value, offset, pointer)

/* The part of a quadword from an address on, moved to the front, and the part before it, moved to the end. */
__SPU_INLINE vec_uchar16 __vec_lvlx(uintptr_t address)
{
    vec_uchar16 r = {0};
    __builtin_memcpy(&r, (const void *)address, 16 - (address & 15));
    return r;
}
__SPU_INLINE vec_uchar16 __vec_lvrx(uintptr_t address)
{
    vec_uchar16 r = {0};
    __builtin_memcpy((unsigned char *)&r + 16 - (address & 15), (const void *)(address & ~(uintptr_t)15), address & 15);
    return r;
}
__SPU_INLINE void __vec_stvlx(vec_uchar16 value, uintptr_t address)
{
    __builtin_memcpy((void *)address, &value, 16 - (address & 15));
}
__SPU_INLINE void __vec_stvrx(vec_uchar16 value, uintptr_t address)
{
    __builtin_memcpy((void *)(address & ~(uintptr_t)15), (unsigned char *)&value + 16 - (address & 15), address & 15);
}
#define __of_vec_lvlx(offset, pointer) ((__VEC_LOADED(pointer))__vec_lvlx(__VEC_ADDRESS(offset, pointer)))
__SPU_GENERIC2(vec_lvlx, __VEC_LOAD)
#define vec_lvlx(offset, pointer) __SPU_APPLY2(vec_lvlx, offset, pointer)
#define vec_lvlxl(offset, pointer) __SPU_APPLY2(vec_lvlx, offset, pointer)
#define __of_vec_lvrx(offset, pointer) ((__VEC_LOADED(pointer))__vec_lvrx(__VEC_ADDRESS(offset, pointer)))
__SPU_GENERIC2(vec_lvrx, __VEC_LOAD)
#define vec_lvrx(offset, pointer) __SPU_APPLY2(vec_lvrx, offset, pointer)
#define vec_lvrxl(offset, pointer) __SPU_APPLY2(vec_lvrx, offset, pointer)
#define vec_stvlx(value, offset, pointer) __vec_stvlx((vec_uchar16)(value), __VEC_ADDRESS(offset, pointer))
#define vec_stvlxl(value, offset, pointer) vec_stvlx(value, offset, pointer)
#define vec_stvrx(value, offset, pointer) __vec_stvrx((vec_uchar16)(value), __VEC_ADDRESS(offset, pointer))
#define vec_stvrxl(value, offset, pointer) vec_stvrx(value, offset, pointer)

/* The patterns that move bytes at an address to the front, and back. */
#define vec_lvsl(offset, pointer) __vec_places((unsigned int)(__VEC_ADDRESS(offset, pointer) & 15))
#define vec_lvsr(offset, pointer) __vec_places(16 - (unsigned int)(__VEC_ADDRESS(offset, pointer) & 15))

/* Streams of prefetches. */
__SPU_INLINE void __vec_stream(const volatile void *pointer, long control, int stream)
{
    (void)pointer, (void)control, (void)stream;
}
#define vec_dst(pointer, control, stream) __vec_stream((pointer), (control), (stream))
#define vec_dstt(pointer, control, stream) __vec_stream((pointer), (control), (stream))
#define vec_dstst(pointer, control, stream) __vec_stream((pointer), (control), (stream))
#define vec_dststt(pointer, control, stream) __vec_stream((pointer), (control), (stream))
#define vec_dss(stream) ((void)(stream))
#define vec_dssall() ((void)0)

/* The status register holds what was written: a bounded result leaves no mark in it. */
static __thread vec_ushort8 __vec_status __attribute__((unused));
#define vec_mfvscr() (__vec_status)
#define vec_mtvscr(value) ((void)(__vec_status = (vec_ushort8)(value) & (vec_ushort8){0, 0, 0, 0, 0, 0, 1, 1}))

#endif
