/* The SPU's side of every example: transfers that are waited for. */
#ifndef LADDER_SPU_H
#define LADDER_SPU_H

#include <spu_mfcio.h>

/* Waits for the transfers of one tag. */
static inline void wait_for(unsigned int tag)
{
    mfc_write_tag_mask(1u << tag);
    mfc_read_tag_status_all();
}

static inline void fetch(volatile void *to, unsigned long long from, unsigned int bytes)
{
    mfc_get(to, from, bytes, 0, 0, 0);
    wait_for(0);
}

static inline void give(volatile void *from, unsigned long long to, unsigned int bytes)
{
    mfc_put(from, to, bytes, 0, 0, 0);
    wait_for(0);
}

#endif
