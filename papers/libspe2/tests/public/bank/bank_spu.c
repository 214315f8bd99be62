#include <spu_intrinsics.h>
#include <spu_mfcio.h>
#include <stdlib.h>
#include <libsync.h>
#include "bank.h"

static volatile struct block block __attribute__((aligned(128)));

int main(unsigned long long id, unsigned long long argp, unsigned long long envp)
{
    volatile struct block *b = &block;
    unsigned int seed = (unsigned int)envp, i;
    (void)id;
    mfc_get(b, argp, sizeof *b, 3, 0, 0);
    mfc_write_tag_mask(8);
    mfc_read_tag_status_all();
    unsigned long long lock = b->lock, accounts = b->accounts, done = b->done, go = b->go;
    /* wait for the start */
    mutex_lock(lock);
    while (1) {
        mfc_get(b, argp, sizeof *b, 3, 0, 0);
        mfc_read_tag_status_all();
        if (b->started) break;
        cond_wait(go, lock);
    }
    mutex_unlock(lock);
    for (i = 0; i < 50; i++) {
        static int a[ACCOUNTS] __attribute__((aligned(128)));
        unsigned int from, to;
        seed = seed * 1103515245 + 12345; from = (seed >> 16) % ACCOUNTS;
        seed = seed * 1103515245 + 12345; to = (seed >> 16) % ACCOUNTS;
        mutex_lock(lock);
        mfc_get(a, accounts, sizeof a, 4, 0, 0);
        mfc_write_tag_mask(1 << 4);
        mfc_read_tag_status_all();
        a[from] -= 5; a[to] += 5;
        mfc_put(a, accounts, sizeof a, 4, 0, 0);
        mfc_read_tag_status_all();
        mutex_unlock(lock);
        atomic_inc(done);
        mfc_write_tag_mask(8);
    }
    return atomic_read(done) >= 50 ? 0 : 1;
}
