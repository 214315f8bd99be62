/* A Julia set, row by row: an SPE that is idle asks for the next one through its interrupting mailbox. */
#include <libspe2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "julia.h"

#define SPES 3

static params_t params;

typedef struct {
	spe_context_ptr_t ctx;
	pthread_t thread;
} spu_t;

static void *run(void *p)
{
	unsigned int entry = SPE_DEFAULT_ENTRY;
	if (spe_context_run(((spu_t *)p)->ctx, &entry, 0, &params, NULL, NULL) < 0)
		perror("spe_context_run");
	return NULL;
}

static int escape(float x, float y)
{
	int n = 0;
	while (n < params.limit && x * x + y * y < 4.0f) {
		float t = x * x - y * y + params.re;
		y = 2.0f * x * y + params.im;
		x = t;
		n++;
	}
	return n;
}

int main(int argc, char *argv[])
{
	int w = atoi(argv[1]), h = atoi(argv[2]), row = 0, busy = SPES, differ = 0;
	spe_program_handle_t *prog = spe_image_open("./julia_spu.elf");
	spu_t spus[SPES];
	spe_event_handler_ptr_t events = spe_event_handler_create();
	unsigned char *image;

	posix_memalign((void **)&image, 128, MAX_WIDTH * h);
	params = (params_t){(unsigned long)image, w, h, 200, -0.4f, 0.6f, -1.5f, -1.0f, 3.0f / w};
	for (int i = 0; i < SPES; i++) {
		spe_event_unit_t unit = {.events = SPE_EVENT_OUT_INTR_MBOX};
		spus[i].ctx = spe_context_create(SPE_EVENTS_ENABLE, NULL);
		spe_program_load(spus[i].ctx, prog);
		unit.spe = spus[i].ctx;
		unit.data.ptr = &spus[i];
		spe_event_handler_register(events, &unit);
		pthread_create(&spus[i].thread, NULL, run, &spus[i]);
	}
	while (busy > 0) {
		spe_event_unit_t unit;
		unsigned int asked, answer;
		if (spe_event_wait(events, &unit, 1, -1) < 1)
			continue;
		spe_out_intr_mbox_read(unit.spe, &asked, 1, SPE_MBOX_ANY_BLOCKING);
		answer = row < h ? (unsigned int)row++ : STOP;
		busy -= answer == STOP;
		spe_in_mbox_write(unit.spe, &answer, 1, SPE_MBOX_ANY_NONBLOCKING);
	}
	for (int i = 0; i < SPES; i++) {
		pthread_join(spus[i].thread, NULL);
		spe_context_destroy(spus[i].ctx);
	}
	spe_event_handler_destroy(events);
	/* Rounding may move a point at the edge. */
	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++)
			differ += image[y * MAX_WIDTH + x] != escape(params.left + x * params.step, params.top + y * params.step);
	printf("%d of %d points differ\n", differ, w * h);
	return differ * 50 > w * h;
}
