/* Doubles an array of main memory, with two buffers: one is transferred while the other is worked on. */
#include <spu_intrinsics.h>
#include <spu_mfcio.h>

#define CHUNK 1024

struct job {
    unsigned long long data;
    unsigned int count, padding;
} __attribute__((aligned(16)));

static vec_float4 buffers[2][CHUNK / 4] __attribute__((aligned(128)));

int main(unsigned long long spe, unsigned long long argp)
{
    struct job job;
    (void)spe;
    mfc_get(&job, argp, sizeof job, 0, 0, 0);
    mfc_write_tag_mask(1);
    mfc_read_tag_status_all();
    unsigned int chunks = job.count / CHUNK;
    mfc_get(buffers[0], job.data, sizeof buffers[0], 0, 0, 0);
    for (unsigned int chunk = 0; chunk < chunks; chunk++) {
        unsigned int now = chunk & 1, next = now ^ 1;
        if (chunk + 1 < chunks)
            mfc_getb(buffers[next], job.data + (chunk + 1) * sizeof buffers[0], sizeof buffers[0], next, 0, 0);
        mfc_write_tag_mask(1 << now);
        mfc_read_tag_status_all();
        for (int i = 0; i < CHUNK / 4; i++)
            buffers[now][i] = spu_add(buffers[now][i], buffers[now][i]);
        mfc_put(buffers[now], job.data + chunk * sizeof buffers[0], sizeof buffers[0], now, 0, 0);
    }
    mfc_write_tag_mask(3);
    mfc_read_tag_status_all();
    spu_write_out_mbox(chunks);
    return 0;
}
