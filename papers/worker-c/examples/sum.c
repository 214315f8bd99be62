/* Sums an array: a worker fetches block after block into its local store. */
#include <seatmap_worker.h>
#include <stdio.h>

enum { COUNT = 65536, BLOCK = 4096 };

static uint32_t numbers[COUNT];

/* The program of a worker: it sees the worker from within, and the numbers that it was loaded with. */
static unsigned sum(seatmap_inside *inside, uint64_t count, void *data)
{
    const uint32_t *from = (const uint32_t *)data;
    const uint32_t *block = (const uint32_t *)seatmap_inside_store(inside);
    uint32_t sum = 0;
    for (uint64_t first = 0; first < count; first += BLOCK) {
        if (!seatmap_inside_get(inside, 0, from + first, BLOCK * sizeof *from))
            return 0;
        for (int at = 0; at < BLOCK; at++)
            sum += block[at];
    }
    return sum;
}

int main(void)
{
    seatmap_runtime *runtime = NULL;
    seatmap_context *context = NULL;
    /* Workers that sleep while they wait may share their CPU; those that spin answer a hundred times faster. */
    seatmap_runtime_options options = {0, SEATMAP_POLLING_SLEEP, 0, 0};
    uint32_t cpu = 0, answer = 0;
    size_t cpus = 0;
    for (uint32_t at = 0; at < COUNT; at++)
        numbers[at] = at;
    int failed = seatmap_allowed_cpus(&cpu, 1, &cpus)
        || seatmap_runtime_create(&cpu, 1, &options, &runtime)
        || seatmap_context_create(runtime, &context)
        || seatmap_program_load(context, sum, numbers)
        || seatmap_context_run(context, COUNT, &answer);
    if (failed)
        fprintf(stderr, "%s\n", seatmap_worker_last_error());
    else
        printf("the sum is %u\n", (unsigned)answer);
    seatmap_context_destroy(context);
    seatmap_runtime_destroy(runtime);
    return failed;
}
