#include <spu_intrinsics.h>
#include <spu_mfcio.h>
int main(unsigned long long spu_id, unsigned long long argp, unsigned long long envp)
{
	vec_uint4 a[4] __attribute__((aligned(128)));
	int i;
	mfc_get(a, argp, sizeof(a), 31, 0, 0);
	mfc_write_tag_mask(1<<31);
	mfc_read_tag_status_all();
	for (i = 0; i < 4; i++)
		a[i] = spu_nor(a[i], a[i]);
	mfc_put(a, argp, sizeof(a), 31, 0, 0);
	mfc_read_tag_status_all();
	return 77;
}
