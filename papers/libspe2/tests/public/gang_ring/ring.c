/* A gang in a chain of affinity. Each SPE sends blocks into the next one's local store, where that one's buffer is. */
#include <errno.h>
#include <libspe2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ring.h"

extern spe_program_handle_t ring_spu;

static spe_context_ptr_t ctx[PEERS];
static peer_info info[PEERS];
static struct { pthread_t thread; int rank, result; } thread_data[PEERS];

static void *spe_thread(void *p)
{
	int rank = *(int *)p;
	unsigned int entry = SPE_DEFAULT_ENTRY;
	spe_stop_info_t stop;
	thread_data[rank].result = spe_context_run(ctx[rank], &entry, 0, &info[rank], (void *)sizeof(peer_info), &stop);
	if (thread_data[rank].result == 0)
		thread_data[rank].result = stop.result.spe_exit_code;
	return NULL;
}

int main(void)
{
	spe_gang_context_ptr_t gang = spe_gang_context_create(0);
	uint32_t buffer[PEERS];
	int i, j, failed = 0;
	if (gang == NULL) {
		printf("spe_gang_context_create: %s\n", strerror(errno));
		return 1;
	}
	for (i = 0; i < PEERS; i++) {
		ctx[i] = spe_context_create_affinity(SPE_MAP_PS, i == 0 ? NULL : ctx[i - 1], gang);
		if (ctx[i] == NULL || spe_program_load(ctx[i], &ring_spu) != 0) {
			printf("context %d: %s\n", i, strerror(errno));
			return 1;
		}
	}
	for (i = 0; i < PEERS; i++) {
		info[i].rank = i, info[i].size = PEERS;
		for (j = 0; j < PEERS; j++) {
			info[i].ls[j] = (uint32_t)(uintptr_t)spe_ls_area_get(ctx[j]);
			info[i].sig[j] = (uint32_t)(uintptr_t)spe_ps_area_get(ctx[j], SPE_SIG_NOTIFY_2_AREA) + 12;
		}
		thread_data[i].rank = i;
		pthread_create(&thread_data[i].thread, NULL, spe_thread, &thread_data[i].rank);
	}
	/* Where each one's buffer is, as an offset that it tells. */
	for (i = 0; i < PEERS; i++) {
		while (spe_out_mbox_status(ctx[i]) == 0)
			;
		spe_out_mbox_read(ctx[i], &buffer[i], 1);
		if (buffer[i] % 128 != 0 || buffer[i] + 2 * BYTES > spe_ls_size_get(ctx[i]))
			failed = 1;
	}
	for (i = 0; i < PEERS; i++)
		spe_in_mbox_write(ctx[i], &buffer[(i + 1) % PEERS], 1, SPE_MBOX_ALL_BLOCKING);
	for (i = 0; i < PEERS; i++)
		pthread_join(thread_data[i].thread, NULL);
	for (i = 0; i < PEERS; i++) {
		/* The last block that came is still there, for the PPE to read. */
		uint32_t first = *(uint32_t *)((char *)spe_ls_area_get(ctx[i]) + buffer[i]);
		failed |= thread_data[i].result != 0 || first != 100 * ((i + PEERS - 1) % PEERS) + ROUNDS - 2;
		spe_context_destroy(ctx[i]);
	}
	spe_gang_context_destroy(gang);
	puts(failed ? "failed" : "passed");
	return failed;
}
