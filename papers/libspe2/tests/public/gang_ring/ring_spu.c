#include <spu_mfcio.h>
#include "ring.h"

static peer_info info;
static volatile uint32_t in[2][BYTES / 4] __attribute__((aligned(128)));
static volatile uint32_t out[BYTES / 4] __attribute__((aligned(128)));
static volatile uint32_t sig[4] __attribute__((aligned(16)));

int main(uint64_t speid, uint64_t argp, uint64_t envp)
{
	uint32_t next, right, left, bad = 0, tag = mfc_tag_reserve();
	int round;
	mfc_get(&info, argp, (uint32_t)envp, tag, 0, 0);
	mfc_write_tag_mask(1 << tag);
	mfc_read_tag_status_all();
	spu_write_out_mbox((uint32_t)in);
	next = spu_read_in_mbox();
	right = (info.rank + 1) % info.size, left = (info.rank + info.size - 1) % info.size;
	for (round = 0; round < ROUNDS; round++) {
		out[0] = 100 * info.rank + round;
		out[BYTES / 4 - 1] = ~out[0];
		/* The neighbor's buffer: its store, and the offset that it told. */
		mfc_put(out, info.ls[right] + next + (round & 1) * BYTES, BYTES, tag, 0, 0);
		sig[3] = round + 1;
		mfc_sndsigf(&sig[3], info.sig[right], tag, 0, 0);
		mfc_read_tag_status_all();
		if (spu_read_signal2() != round + 1)
			bad = 1;
		if (in[round & 1][0] != 100 * left + round || in[round & 1][BYTES / 4 - 1] != ~in[round & 1][0])
			bad = 1;
		/* The one on the left may send again: its other register says so. */
		sig[3] = 1;
		mfc_sndsig(&sig[3], info.sig[left] - 0x8000, tag, 0, 0);
		mfc_read_tag_status_all();
		spu_read_signal1();
	}
	return bad;
}
