/* Counters, a barrier and a mutex in main memory, each in a line of its own, from the PPE and the SPEs. */
#include <libmisc.h>
#include <libspe2.h>
#include <libsync.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common.h"

#define ROUNDS 100

extern spe_program_handle_t sync_spu;
static program_args args[8];

typedef struct {
	spe_context_ptr_t ctx;
	pthread_t thread;
	program_args *args;
	int code;
} job;

static void *run(void *arg)
{
	job *j = arg;
	spe_stop_info_t stop;
	unsigned int entry = SPE_DEFAULT_ENTRY;
	j->code = spe_context_run(j->ctx, &entry, 0, j->args, NULL, &stop) < 0 ? -1 : stop.result.spe_exit_code;
	return NULL;
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 2, failed = 0;
	char *lines = malloc_align(5 * 128, 7);
	unsigned int *list = malloc_align(8192, 7);
	job jobs[8];
	memset(lines, 0, 5 * 128);
	memset(list, 0, 8192);
	mutex_init((mutex_ea_t)(unsigned long)(lines + 384));
	for (i = 0; i < n; i++) {
		program_args *a = jobs[i].args = &args[i];
		a->counter = (ull)(unsigned long)lines;
		a->barrier[0] = a->counter + 128, a->barrier[1] = a->counter + 256, a->lock = a->counter + 384;
		a->list = (ull)(unsigned long)list, a->rank = i, a->n = n, a->rounds = ROUNDS;
		jobs[i].ctx = spe_context_create(0, NULL);
		spe_program_load(jobs[i].ctx, &sync_spu);
	}
	for (i = 0; i < n; i++)
		pthread_create(&jobs[i].thread, NULL, run, &jobs[i]);
	for (i = 0; i < ROUNDS; i++) {
		atomic_inc(args[0].counter);
		mutex_lock(args[0].lock);
		list[++list[0]] = 1000;
		mutex_unlock(args[0].lock);
	}
	for (i = 0; i < n; i++) {
		pthread_join(jobs[i].thread, NULL);
		failed |= jobs[i].code != 0;
		spe_context_destroy(jobs[i].ctx);
	}
	int seen[9] = {0};
	for (i = 1; i <= (int)list[0]; i++)
		seen[list[i] == 1000 ? 8 : list[i]]++;
	for (i = 0; i < n; i++)
		failed |= seen[i] != ROUNDS;
	failed |= seen[8] != ROUNDS || atomic_read(args[0].counter) != (n + 1) * ROUNDS;
	puts(failed ? "failed" : "passed");
	free_align(lines);
	free_align(list);
	return failed;
}
