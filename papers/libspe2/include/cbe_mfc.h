/* The transfer unit: its numbers, and on the PPE its registers, at the addresses of spe_ps_area_get. */
#ifndef CBE_MFC_H
#define CBE_MFC_H

#include "cbe_mfc_defs.h"

#ifndef __SPU__
#include "cbea_map.h"

/* Mailboxes, by the control area. */
static inline unsigned int _spe_out_mbox_read(volatile spe_spu_control_area_t *area)
{
    return area->SPU_Out_Mbox;
}

static inline void _spe_in_mbox_write(volatile spe_spu_control_area_t *area, unsigned int value)
{
    area->SPU_In_Mbox = value;
}

/* Waiting messages, or for the inbound mailbox those that fit. */
static inline unsigned int _spe_out_mbox_status(volatile spe_spu_control_area_t *area)
{
    return area->SPU_Mbox_Stat & 0xff;
}

static inline unsigned int _spe_in_mbox_status(volatile spe_spu_control_area_t *area)
{
    return area->SPU_Mbox_Stat >> 8 & 0xff;
}

static inline unsigned int _spe_out_intr_mbox_status(volatile spe_spu_control_area_t *area)
{
    return area->SPU_Mbox_Stat >> 16 & 0xff;
}

/* Signals. */
static inline unsigned int _spe_sig_notify_1_read(volatile spe_sig_notify_1_area_t *area)
{
    return area->SPU_Sig_Notify_1;
}

static inline void _spe_sig_notify_1_write(volatile spe_sig_notify_1_area_t *area, unsigned int value)
{
    area->SPU_Sig_Notify_1 = value;
}

static inline unsigned int _spe_sig_notify_2_read(volatile spe_sig_notify_2_area_t *area)
{
    return area->SPU_Sig_Notify_2;
}

static inline void _spe_sig_notify_2_write(volatile spe_sig_notify_2_area_t *area, unsigned int value)
{
    area->SPU_Sig_Notify_2 = value;
}

/* Multisource synchronisation. */
static inline void _spe_mssync_start(volatile spe_mssync_area_t *area)
{
    area->MFC_MSSync = 1;
}

static inline unsigned int _spe_mssync_status(volatile spe_mssync_area_t *area)
{
    return area->MFC_MSSync & MFC_SPC_MSS_STATUS_MASK;
}

/* Transfers of the PPE: 0, or one of MFC_PROXY_DMA. */
static inline unsigned int _spe_mfc_command(volatile spe_mfc_command_area_t *area, unsigned int ls,
                                            unsigned long long ea, unsigned int size, unsigned int tag,
                                            unsigned int command)
{
    area->MFC_LSA = ls;
    area->MFC_EAH = (unsigned int)(ea >> 32);
    area->MFC_EAL = (unsigned int)ea;
    area->MFC_Size_Tag = size << 16 | (tag & 31);
    area->MFC_ClassID_CMD = command;
    return area->MFC_CMDStatus & 3;
}

static inline unsigned int _spe_mfc_tag_status(volatile spe_mfc_command_area_t *area, unsigned int mask)
{
    area->Prxy_QueryMask = mask;
    return area->Prxy_TagStatus;
}

#endif
#endif
