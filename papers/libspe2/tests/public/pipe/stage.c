/* A stage takes an item out of its own buffer, works on it, and puts it into the next stage's local store. */
#include <stdio.h>
#include <string.h>
#include <spu_intrinsics.h>
#include <spu_mfcio.h>
#include <atomic_inc.h>
#include "pipe.h"

control_block cb __attribute__ ((aligned (128)));
/* filled by the stage before */
volatile unsigned int inbox[2][WORDS] __attribute__ ((aligned (128)));
unsigned int outbox[2][WORDS] __attribute__ ((aligned (128)));
volatile unsigned int ready[4] __attribute__ ((aligned (16)));

#define wait_tag(t) do { spu_writech(MFC_WrTagMask, 1 << (t)); spu_writech(MFC_WrTagUpdate, MFC_TAG_UPDATE_ALL); \
    (void)spu_readch(MFC_RdTagStat); } while (0)

static const vector unsigned char reverse = (vector unsigned char)
  {12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3};

typedef vector unsigned int word4;
static const word4 one = (word4){1, 1, 1, 1};

int main (unsigned long long spe_id, unsigned long long program_data_ea, unsigned long long env)
{
  unsigned int item, i;
  vector unsigned int step;

  (void)spe_id; (void)env;
  spu_mfcdma32(&cb, (unsigned int)program_data_ea, sizeof(cb), 31, MFC_GET_CMD);
  wait_tag(31);
  /* tell the PPE where my inbox is, and learn where the next one's is */
  spu_write_out_mbox((unsigned int)&inbox[0][0]);
  cb.next_ls = spu_read_in_mbox();
  cb.next_sig = spu_read_in_mbox();
  step = spu_add(spu_splats(cb.my_id), one);
  for (item = 0; item < ITEMS; item++) {
    unsigned int at = item & 1;
    vector unsigned int *from = (vector unsigned int *)inbox[at], *to = (vector unsigned int *)outbox[at];
    if (cb.my_id == 0) {
      mfc_getb(from, cb.in + item * sizeof(inbox[0]), sizeof(inbox[0]), at, 0, 0);
      wait_tag(at);
    } else {
      /* bits of the items that have come; each comes at its own bit */
      static unsigned int have;
      while (!(have & (1 << item)))
        have |= spu_read_signal1();
    }
    wait_tag(at + 2);
    for (i = 0; i < WORDS / 4; i++)
      to[i] = spu_add(spu_shuffle(from[WORDS / 4 - 1 - i], from[WORDS / 4 - 1 - i], reverse), step);
    if (cb.my_id == STAGES - 1) {
      mfc_put(to, cb.out + item * sizeof(inbox[0]), sizeof(inbox[0]), at + 2, 0, 0);
    } else {
      static unsigned int bit[32][4] __attribute__ ((aligned (16)));
      /* the next stage has room when it has asked for it */
      (void)spu_read_signal2();
      mfc_put(to, cb.next_ls + at * sizeof(inbox[0]), sizeof(inbox[0]), at + 2, 0, 0);
      bit[item][3] = 1 << item;
      mfc_sndsigf(&bit[item][3], cb.next_sig + 12, at + 2, 0, 0);
    }
    if (cb.my_id != 0)
      spu_write_out_intr_mbox(item);
  }
  mfc_write_tag_mask(0xf);
  mfc_read_tag_status_all();
  return cb.my_id;
}
