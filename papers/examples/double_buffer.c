/* One SPE doubles 64 Ki numbers by double buffering, and reports by mailbox. */
#include "ladder.h"

#define COUNT (64 << 10)

extern spe_program_handle_t double_buffer_spu;

static float data[COUNT] __attribute__((aligned(128)));
static struct {
    unsigned long long data;
    unsigned int count, padding;
} job __attribute__((aligned(16)));

int main(void)
{
    unsigned int chunks = 0, wrong = 0;
    struct worker one = worker(&double_buffer_spu, 0, &job);
    for (int i = 0; i < COUNT; i++)
        data[i] = (float)i;
    job.data = (unsigned long)data, job.count = COUNT;
    start(&one);
    MUST(pthread_join(one.thread, NULL) == 0 && one.result == 0);
    MUST(spe_out_mbox_read(one.spe, &chunks, 1) == 1);
    for (int i = 0; i < COUNT; i++)
        wrong += data[i] != 2.0f * (float)i;
    printf("%u chunks, %u wrong numbers\n", chunks, wrong);
    MUST(spe_context_destroy(one.spe) == 0);
    return wrong != 0;
}
