#include <libsync.h>
#include <spu_intrinsics.h>
#include <spu_mfcio.h>
#include <spu_timer.h>
#include "common.h"

static volatile program_args args __attribute__((aligned(128)));
static volatile unsigned int list[2048] __attribute__((aligned(128)));

void barrier()
{
	static volatile int index = 0;
	index ^= 1;
	atomic_inc(args.barrier[index]);
	if (0 == args.rank) {
		while (atomic_read(args.barrier[index]) != args.n);
		atomic_set(args.barrier[index], 0);
	} else {
		while (atomic_read(args.barrier[index]));
	}
}

int main(ull id, ull argp, ull envp)
{
	int i;
	ull start;
	mfc_get(&args, argp, sizeof(args), 3, 0, 0);
	mfc_write_tag_mask(1 << 3);
	mfc_read_tag_status_all();
	spu_clock_start();
	start = spu_clock_read();
	for (i = 0; i < args.rounds; i++) {
		atomic_inc(args.counter);
		mutex_lock(args.lock);
		mfc_get(list, args.list, sizeof list, 3, 0, 0);
		mfc_read_tag_status_all();
		list[++list[0]] = args.rank;
		mfc_put(list, args.list, sizeof list, 3, 0, 0);
		mfc_read_tag_status_all();
		mutex_unlock(args.lock);
		if (i % 10 == 0)
			barrier();
	}
	start = spu_clock_read() - start;
	spu_clock_stop();
	return start == 0;
}
