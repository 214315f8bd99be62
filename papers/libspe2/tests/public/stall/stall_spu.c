/* Gathers scattered rows by one list whose elements stall, and serves each stall when the row's flag is there. */
#include <spu_intrinsics.h>
#include <spu_mfcio.h>
#include "stall.h"

volatile parm_context ctx __attribute__ ((aligned (128)));
volatile unsigned char rows[ROWS][ROW_BYTES] __attribute__ ((aligned (128)));
volatile mfc_list_element_t list[ROWS] __attribute__ ((aligned (8)));
static int stalls;

static void
handle_events (void)
{
  unsigned int event = spu_read_event_status ();

  spu_write_event_mask (spu_read_event_mask () & ~event);
  spu_write_event_ack (event);
  if (event & MFC_LIST_STALL_NOTIFY_EVENT)
    {
      unsigned int tags = mfc_read_list_stall_status ();
      int tag = 31 - (int) spu_extract (spu_cntlz (spu_promote (tags, 0)), 0);
      stalls++;
      mfc_write_list_stall_ack (tag);
    }
  spu_write_event_mask (MFC_LIST_STALL_NOTIFY_EVENT);
}

int
main (unsigned long long speid, addr64 argp, addr64 envp)
{
  unsigned int i, tag, sum = 0;
  unsigned int ea_low;

  (void) envp;
  tag = mfc_tag_reserve ();
  if (tag == MFC_TAG_INVALID)
    return 1;
  spu_mfcdma64 (&ctx, (unsigned int) (argp.ull >> 32), (unsigned int) argp.ull, sizeof (parm_context), tag, MFC_GET_CMD);
  (void) spu_mfcstat (MFC_TAG_UPDATE_ALL);
  mfc_write_tag_mask (1 << tag);
  (void) spu_mfcstat (MFC_TAG_UPDATE_ALL);

  ea_low = mfc_ea2l (ctx.data.ull);
  for (i = 0; i < ROWS; i++)
    {
      list[i].notify = i % 4 == 3 && i != ROWS - 1;
      list[i].reserved = 0;
      list[i].size = ROW_BYTES;
      list[i].eal = ea_low + (ROWS - 1 - i) * STRIDE;
    }
  spu_write_event_mask (MFC_LIST_STALL_NOTIFY_EVENT);
  spu_mfcdma64 (rows, mfc_ea2h (ctx.data.ull), (unsigned int) list, sizeof list, tag, MFC_GETL_CMD);
  while (stalls < ROWS / 4 - 1)
    if (spu_stat_event_status ())
      handle_events ();
  mfc_write_tag_update_all ();
  (void) mfc_read_tag_status ();
  for (i = 0; i < ROWS * ROW_BYTES; i++)
    sum += ((volatile unsigned char *) rows)[i];
  mfc_write_multi_src_sync_request ();
  while (mfc_stat_multi_src_sync_request () == 0)
    ;
  ctx.sum = sum;
  ctx.first = rows[0][0];
  ctx.spe = speid;
  mfc_put (&ctx, argp.ull, sizeof ctx, tag, 0, 0);
  mfc_write_tag_update (MFC_TAG_UPDATE_ALL);
  mfc_read_tag_status ();
  mfc_tag_release (tag);
  spu_write_out_intr_mbox (stalls);
  return 0;
}
