/* Instructions of the PPE. Numbers have this computer's byte order; a load or a store that reverses bytes reverses
 * them. */
#ifndef PPU_INTRINSICS_H
#define PPU_INTRINSICS_H

#ifdef __cplusplus
extern "C++" {
#endif

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ticks of 79.8 MHz. */
uint64_t seatmap_spe_timebase(void);

#ifdef __cplusplus
}
#endif

#define __PPU_INLINE static inline __attribute__((always_inline, unused))

/* The time base, and its halves. */
#define __mftb() seatmap_spe_timebase()
#define __mftbl() ((uint32_t)seatmap_spe_timebase())
#define __mftbu() ((uint32_t)(seatmap_spe_timebase() >> 32))
/* The decrementer counts down with the time base, and no program sets it. */
#define __mfdec() ((uint32_t)-seatmap_spe_timebase())
#define __mfspr(number) ((void)(number), (uint64_t)0)
#define __mtspr(number, value) ((void)(number), (void)(value))

/* Order. */
#define __sync() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __lwsync() __atomic_thread_fence(__ATOMIC_ACQ_REL)
#define __eieio() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __isync() __atomic_thread_fence(__ATOMIC_ACQUIRE)

/* Caches. Flushing and hints have no effect; zeroing clears the line of 128 bytes. */
#define __dcbt(address) __builtin_prefetch((const void *)(address))
#define __dcbtst(address) __builtin_prefetch((const void *)(address), 1)
#define __dcbt_TH1000(address, direction, unlimited, id) ((void)(address), (void)(direction), (void)(unlimited), (void)(id))
#define __dcbt_TH1010(go, stop, units, truncated, unlimited, id) \
    ((void)(go), (void)(stop), (void)(units), (void)(truncated), (void)(unlimited), (void)(id))
#define __protected_unlimited_stream_set(direction, address, id) ((void)(direction), (void)(address), (void)(id))
#define __protected_stream_set(direction, address, id) ((void)(direction), (void)(address), (void)(id))
#define __protected_stream_count(units, id) ((void)(units), (void)(id))
#define __protected_stream_go() ((void)0)
#define __protected_stream_stop(id) ((void)(id))
#define __protected_stream_stop_all() ((void)0)
#define __dcbf(address) ((void)(address))
#define __dcbst(address) ((void)(address))
#define __dcbi(address) ((void)(address))
#define __icbi(address) ((void)(address))
__PPU_INLINE void __dcbz(void *address)
{
    memset((void *)((uintptr_t)address & ~(uintptr_t)127), 0, 128);
}

/* Thread priorities and pauses. */
#define __nop() ((void)0)
#define __cctpl() ((void)0)
#define __cctpm() ((void)0)
#define __cctph() ((void)0)
#define __db8cyc() __builtin_ia32_pause()
#define __db10cyc() __builtin_ia32_pause()
#define __db12cyc() __builtin_ia32_pause()
#define __db16cyc() __builtin_ia32_pause()

/* Reservations: one a thread. A conditional store succeeds if the word still holds what was loaded. */
struct __ppu_reservation {
    volatile void *address;
    uint64_t value;
};
static __thread struct __ppu_reservation __ppu_reserved __attribute__((unused));
#define __PPU_RESERVATION(load, store, T)                                                                        \
    __PPU_INLINE T load(volatile void *address)                                                                  \
    {                                                                                                            \
        T value = __atomic_load_n((volatile T *)address, __ATOMIC_ACQUIRE);                                      \
        __ppu_reserved.address = address, __ppu_reserved.value = value;                                          \
        return value;                                                                                            \
    }                                                                                                            \
    __PPU_INLINE int store(volatile void *address, T value)                                                      \
    {                                                                                                            \
        T expected = (T)__ppu_reserved.value;                                                                    \
        int holds = __ppu_reserved.address == address;                                                           \
        __ppu_reserved.address = 0;                                                                              \
        return holds && __atomic_compare_exchange_n((volatile T *)address, &expected, value, 0, __ATOMIC_SEQ_CST, \
                                                    __ATOMIC_RELAXED);                                           \
    }
__PPU_RESERVATION(__lwarx, __stwcx, uint32_t)
__PPU_RESERVATION(__ldarx, __stdcx, uint64_t)
#undef __PPU_RESERVATION

/* Loads and stores that reverse bytes. */
#define __PPU_REVERSED(load, store, T, reverse)                       \
    __PPU_INLINE T load(const volatile void *address)                 \
    {                                                                 \
        T value;                                                      \
        memcpy(&value, (const void *)address, sizeof value);          \
        return (T)reverse(value);                                     \
    }                                                                 \
    __PPU_INLINE void store(volatile void *address, T value)          \
    {                                                                 \
        value = (T)reverse(value);                                    \
        memcpy((void *)address, &value, sizeof value);                \
    }
__PPU_REVERSED(__lhbrx, __sthbrx, uint16_t, __builtin_bswap16)
__PPU_REVERSED(__lwbrx, __stwbrx, uint32_t, __builtin_bswap32)
__PPU_REVERSED(__ldbrx, __stdbrx, uint64_t, __builtin_bswap64)
#undef __PPU_REVERSED

/* Integers. */
__PPU_INLINE int __cntlzw(uint32_t value)
{
    return value ? __builtin_clz(value) : 32;
}
__PPU_INLINE int __cntlzd(uint64_t value)
{
    return value ? __builtin_clzll(value) : 64;
}
#define __mulhw(a, b) ((int32_t)(((int64_t)(int32_t)(a) * (int32_t)(b)) >> 32))
#define __mulhwu(a, b) ((uint32_t)(((uint64_t)(uint32_t)(a) * (uint32_t)(b)) >> 32))
#define __mulhd(a, b) ((int64_t)(((__int128)(int64_t)(a) * (int64_t)(b)) >> 64))
#define __mulhdu(a, b) ((uint64_t)(((unsigned __int128)(uint64_t)(a) * (uint64_t)(b)) >> 64))
/* A mask of ones from bit `first` to bit `last`, around the end where that is smaller; bit 0 is the highest. */
__PPU_INLINE uint64_t __ppu_mask(unsigned int first, unsigned int last, unsigned int bits)
{
    uint64_t all = bits == 64 ? ~0ull : (1ull << bits) - 1;
    uint64_t from = all >> first, behind = last + 1 < bits ? all >> (last + 1) : 0;
    return first <= last ? from & ~behind : (from | (all & ~behind)) & all;
}
__PPU_INLINE uint32_t __ppu_rotate32(uint32_t value, unsigned int count)
{
    return value << (count & 31) | value >> (-count & 31);
}
__PPU_INLINE uint64_t __ppu_rotate64(uint64_t value, unsigned int count)
{
    return value << (count & 63) | value >> (-count & 63);
}
#define __rlwinm(value, count, first, last) \
    ((uint32_t)(__ppu_rotate32((value), (count)) & __ppu_mask((first), (last), 32)))
#define __rlwnm(value, count, first, last) __rlwinm(value, (unsigned int)(count), first, last)
__PPU_INLINE uint32_t __rlwimi(uint32_t old, uint32_t value, unsigned int count, unsigned int first, unsigned int last)
{
    uint32_t mask = (uint32_t)__ppu_mask(first, last, 32);
    return (old & ~mask) | (__ppu_rotate32(value, count) & mask);
}
#define __rldcl(value, count, first) (__ppu_rotate64((value), (unsigned int)(count)) & __ppu_mask((first), 63, 64))
#define __rldcr(value, count, last) (__ppu_rotate64((value), (unsigned int)(count)) & __ppu_mask(0, (last), 64))
#define __rldicl(value, count, first) __rldcl(value, count, first)
#define __rldicr(value, count, last) __rldcr(value, count, last)
__PPU_INLINE uint64_t __rldic(uint64_t value, unsigned int count, unsigned int first)
{
    return __ppu_rotate64(value, count) & __ppu_mask(first, 63 - count, 64);
}
__PPU_INLINE uint64_t __rldimi(uint64_t old, uint64_t value, unsigned int count, unsigned int first)
{
    uint64_t mask = __ppu_mask(first, 63 - count, 64);
    return (old & ~mask) | (__ppu_rotate64(value, count) & mask);
}

/* Floating point. */
#define __fabs(a) __builtin_fabs(a)
#define __fabsf(a) __builtin_fabsf(a)
#define __fnabs(a) (-__builtin_fabs(a))
#define __fnabsf(a) (-__builtin_fabsf(a))
#define __fmadd(a, b, c) __builtin_fma((a), (b), (c))
#define __fmadds(a, b, c) __builtin_fmaf((a), (b), (c))
#define __fmsub(a, b, c) __builtin_fma((a), (b), -(c))
#define __fmsubs(a, b, c) __builtin_fmaf((a), (b), -(c))
#define __fnmadd(a, b, c) (-__builtin_fma((a), (b), (c)))
#define __fnmadds(a, b, c) (-__builtin_fmaf((a), (b), (c)))
#define __fnmsub(a, b, c) (-__builtin_fma((a), (b), -(c)))
#define __fnmsubs(a, b, c) (-__builtin_fmaf((a), (b), -(c)))
#define __fmul(a, b) ((double)(a) * (double)(b))
#define __fmuls(a, b) ((float)(a) * (float)(b))
#define __fsqrt(a) __builtin_sqrt(a)
#define __fsqrts(a) __builtin_sqrtf(a)
/* Exact, where the PPE estimates. */
#define __fre(a) (1.0 / (double)(a))
#define __fres(a) (1.0f / (float)(a))
#define __frsqrte(a) (1.0 / __builtin_sqrt(a))
#define __frsp(a) ((float)(a))
#define __fsel(a, b, c) ((a) >= 0.0 ? (double)(b) : (double)(c))
#define __fsels(a, b, c) ((a) >= 0.0f ? (float)(b) : (float)(c))
/* Whole numbers live in floating-point registers as bits there. */
__PPU_INLINE double __ppu_bits(int64_t value)
{
    double bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
__PPU_INLINE int64_t __ppu_of_bits(double bits)
{
    int64_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
#define __fcfid(bits) ((double)__ppu_of_bits(bits))
#define __fctid(a) __ppu_bits(llrint(a))
#define __fctidz(a) __ppu_bits((int64_t)(a))
#define __fctiw(a) __ppu_bits((int64_t)(int32_t)lrint(a))
#define __fctiwz(a) __ppu_bits((int64_t)(int32_t)(a))
#define __mffs() (0.0)
#define __mtfs(value) ((void)(value))
#define __mtfsf(mask, value) ((void)(mask), (void)(value))
#define __mtfsfi(field, value) ((void)(field), (void)(value))
#define __mtfsb0(bit) ((void)(bit))
#define __mtfsb1(bit) ((void)(bit))
#define __setflm(value) ((void)(value), 0.0)

#ifdef __cplusplus
}
#endif

#endif
