#include <spu_intrinsics.h>
#include <spu_mfcio.h>
#include "julia.h"

static params_t p;
static unsigned char row[2][MAX_WIDTH] __attribute__((aligned(128)));

static vec_uint4 escape4(vector float x, vector float y)
{
	vector float re = spu_splats(p.re), im = spu_splats(p.im), four = spu_splats(4.0f), two = spu_splats(2.0f);
	vector unsigned int n = spu_splats(0u), inside = spu_splats(0xffffffffu);
	for (int i = 0; i < p.limit; i++) {
		vector float xx = spu_mul(x, x), yy = spu_mul(y, y);
		inside = spu_and(inside, spu_cmpgt(four, spu_add(xx, yy)));
		if (spu_extract(spu_gather(inside), 0) == 0)
			break;
		n = spu_sub(n, inside);
		y = spu_madd(spu_mul(two, x), y, im);
		x = spu_add(spu_sub(xx, yy), re);
	}
	return n;
}

int main(unsigned long long spe, unsigned long long argp, unsigned long long envp)
{
	unsigned int y, buf = 0;
	const vector float ramp = {0, 1, 2, 3};
	mfc_get(&p, argp, sizeof(p), 0, 0, 0);
	mfc_write_tag_mask(1);
	mfc_read_tag_status_all();
	for (;;) {
		spu_write_out_intr_mbox(1);
		y = spu_read_in_mbox();
		if (y == STOP)
			break;
		mfc_write_tag_mask(1 << buf);
		mfc_read_tag_status_all();
		vector float ys = spu_splats(p.top + y * p.step);
		for (int x = 0; x < p.width; x += 4) {
			vector float xs = spu_add(spu_splats((float)x), ramp);
			vec_uint4 n = escape4(spu_madd(xs, spu_splats(p.step), spu_splats(p.left)), ys);
			for (int k = 0; k < 4; k++)
				row[buf][x + k] = spu_extract(n, k);
		}
		mfc_put(row[buf], p.image + y * MAX_WIDTH, MAX_WIDTH, buf, 0, 0);
		buf ^= 1;
	}
	mfc_write_tag_mask(3);
	mfc_read_tag_status_all();
	return 0;
}
