/* One SPE doubles 64 Ki numbers by double buffering, and reports by mailbox. */
#include <libspe2.h>

#define COUNT (64 << 10)

extern spe_program_handle_t stream_spu;

static float data[COUNT] __attribute__((aligned(128)));
static struct {
    unsigned long long data;
    unsigned int count, padding;
} job __attribute__((aligned(16)));

int main(void)
{
    unsigned int entry = SPE_DEFAULT_ENTRY, chunks = 0, wrong = 0;
    spe_context_ptr_t spe = spe_context_create(0, NULL);
    for (int i = 0; i < COUNT; i++)
        data[i] = (float)i;
    job.data = (unsigned long)data, job.count = COUNT;
    if (spe == NULL || spe_program_load(spe, &stream_spu) != 0
        || spe_context_run(spe, &entry, 0, &job, NULL, NULL) != 0) {
        perror("stream");
        return 1;
    }
    spe_out_mbox_read(spe, &chunks, 1);
    for (int i = 0; i < COUNT; i++)
        wrong += data[i] != 2.0f * (float)i;
    printf("%u chunks, %u wrong numbers\n", chunks, wrong);
    spe_context_destroy(spe);
    return wrong != 0;
}
