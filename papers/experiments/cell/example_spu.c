/* The example of the paper's microbenchmark: a message, a block to the store, a number added to all, the block back. */
#include <spu_intrinsics.h>
#include <spu_mfcio.h>

#define NUMBERS 4096

static vec_float4 block[NUMBERS / 4] __attribute__((aligned(128)));

int main(unsigned long long spe, unsigned long long argp)
{
    vec_float4 step = spu_splats((float)spu_read_in_mbox());
    (void)spe;
    mfc_write_tag_mask(1);
    mfc_get(block, argp, sizeof block, 0, 0, 0);
    mfc_read_tag_status_all();
    for (int at = 0; at < NUMBERS / 4; at++)
        block[at] = spu_add(block[at], step);
    mfc_put(block, argp, sizeof block, 0, 0, 0);
    mfc_read_tag_status_all();
    spu_write_out_mbox(0);
    return 0;
}
