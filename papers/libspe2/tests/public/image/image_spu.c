#include <spu_mfcio.h>
#include <spu_timer.h>
#include <profile.h>

#define CACHE_NAME PIXELS
#define CACHED_TYPE float
#define CACHE_TYPE CACHE_TYPE_RW
#define CACHELINE_LOG2SIZE 8
#define CACHE_LOG2NWAY 2
#define CACHE_LOG2NSETS 3
#define CACHE_STATS
#include <cache-api.h>

typedef struct {
	unsigned int in, out, size, pad;
} task __attribute__((aligned(16)));

#define waitag(t) mfc_write_tag_mask(1<<t); mfc_read_tag_status_all();

int main(unsigned long long speid, unsigned long long argp, unsigned long long envp)
{
	task t;
	unsigned int x, y, tag = mfc_tag_reserve();
	unsigned long long begin;
	if (tag == MFC_TAG_INVALID)
		return 1;
	mfc_get(&t, argp, sizeof(t), tag, 0, 0);
	waitag(tag);
	spu_slih_register(MFC_DECREMENTER_EVENT, spu_clock_slih);
	spu_clock_start();
	prof_clear();
	begin = spu_clock_read();
#define AT(x, y) cache_rd(PIXELS, t.in + 4 * ((y) * t.size + (x)))
	for (y = 1; y < t.size - 1; y++)
		for (x = 1; x < t.size - 1; x++)
			cache_wr(PIXELS, t.out + 4 * (y * t.size + x), (AT(x, y - 1) + AT(x, y + 1) + AT(x - 1, y) + AT(x + 1, y)) / 4);
	cache_flush(PIXELS);
	prof_cp0();
	begin = spu_clock_read() - begin;
	spu_clock_stop();
	mfc_tag_release(tag);
	return begin == 0;
}
