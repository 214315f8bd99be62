#include <libmisc.h>
#include <libspe2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "control_block.h"

#define COUNT 8192

extern spe_program_handle_t scale_spu;

control_block cb __attribute__((aligned(128)));
volatile unsigned int done[4] __attribute__((aligned(16)));

void *spu_thread(void *arg)
{
	spe_context_ptr_t ctx = *(spe_context_ptr_t *)arg;
	unsigned int entry = SPE_DEFAULT_ENTRY;
	spe_context_run(ctx, &entry, 0, &cb, NULL, NULL);
}

int main(int argc, char **argv)
{
	spe_context_ptr_t ctx;
	pthread_t thread;
	float *in, *out;
	int i, wrong = 0;

	in = (float *)malloc_align(COUNT * sizeof(float), 7);
	out = (float *)malloc_align(COUNT * sizeof(float), 7);
	for (i = 0; i < COUNT; i++)
		in[i] = i;
	cb.in = (unsigned int)in;
	cb.out = (unsigned int)out;
	cb.count = COUNT;
	cb.factor = 2.5f;
	cb.status = (unsigned int)done;
	ctx = spe_context_create(0, NULL);
	spe_program_load(ctx, &scale_spu);
	pthread_create(&thread, NULL, spu_thread, &ctx);
	/* The SPE writes this word when all is there. */
	while (done[0] != COUNT)
		sched_yield();
	pthread_join(thread, NULL);
	spe_context_destroy(ctx);
	for (i = 0; i < COUNT; i++)
		wrong += out[i] != 2.5f * i + 1;
	free_align(in);
	free_align(out);
	printf("%d wrong\n", wrong);
	return wrong != 0;
}
