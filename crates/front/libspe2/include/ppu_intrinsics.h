/* Instructions of the PPE that its programs name: the time base, barriers, cache hints. */
#ifndef PPU_INTRINSICS_H
#define PPU_INTRINSICS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ticks of 79.8 MHz. */
uint64_t seatmap_spe_timebase(void);

#ifdef __cplusplus
}
#endif

#define __mftb() seatmap_spe_timebase()
#define __sync() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __lwsync() __atomic_thread_fence(__ATOMIC_ACQ_REL)
#define __eieio() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __isync() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define __dcbt(address) __builtin_prefetch(address)
#define __dcbtst(address) __builtin_prefetch((address), 1)
#define __dcbf(address) ((void)(address))
#define __dcbst(address) ((void)(address))
#define __cntlzw(value) ((value) ? __builtin_clz(value) : 32)
#define __cntlzd(value) ((value) ? __builtin_clzll(value) : 64)
#define __cctpl() ((void)0)
#define __cctpm() ((void)0)
#define __cctph() ((void)0)
#define __nop() ((void)0)

#endif
