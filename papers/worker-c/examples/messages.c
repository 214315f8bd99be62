/* Messages and signals: a worker doubles what it is sent, waits for a signal, and ends. */
#include <seatmap_worker.h>
#include <stdio.h>

enum { COUNT = 6 };

/* The argument says for how many messages it waits; the data, where to tell what it was signalled. */
static unsigned doubled(seatmap_inside *inside, uint64_t count, void *data)
{
    uint32_t message = 0;
    while (count-- > 0)
        seatmap_inside_mbox_write(inside, 2 * seatmap_inside_mbox_read(inside));
    if (seatmap_inside_mbox_try_read(inside, &message))
        return message;
    *(uint32_t *)data = seatmap_inside_signal_read(inside, 0);
    return 7;
}

/* Zero where all is well. */
static int talk(seatmap_context *context)
{
    const uint32_t sent[COUNT] = {1, 2, 3, 4, 5, 6};
    uint32_t answer = 0, signalled = 0, stop_code = 0;
    size_t written = 0;
    printf("room for %u\n", (unsigned)seatmap_in_mbox_status(context));
    if (seatmap_in_mbox_write(context, sent, COUNT, SEATMAP_MBOX_ANY_NONBLOCKING, &written)
        || seatmap_program_load(context, doubled, &signalled)
        || seatmap_context_start(context, COUNT))
        return 1;
    printf("%u of %d fit\nthe worker has doubled 1 2 3 4 5 6:", (unsigned)written, COUNT);
    for (int at = 0; at < COUNT; at++) {
        if (seatmap_out_mbox_read(context, &answer, 1, SEATMAP_MBOX_ALL_BLOCKING, NULL))
            return 1;
        printf(" %u", (unsigned)answer);
        if (written < COUNT && seatmap_in_mbox_write(context, sent + written++, 1, SEATMAP_MBOX_ALL_BLOCKING, NULL))
            return 1;
    }
    if (seatmap_signal_write(context, 0, 5) || seatmap_context_wait(context, &stop_code))
        return 1;
    printf("\nsignalled with %u\nit ended with %u\n", (unsigned)signalled, (unsigned)stop_code);
    return 0;
}

int main(void)
{
    seatmap_runtime *runtime = NULL;
    seatmap_context *context = NULL;
    seatmap_runtime_options options = {0, SEATMAP_POLLING_ADAPTIVE, 20, SEATMAP_SIGNOTIFY1_OR};
    uint32_t cpu = 0;
    size_t cpus = 0;
    int failed = seatmap_allowed_cpus(&cpu, 1, &cpus)
        || seatmap_runtime_create(&cpu, 1, &options, &runtime)
        || seatmap_context_create(runtime, &context)
        || talk(context);
    if (failed)
        fprintf(stderr, "%s\n", seatmap_worker_last_error());
    seatmap_context_destroy(context);
    seatmap_runtime_destroy(runtime);
    return failed;
}
