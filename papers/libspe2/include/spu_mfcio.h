/* Channels, DMA, mailboxes, signals and events of an SPU. Commands are complete when they return. */
#ifndef SPU_MFCIO_H
#define SPU_MFCIO_H

#include <stdint.h>
#include "cbe_mfc_defs.h"
#include "seatmap_spu.h"
#include "spu_intrinsics.h"

/* A list's elements: the stall-and-notify flag and the size, then the low half of the effective address. */
typedef struct mfc_list_element {
    uint64_t size : 15;
    uint64_t reserved : 16;
    uint64_t notify : 1;
    uint64_t eal : 32;
} mfc_list_element_t;

/* Addresses. */
#define mfc_ea2h(ea) ((unsigned int)((uint64_t)(uintptr_t)(ea) >> 32))
#define mfc_ea2l(ea) ((unsigned int)(uint64_t)(uintptr_t)(ea))
#define mfc_hl2ea(high, low) (((uint64_t)(unsigned int)(high) << 32) | (unsigned int)(low))
#define mfc_ceil128(value) (((value) + 127) & ~127)

/* Transfers. */
#define __SEATMAP_DMA(cmd, ls, ea, size, tag, tid, rid) \
    ((void)(tid), (void)(rid), __seatmap_command((ls), (uint64_t)(ea), (size), (tag), (cmd)))
#define mfc_put(ls, ea, size, tag, tid, rid) __SEATMAP_DMA(MFC_PUT_CMD, ls, ea, size, tag, tid, rid)
#define mfc_putb(ls, ea, size, tag, tid, rid) __SEATMAP_DMA(MFC_PUTB_CMD, ls, ea, size, tag, tid, rid)
#define mfc_putf(ls, ea, size, tag, tid, rid) __SEATMAP_DMA(MFC_PUTF_CMD, ls, ea, size, tag, tid, rid)
#define mfc_get(ls, ea, size, tag, tid, rid) __SEATMAP_DMA(MFC_GET_CMD, ls, ea, size, tag, tid, rid)
#define mfc_getb(ls, ea, size, tag, tid, rid) __SEATMAP_DMA(MFC_GETB_CMD, ls, ea, size, tag, tid, rid)
#define mfc_getf(ls, ea, size, tag, tid, rid) __SEATMAP_DMA(MFC_GETF_CMD, ls, ea, size, tag, tid, rid)

#define mfc_putr(ls, ea, size, tag, tid, rid) __SEATMAP_DMA(MFC_PUTR_CMD, ls, ea, size, tag, tid, rid)
#define mfc_putrb(ls, ea, size, tag, tid, rid) __SEATMAP_DMA(MFC_PUTRB_CMD, ls, ea, size, tag, tid, rid)
#define mfc_putrf(ls, ea, size, tag, tid, rid) __SEATMAP_DMA(MFC_PUTRF_CMD, ls, ea, size, tag, tid, rid)
/* Hints for caches, which the Cell does not have either. */
#define mfc_sdcrt(ea, size, tag, tid, rid) __SEATMAP_HINT(ea, size, tag, tid, rid)
#define mfc_sdcrtst(ea, size, tag, tid, rid) __SEATMAP_HINT(ea, size, tag, tid, rid)
#define mfc_sdcrz(ea, size, tag, tid, rid) __SEATMAP_HINT(ea, size, tag, tid, rid)
#define mfc_sdcrst(ea, size, tag, tid, rid) __SEATMAP_HINT(ea, size, tag, tid, rid)
#define mfc_sdcrf(ea, size, tag, tid, rid) __SEATMAP_HINT(ea, size, tag, tid, rid)
#define __SEATMAP_HINT(ea, size, tag, tid, rid) ((void)(ea), (void)(size), (void)(tag), (void)(tid), (void)(rid))

/* Lists: only the high half of the effective address counts. */
#define __SEATMAP_LIST(cmd, ls, ea, list, size, tag, tid, rid) \
    ((void)(tid), (void)(rid),                                 \
     __seatmap_command((ls), mfc_hl2ea((uint64_t)(ea) >> 32, (uintptr_t)(list)), (size), (tag), (cmd)))
#define mfc_putrl(ls, ea, list, size, tag, tid, rid) __SEATMAP_LIST(MFC_PUTRL_CMD, ls, ea, list, size, tag, tid, rid)
#define mfc_putrlb(ls, ea, list, size, tag, tid, rid) __SEATMAP_LIST(MFC_PUTRLB_CMD, ls, ea, list, size, tag, tid, rid)
#define mfc_putrlf(ls, ea, list, size, tag, tid, rid) __SEATMAP_LIST(MFC_PUTRLF_CMD, ls, ea, list, size, tag, tid, rid)
#define mfc_putl(ls, ea, list, size, tag, tid, rid) __SEATMAP_LIST(MFC_PUTL_CMD, ls, ea, list, size, tag, tid, rid)
#define mfc_putlb(ls, ea, list, size, tag, tid, rid) __SEATMAP_LIST(MFC_PUTLB_CMD, ls, ea, list, size, tag, tid, rid)
#define mfc_putlf(ls, ea, list, size, tag, tid, rid) __SEATMAP_LIST(MFC_PUTLF_CMD, ls, ea, list, size, tag, tid, rid)
#define mfc_getl(ls, ea, list, size, tag, tid, rid) __SEATMAP_LIST(MFC_GETL_CMD, ls, ea, list, size, tag, tid, rid)
#define mfc_getlb(ls, ea, list, size, tag, tid, rid) __SEATMAP_LIST(MFC_GETLB_CMD, ls, ea, list, size, tag, tid, rid)
#define mfc_getlf(ls, ea, list, size, tag, tid, rid) __SEATMAP_LIST(MFC_GETLF_CMD, ls, ea, list, size, tag, tid, rid)

/* Atomic commands, signals and barriers. */
#define mfc_getllar(ls, ea, tid, rid) __SEATMAP_DMA(MFC_GETLLAR_CMD, ls, ea, 128, 0, tid, rid)
#define mfc_putllc(ls, ea, tid, rid) __SEATMAP_DMA(MFC_PUTLLC_CMD, ls, ea, 128, 0, tid, rid)
#define mfc_putlluc(ls, ea, tid, rid) __SEATMAP_DMA(MFC_PUTLLUC_CMD, ls, ea, 128, 0, tid, rid)
#define mfc_putqlluc(ls, ea, tag, tid, rid) __SEATMAP_DMA(MFC_PUTQLLUC_CMD, ls, ea, 128, tag, tid, rid)
#define mfc_sndsig(ls, ea, tag, tid, rid) __SEATMAP_DMA(MFC_SNDSIG_CMD, ls, ea, 4, tag, tid, rid)
#define mfc_sndsigb(ls, ea, tag, tid, rid) __SEATMAP_DMA(MFC_SNDSIGB_CMD, ls, ea, 4, tag, tid, rid)
#define mfc_sndsigf(ls, ea, tag, tid, rid) __SEATMAP_DMA(MFC_SNDSIGF_CMD, ls, ea, 4, tag, tid, rid)
#define mfc_barrier(tag) __seatmap_command(0, 0, 0, (tag), MFC_BARRIER_CMD)
#define mfc_eieio(tag, tid, rid) __seatmap_command(0, 0, 0, (tag), MFC_EIEIO_CMD)
#define mfc_sync(tag) __seatmap_command(0, 0, 0, (tag), MFC_SYNC_CMD)

/* Status. */
#define mfc_stat_cmd_queue() spu_readchcnt(MFC_Cmd)
#define mfc_write_tag_mask(mask) spu_writech(MFC_WrTagMask, (mask))
#define mfc_read_tag_mask() spu_readch(MFC_RdTagMask)
#define mfc_write_tag_update(how) spu_writech(MFC_WrTagUpdate, (how))
#define mfc_write_tag_update_immediate() mfc_write_tag_update(MFC_TAG_UPDATE_IMMEDIATE)
#define mfc_write_tag_update_any() mfc_write_tag_update(MFC_TAG_UPDATE_ANY)
#define mfc_write_tag_update_all() mfc_write_tag_update(MFC_TAG_UPDATE_ALL)
#define mfc_stat_tag_update() spu_readchcnt(MFC_WrTagUpdate)
#define mfc_read_tag_status() spu_readch(MFC_RdTagStat)
#define mfc_stat_tag_status() spu_readchcnt(MFC_RdTagStat)
#define mfc_read_tag_status_immediate() (mfc_write_tag_update_immediate(), mfc_read_tag_status())
#define mfc_read_tag_status_any() (mfc_write_tag_update_any(), mfc_read_tag_status())
#define mfc_read_tag_status_all() (mfc_write_tag_update_all(), mfc_read_tag_status())
#define mfc_read_list_stall_status() spu_readch(MFC_RdListStallStat)
#define mfc_stat_list_stall_status() spu_readchcnt(MFC_RdListStallStat)
#define mfc_write_list_stall_ack(tag) spu_writech(MFC_WrListStallAck, (tag))
#define mfc_read_atomic_status() spu_readch(MFC_RdAtomicStat)
#define mfc_stat_atomic_status() spu_readchcnt(MFC_RdAtomicStat)
#define mfc_write_multi_src_sync_request() spu_writech(MFC_WrMSSyncReq, 0)
#define mfc_stat_multi_src_sync_request() spu_readchcnt(MFC_WrMSSyncReq)

/* Tags. */
#define MFC_TAG_INVALID 0xFFFFFFFFu
#define MFC_TAG_VALID 0
/* The functions behind the names, and sections in which no interrupt comes: an SPU takes none here. */
#define __mfc_tag_reserve() mfc_tag_reserve()
#define __mfc_tag_release(tag) mfc_tag_release(tag)
#define __mfc_multi_tag_reserve(number) mfc_multi_tag_reserve(number)
#define __mfc_multi_tag_release(tag, number) mfc_multi_tag_release(tag, number)
#define mfc_begin_critical_section() 0u
#define mfc_end_critical_section(status) ((void)(status))
#define mfc_tag_reserve() __seatmap_tag_reserve(1)
#define mfc_tag_release(tag) __seatmap_tag_release((tag), 1)
#define mfc_multi_tag_reserve(number) __seatmap_tag_reserve(number)
#define mfc_multi_tag_release(tag, number) __seatmap_tag_release((tag), (number))

/* Mailboxes, signals, the decrementer. */
#define spu_read_in_mbox() spu_readch(SPU_RdInMbox)
#define spu_stat_in_mbox() spu_readchcnt(SPU_RdInMbox)
#define spu_write_out_mbox(value) spu_writech(SPU_WrOutMbox, (value))
#define spu_stat_out_mbox() spu_readchcnt(SPU_WrOutMbox)
#define spu_write_out_intr_mbox(value) spu_writech(SPU_WrOutIntrMbox, (value))
#define spu_stat_out_intr_mbox() spu_readchcnt(SPU_WrOutIntrMbox)
#define spu_read_signal1() spu_readch(SPU_RdSigNotify1)
#define spu_stat_signal1() spu_readchcnt(SPU_RdSigNotify1)
#define spu_read_signal2() spu_readch(SPU_RdSigNotify2)
#define spu_stat_signal2() spu_readchcnt(SPU_RdSigNotify2)
#define spu_write_decrementer(value) spu_writech(SPU_WrDec, (value))
#define spu_read_decrementer() spu_readch(SPU_RdDec)

/* Events. */
#define spu_read_event_status() spu_readch(SPU_RdEventStat)
#define spu_stat_event_status() spu_readchcnt(SPU_RdEventStat)
#define spu_write_event_mask(mask) spu_writech(SPU_WrEventMask, (mask))
#define spu_read_event_mask() spu_readch(SPU_RdEventMask)
#define spu_write_event_ack(mask) spu_writech(SPU_WrEventAck, (mask))
#define spu_read_machine_status() spu_readch(SPU_RdMachStat)
#define spu_write_srr0(value) spu_writech(SPU_WrSRR0, (value))
#define spu_read_srr0() spu_readch(SPU_RdSRR0)

#endif
