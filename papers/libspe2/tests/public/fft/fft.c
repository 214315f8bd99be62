/* A transform there and back by two runs of one context, and the spectrum against the definition. */
#include <libspe2.h>
#include <math.h>
#include <stdio.h>
#include "fft.h"

extern spe_program_handle_t fft_spu;

float re[N] __attribute__((aligned(128))), im[N] __attribute__((aligned(128)));
fft_t cb __attribute__((aligned(128)));

static float signal(int i)
{
	return cosf(2 * M_PI * 5 * i / N) + 0.5f * sinf(2 * M_PI * 20 * i / N) + 0.25f;
}

static int run(spe_context_ptr_t spe, int inverse)
{
	unsigned int entry = SPE_DEFAULT_ENTRY;
	cb.inverse = inverse;
	return spe_context_run(spe, &entry, 0, &cb, NULL, NULL);
}

int main(void)
{
	spe_context_ptr_t spe = spe_context_create(0, NULL);
	int i, k, wrong = 0;
	for (i = 0; i < N; i++)
		re[i] = signal(i), im[i] = 0;
	cb.re = (unsigned long)re, cb.im = (unsigned long)im;
	if (spe_program_load(spe, &fft_spu) || run(spe, 0) < 0) {
		perror("fft");
		return 1;
	}
	for (k = 0; k < N; k += 13) {
		double a = 0, b = 0;
		for (i = 0; i < N; i++)
			a += signal(i) * cos(2 * M_PI * i * k / N), b -= signal(i) * sin(2 * M_PI * i * k / N);
		wrong += fabs(a - re[k]) > 2e-2 || fabs(b - im[k]) > 2e-2;
	}
	wrong += fabs(re[5] - N / 2) > 1e-1 || fabs(im[20] + N / 4) > 1e-1;
	if (run(spe, 1) < 0)
		return 1;
	for (i = 0; i < N; i++)
		wrong += fabs(re[i] - signal(i)) > 1e-3 || fabs(im[i]) > 1e-3;
	spe_context_destroy(spe);
	printf("%d wrong\n", wrong);
	return wrong != 0;
}
