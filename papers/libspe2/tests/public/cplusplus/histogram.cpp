#include "manager.h"
#include <algorithm>
#include <cstring>

struct task {
	unsigned long long pixels;
	unsigned long long bins;
	unsigned int count, pad[3];
};

int main()
{
	const unsigned int spes = 3, each = 4096;
	unsigned char *pixels;
	unsigned int *bins, expected[256] = {0}, found[256] = {0};
	if (posix_memalign((void **)&pixels, 128, spes * each) || posix_memalign((void **)&bins, 128, spes * 1024))
		return 1;
	for (unsigned int i = 0; i < spes * each; ++i)
		expected[pixels[i] = (unsigned char)(i * i >> 3)]++;
	std::vector<task> tasks(spes);
	for (unsigned int i = 0; i < spes; ++i) {
		task t = {(unsigned long)(pixels + i * each), (unsigned long)(bins + 256 * i), each, {0, 0, 0}};
		tasks[i] = t;
	}
	spe_manager manager("histogram_spu.elf");
	manager.start(tasks);
	manager.tell(255);
	manager.join();
	for (unsigned int i = 0; i < spes * 256; ++i)
		found[i % 256] += bins[i];
	bool same = std::equal(expected, expected + 256, found);
	std::printf("%s\n", same ? "passed" : "failed");
	return !same;
}
