/* Radix 2, four butterflies at a time; the first two stages by shuffles within a vector. */
#include <math.h>
#include <simdmath/sinf4.h>
#include <simdmath/cosf4.h>
#include <spu_intrinsics.h>
#include <spu_mfcio.h>
#include "fft.h"

static float re[N] __attribute__((aligned(128))), im[N] __attribute__((aligned(128)));
static vector float cosines[N / 8], sines[N / 8];
static fft_t cb __attribute__((aligned(128)));
static int runs;

static unsigned int reversed(unsigned int i)
{
	unsigned int r = 0, bit;
	for (bit = 0; bit < LOG_N; bit++)
		r = r << 1 | (i >> bit & 1);
	return r;
}

/* Stages of two and of four, whose factors are 1 and -i (or i back). */
static void first_stages(float sign)
{
	const vector unsigned char even = {0, 1, 2, 3, 0, 1, 2, 3, 8, 9, 10, 11, 8, 9, 10, 11};
	const vector unsigned char odd = {4, 5, 6, 7, 4, 5, 6, 7, 12, 13, 14, 15, 12, 13, 14, 15};
	const vector unsigned char low = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
	const vector unsigned char high = {8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15};
	const vector float alternate = {1, -1, 1, -1}, halves = {1, 1, -1, -1};
	const vec_uint4 second = {0, ~0u, 0, ~0u};
	int i;
	for (i = 0; i < N; i += 4) {
		vector float *x = (vector float *)&re[i], *y = (vector float *)&im[i], a, b, c, d;
		a = spu_madd(spu_shuffle(*x, *x, odd), alternate, spu_shuffle(*x, *x, even));
		b = spu_madd(spu_shuffle(*y, *y, odd), alternate, spu_shuffle(*y, *y, even));
		c = spu_shuffle(a, a, high), d = spu_shuffle(b, b, high);
		vector float turned_c = spu_sel(c, spu_mul(d, spu_splats(sign)), second);
		vector float turned_d = spu_sel(d, spu_mul(c, spu_splats(-sign)), second);
		*x = spu_madd(turned_c, halves, spu_shuffle(a, a, low));
		*y = spu_madd(turned_d, halves, spu_shuffle(b, b, low));
	}
}

static void stage(int half, float sign)
{
	int at, group;
	const vector float ramp = {0, 1, 2, 3};
	for (at = 0; at < half; at += 4) {
		vector float angle = spu_mul(spu_add(spu_splats((float)at), ramp), spu_splats(-sign * (float)M_PI / half));
		cosines[at / 4] = _cosf4(angle), sines[at / 4] = _sinf4(angle);
	}
	for (group = 0; group < N; group += 2 * half)
		for (at = 0; at < half; at += 4) {
			vector float *x = (vector float *)&re[group + at], *y = (vector float *)&im[group + at];
			vector float *u = (vector float *)&re[group + at + half], *v = (vector float *)&im[group + at + half];
			vector float c = cosines[at / 4], s = sines[at / 4];
			vector float p = spu_nmsub(*v, s, spu_mul(*u, c)), q = spu_madd(*v, c, spu_mul(*u, s));
			*u = spu_sub(*x, p), *v = spu_sub(*y, q);
			*x = spu_add(*x, p), *y = spu_add(*y, q);
		}
}

int main(unsigned long long spe, unsigned long long argp, unsigned long long envp)
{
	int i;
	float sign;
	mfc_get(&cb, argp, sizeof cb, 0, 0, 0);
	mfc_write_tag_mask(1), mfc_read_tag_status_all();
	mfc_get(re, cb.re, sizeof re, 1, 0, 0);
	mfc_get(im, cb.im, sizeof im, 1, 0, 0);
	mfc_write_tag_mask(2), mfc_read_tag_status_all();
	for (i = 0; i < N; i++) {
		unsigned int j = reversed(i);
		float t;
		if ((int)j > i)
			t = re[i], re[i] = re[j], re[j] = t, t = im[i], im[i] = im[j], im[j] = t;
	}
	sign = cb.inverse ? -1.0f : 1.0f;
	first_stages(sign);
	for (i = 4; i < N; i *= 2)
		stage(i, sign);
	if (cb.inverse)
		for (i = 0; i < N; i++)
			re[i] /= N, im[i] /= N;
	mfc_putf(re, cb.re, sizeof re, 1, 0, 0);
	mfc_putf(im, cb.im, sizeof im, 1, 0, 0);
	mfc_read_tag_status_all();
	/* A second run keeps the variables. */
	return runs++ != (int)cb.inverse;
}
