#include <spu_mfcio.h>
int runs = 0;
unsigned int a[16] __attribute__((aligned(128)));
int main(unsigned long long spu_id, unsigned long long argp, unsigned long long envp)
{
	int i;
	mfc_get(a, argp, sizeof(a), 0, 0, 0);
	mfc_write_tag_mask(1<<0);
	mfc_read_tag_status_all();
	spu_stop(0x123);
	for (i = 0; i < 16; i++)
		a[i]++;
	mfc_put(a, argp, sizeof(a), 0, 0, 0);
	mfc_read_tag_status_all();
	return ++runs;
}
