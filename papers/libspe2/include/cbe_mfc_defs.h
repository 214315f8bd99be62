/* Both processors' numbers of the transfer unit (Cell Broadband Engine Architecture). */
#ifndef CBE_MFC_DEFS_H
#define CBE_MFC_DEFS_H

/* Bits that make one command of another. */
#define MFC_BARRIER_ENABLE 0x01
#define MFC_FENCE_ENABLE 0x02
#define MFC_LIST_ENABLE 0x04
#define MFC_START_ENABLE 0x08
#define MFC_RESULT_ENABLE 0x10

#define MFC_PUT_CMD 0x20
#define MFC_PUTB_CMD 0x21
#define MFC_PUTF_CMD 0x22
#define MFC_PUTL_CMD 0x24
#define MFC_PUTLB_CMD 0x25
#define MFC_PUTLF_CMD 0x26
#define MFC_PUTS_CMD 0x28
#define MFC_PUTBS_CMD 0x29
#define MFC_PUTFS_CMD 0x2a
#define MFC_PUTR_CMD 0x30
#define MFC_PUTRB_CMD 0x31
#define MFC_PUTRF_CMD 0x32
#define MFC_PUTRL_CMD 0x34
#define MFC_PUTRLB_CMD 0x35
#define MFC_PUTRLF_CMD 0x36
#define MFC_GET_CMD 0x40
#define MFC_GETB_CMD 0x41
#define MFC_GETF_CMD 0x42
#define MFC_GETL_CMD 0x44
#define MFC_GETLB_CMD 0x45
#define MFC_GETLF_CMD 0x46
#define MFC_GETS_CMD 0x48
#define MFC_GETBS_CMD 0x49
#define MFC_GETFS_CMD 0x4a
#define MFC_SDCRT_CMD 0x80
#define MFC_SDCRTST_CMD 0x81
#define MFC_SDCRZ_CMD 0x89
#define MFC_SDCRST_CMD 0x8d
#define MFC_SDCRF_CMD 0x8f
#define MFC_SNDSIG_CMD 0xa0
#define MFC_SNDSIGB_CMD 0xa1
#define MFC_SNDSIGF_CMD 0xa2
#define MFC_PUTLLUC_CMD 0xb0
#define MFC_PUTLLC_CMD 0xb4
#define MFC_PUTQLLUC_CMD 0xb8
#define MFC_BARRIER_CMD 0xc0
#define MFC_EIEIO_CMD 0xc8
#define MFC_SYNC_CMD 0xcc
#define MFC_GETLLAR_CMD 0xd0

/* A command with its classes; with the size and the tag too. */
#define MFC_TCLASS(_tid) ((_tid) << 24)
#define MFC_RCLASS(_rid) ((_rid) << 16)
#define MFC_CMD_WORD(_tid, _rid, _cmd) (MFC_TCLASS(_tid) | MFC_RCLASS(_rid) | (_cmd))
#define MFC_SIZE(_size) ((unsigned long long)(_size) << 48)
#define MFC_TAG(_tag) ((unsigned long long)(_tag) << 32)
#define MFC_TR_CMD(_word) ((unsigned long long)(_word))
#define MFC_CMD_DWORD(_size, _tag, _word) (MFC_SIZE(_size) | MFC_TAG(_tag) | MFC_TR_CMD(_word))
#define MFC_CMD_MASK 0x0000ffff
#define MFC_CLASS_MASK 0x000000ff

/* Sizes and addresses. */
#define MFC_MIN_DMA_SIZE 1
#define MFC_MIN_DMA_SIZE_SHIFT 4
#define MFC_MAX_DMA_SIZE_SHIFT 14
#define MFC_MAX_DMA_SIZE (1 << MFC_MAX_DMA_SIZE_SHIFT)
#define MFC_MIN_DMA_SIZE_MASK (MFC_MIN_DMA_SIZE - 1)
#define MFC_MAX_DMA_SIZE_MASK (MFC_MAX_DMA_SIZE - 1)
#define MFC_MIN_DMA_LIST_ELEMENTS 1
#define MFC_MAX_DMA_LIST_ELEMENTS 2048
#define MFC_MIN_DMA_LIST_SIZE 0x0008
#define MFC_MAX_DMA_LIST_SIZE 0x4000
#define MFC_ADDR_MATCH_MASK 0xf
#define MFC_BEST_ADDR_ALIGNMENT 0x80

/* Registers of the PPE's commands. */
#define MFC_PROXY_DMA_CMD_ENQUEUE_SUCCESSFUL 0x00
#define MFC_PROXY_DMA_CMD_SEQUENCE_ERROR 0x01
#define MFC_PROXY_DMA_QUEUE_FULL 0x02
#define MFC_PROXY_MAX_QUEUE_SPACE 0x08
#define MFC_PROXY_DMA_Q_EMPTY 0x80000000
#define MFC_PROXY_DMA_Q_FREE_SPACE_MASK 0x0000ffff
#define MFC_SPU_MAX_QUEUE_SPACE 0x10
#define MFC_PROXY_DMA_QUERYTYPE_ANY 0x1
#define MFC_PROXY_DMA_QUERYTYPE_ALL 0x2
#define MFC_TAGID_TO_TAGMASK(_tag) (1 << ((_tag) & 0x1f))

/* The mailbox status. */
#define MFC_SPU_OUT_MBOX_COUNT_STATUS_MASK 0x000000ff
#define MFC_SPU_OUT_MBOX_COUNT_STATUS_SHIFT 0x0
#define MFC_SPU_IN_MBOX_COUNT_STATUS_MASK 0x0000ff00
#define MFC_SPU_IN_MBOX_COUNT_STATUS_SHIFT 0x8
#define MFC_SPU_OUT_INTR_MBOX_COUNT_STATUS_MASK 0x00ff0000
#define MFC_SPU_OUT_INTR_MBOX_COUNT_STATUS_SHIFT 0x10
#define MFC_SPC_MSS_STATUS_MASK 0x1
#define MFC_SPC_MSS_COMPLETE 0x0
#define MFC_SPC_MSS_NOT_COMPLETE 0x1

/* Events of an SPU. */
#define MFC_TAG_STATUS_UPDATE_EVENT 0x00000001
#define MFC_LIST_STALL_NOTIFY_EVENT 0x00000002
#define MFC_COMMAND_QUEUE_AVAILABLE_EVENT 0x00000008
#define MFC_IN_MBOX_AVAILABLE_EVENT 0x00000010
#define MFC_DECREMENTER_EVENT 0x00000020
#define MFC_OUT_INTR_MBOX_AVAILABLE_EVENT 0x00000040
#define MFC_OUT_MBOX_AVAILABLE_EVENT 0x00000080
#define MFC_SIGNAL_NOTIFY_2_EVENT 0x00000100
#define MFC_SIGNAL_NOTIFY_1_EVENT 0x00000200
#define MFC_LLR_LOST_EVENT 0x00000400
#define MFC_PRIV_ATTN_EVENT 0x00000800
#define MFC_MULTI_SRC_SYNC_EVENT 0x00001000

/* Tag-status updates and the status of atomic commands. */
#define MFC_TAG_UPDATE_IMMEDIATE 0
#define MFC_TAG_UPDATE_ANY 1
#define MFC_TAG_UPDATE_ALL 2
#define MFC_PUTLLC_STATUS 0x00000001
#define MFC_PUTLLUC_STATUS 0x00000002
#define MFC_GETLLAR_STATUS 0x00000004

#endif
