#include <algorithm>
#include <spu_intrinsics.h>
#include <spu_mfcio.h>
#include <vector>

struct task {
	unsigned long long pixels;
	unsigned long long bins;
	unsigned int count, pad[3];
} __attribute__((aligned(16)));

class bins
{
	unsigned int count_[256] __attribute__((aligned(128)));
	unsigned int limit;

public:
	bins(unsigned int limit) : limit(limit)
	{
		vector unsigned int *v = (vector unsigned int *)count_;
		std::fill(v, v + 64, spu_splats(0u));
	}
	void operator()(unsigned char pixel)
	{
		count_[std::min<unsigned int>(pixel, limit)]++;
	}
	void put(unsigned long long ea)
	{
		mfc_put(count_, ea, sizeof count_, 1, 0, 0);
		mfc_write_tag_mask(2);
		mfc_read_tag_status_all();
	}
};

int main(unsigned long long id, unsigned long long argp, unsigned long long envp)
{
	task t;
	mfc_get(&t, argp, (unsigned int)envp, 1, 0, 0);
	mfc_write_tag_mask(2);
	mfc_read_tag_status_all();
	std::vector<unsigned char> room(t.count + 127);
	unsigned char *pixels = &room[0] + (-(unsigned long)&room[0] & 127);
	mfc_get(pixels, t.pixels, t.count, 1, 0, 0);
	mfc_read_tag_status_all();
	bins b(spu_read_in_mbox());
	b = std::for_each(pixels, pixels + t.count, b);
	b.put(t.bins);
	return 0;
}
