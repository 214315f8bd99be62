/* The way from an SPU program to the machine that it runs on: one table of functions. */
#ifndef SEATMAP_SPU_H
#define SEATMAP_SPU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct seatmap_spu_hooks {
    void (*stop)(void *spu, unsigned int code, unsigned int at);
    unsigned int (*read)(void *spu, unsigned int channel);
    void (*write)(void *spu, unsigned int channel, unsigned int value);
    unsigned int (*count)(void *spu, unsigned int channel);
    void (*command)(void *spu, unsigned int ls, uint64_t ea, unsigned int size, unsigned int tag, unsigned int cmd);
    void (*work)(void *spu, unsigned int cycles);
};

/* The loader fills it. */
struct seatmap_spu_link {
    const struct seatmap_spu_hooks *hooks;
    void *spu;
    uint64_t store;
    uint64_t store_bytes;
    uint64_t heap;
    void (**constructors)(void);
    uint64_t constructor_count;
};

extern struct seatmap_spu_link __seatmap_spu;

unsigned int __seatmap_tag_reserve(unsigned int number);
unsigned int __seatmap_tag_release(unsigned int tag, unsigned int number);
int __send_to_ppe(unsigned int code, unsigned int opcode, void *data);

/* Programs add a pointer of 64 bits to the effective address of another store. As on the Cell, its low half counts: the
 * upper one is that of this store, in which the sum does not lie. A list's elements lie in this store. */
static inline uint64_t __seatmap_effective(uint64_t ea, unsigned int cmd)
{
    uint64_t within = ea - __seatmap_spu.store;
    int is_list = (cmd & 0x9c) == 0x04 || (cmd & 0x9c) == 0x14;
    return within >> 32 == 0 && (is_list || within >= __seatmap_spu.store_bytes) ? within : ea;
}

static inline void __seatmap_command(volatile const void *ls, uint64_t ea, unsigned int size, unsigned int tag,
                                     unsigned int cmd)
{
    /* The low half of a pointer into the local store is its local-store address; a pointer elsewhere is refused. */
    uint64_t at = (uint64_t)(uintptr_t)ls;
    unsigned int low = at >> 32 == 0 || at - __seatmap_spu.store < __seatmap_spu.store_bytes ? (unsigned int)at : ~0u;
    __asm__ volatile("" ::: "memory");
    __seatmap_spu.hooks->command(__seatmap_spu.spu, low, __seatmap_effective(ea, cmd), size, tag, cmd);
    __asm__ volatile("" ::: "memory");
}

/* The code's core cycles on a Cell. A simulated one charges them; this computer does nothing. */
static inline void seatmap_spu_work(unsigned int cycles)
{
    __seatmap_spu.hooks->work(__seatmap_spu.spu, cycles);
}

static inline unsigned int spu_readch(unsigned int channel)
{
    return __seatmap_spu.hooks->read(__seatmap_spu.spu, channel);
}

static inline void spu_writech(unsigned int channel, unsigned int value)
{
    __seatmap_spu.hooks->write(__seatmap_spu.spu, channel, value);
}

static inline unsigned int spu_readchcnt(unsigned int channel)
{
    return __seatmap_spu.hooks->count(__seatmap_spu.spu, channel);
}

/* The local-store address behind a stop, for spe_context_run. An SPU's instructions have four bytes. */
static inline unsigned int __seatmap_here(void)
{
    uint64_t here;
    __asm__ volatile("lea 0(%%rip), %0" : "=r"(here));
    return (unsigned int)here & ~3u;
}

#define spu_stop(code) __seatmap_spu.hooks->stop(__seatmap_spu.spu, (code)&0x3fff, __seatmap_here())
#define spu_halt() __seatmap_spu.hooks->stop(__seatmap_spu.spu, ~0u, 0)
#define __stop(code) spu_stop(code)
#define spu_sync() __asm__ volatile("" ::: "memory")
#define spu_sync_c() __asm__ volatile("" ::: "memory")
#define spu_dsync() __asm__ volatile("" ::: "memory")

enum {
    SPU_RdEventStat = 0,
    SPU_WrEventMask = 1,
    SPU_WrEventAck = 2,
    SPU_RdSigNotify1 = 3,
    SPU_RdSigNotify2 = 4,
    SPU_WrDec = 7,
    SPU_RdDec = 8,
    MFC_WrMSSyncReq = 9,
    SPU_RdEventMask = 11,
    MFC_RdTagMask = 12,
    SPU_RdMachStat = 13,
    SPU_WrSRR0 = 14,
    SPU_RdSRR0 = 15,
    MFC_LSA = 16,
    MFC_EAH = 17,
    MFC_EAL = 18,
    MFC_Size = 19,
    MFC_TagID = 20,
    MFC_Cmd = 21,
    MFC_WrTagMask = 22,
    MFC_WrTagUpdate = 23,
    MFC_RdTagStat = 24,
    MFC_RdListStallStat = 25,
    MFC_WrListStallAck = 26,
    MFC_RdAtomicStat = 27,
    SPU_WrOutMbox = 28,
    SPU_RdInMbox = 29,
    SPU_WrOutIntrMbox = 30
};

#ifdef __cplusplus
}
#endif
#endif
