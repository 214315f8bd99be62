#include <spu_mfcio.h>
#include "lists.h"

struct dma_list_elem list[ROWS] __attribute__((aligned(8)));
unsigned char local[ROWS * WIDTH] __attribute__((aligned(128)));

static void fill(unsigned int from)
{
	int i;
	for (i = 0; i < ROWS; i++) {
		list[i].size.all32 = 0;
		list[i].size.bits.nbytes = WIDTH;
		list[i].ea_low = from + i * 2 * WIDTH;
	}
}

int main(unsigned long long spuid, addr64 argp, addr64 envp)
{
	int i, stalls = 0;
	unsigned int stalled, tag = 5;
	fill((unsigned int)argp.ull);
	list[9].size.bits.stall = 1;
	list[20].size.bits.stall = 1;
	spu_mfcdma64(local, argp.ull >> 32, (unsigned int)list, sizeof(list), tag, MFC_GETL_CMD);
	spu_write_event_mask(MFC_LIST_STALL_NOTIFY_EVENT);
	while (stalls < 2) {
		spu_read_event_status();
		spu_write_event_ack(MFC_LIST_STALL_NOTIFY_EVENT);
		stalled = mfc_read_list_stall_status();
		if (stalled != 1 << tag)
			return 100;
		stalls++;
		mfc_write_list_stall_ack(tag);
	}
	mfc_write_tag_mask(1 << tag);
	mfc_read_tag_status_all();
	for (i = 0; i < sizeof(local); i++)
		local[i] = ~local[i];
	fill((unsigned int)argp.ull + WIDTH);
	mfc_putl(local, argp.ull, list, sizeof(list), tag, 0, 0);
	mfc_read_tag_status_any();
	return stalls;
}
