/* What a caller can get wrong: each has a status and a line, and nothing crashes. */
#include <seatmap_worker.h>
#include <stdio.h>
#include <string.h>

static void told(const char *what, seatmap_worker_status status)
{
    printf("%s: %d %s\n", what, (int)status, seatmap_worker_last_error());
}

static unsigned waits(seatmap_inside *inside, uint64_t argument, void *data)
{
    uint32_t message = 0;
    (void)argument;
    (void)data;
    if (seatmap_inside_get(inside, seatmap_inside_store_size(inside), &message, 1) || seatmap_inside_get(inside, 0, NULL, 1)
        || seatmap_inside_put(inside, (size_t)-1, &message, 4) || seatmap_inside_mbox_try_read(inside, NULL)
        || seatmap_inside_signal_read(inside, 2))
        return 1;
    return seatmap_inside_mbox_read(inside);
}

static void runtimes(uint32_t cpu)
{
    seatmap_runtime *runtime = NULL;
    uint32_t twice[2] = {3, 3}, nowhere = 500000;
    seatmap_runtime_options polling = {0, 7, 0, 0}, flags = {0, 0, 0, 1}, large = {(size_t)1 << 60, 2, 0, 0};
    told("no CPUs", seatmap_runtime_create(NULL, 1, NULL, &runtime));
    told("none", seatmap_runtime_create(&cpu, 0, NULL, &runtime));
    told("minus one", seatmap_runtime_create(&cpu, (size_t)-1, NULL, &runtime));
    told("twice", seatmap_runtime_create(twice, 2, NULL, &runtime));
    told("nowhere", seatmap_runtime_create(&nowhere, 1, NULL, &runtime));
    told("polling", seatmap_runtime_create(&cpu, 1, &polling, &runtime));
    told("flags", seatmap_runtime_create(&cpu, 1, &flags, &runtime));
    told("large", seatmap_runtime_create(&cpu, 1, &large, &runtime));
    told("nowhere to", seatmap_runtime_create(&cpu, 1, NULL, NULL));
    told("no count", seatmap_allowed_cpus(&cpu, 1, NULL));
    printf("runtime %s\n", runtime == NULL ? "still NULL" : "made");
}

static void contexts(seatmap_runtime *runtime)
{
    seatmap_context *context = NULL, *second = NULL;
    uint32_t message = 9, stop_code = 0;
    told("no runtime", seatmap_context_create(NULL, &context));
    told("a context", seatmap_context_create(runtime, &context));
    told("a second", seatmap_context_create(runtime, &second));
    told("nothing started", seatmap_context_wait(context, NULL));
    told("no program", seatmap_context_start(context, 0));
    told("NULL program", seatmap_program_load(context, NULL, NULL));
    told("load", seatmap_program_load(context, waits, NULL));
    told("start", seatmap_context_start(context, 0));
    told("start again", seatmap_context_start(context, 0));
    told("give back", seatmap_context_give_back(context));
    told("behaviour", seatmap_in_mbox_write(context, &message, 1, 0, NULL));
    told("no messages", seatmap_in_mbox_write(context, NULL, 1, SEATMAP_MBOX_ALL_BLOCKING, NULL));
    told("nowhere to read", seatmap_out_mbox_read(context, NULL, 1, SEATMAP_MBOX_ANY_NONBLOCKING, NULL));
    told("signal", seatmap_signal_write(context, 2, 0));
    told("message", seatmap_in_mbox_write(context, &message, 1, SEATMAP_MBOX_ALL_BLOCKING, NULL));
    told("wait", seatmap_context_wait(context, &stop_code));
    printf("stopped with %u, second %s\n", (unsigned)stop_code, second == NULL ? "still NULL" : "made");
    memset(seatmap_store_address(context), 0xa5, seatmap_store_size(context));
    seatmap_context_destroy(context);
    told("another", seatmap_context_create(runtime, &context));
    printf("its store begins with %d\n", *(unsigned char *)seatmap_store_address(context));
    told("give back", seatmap_context_give_back(context));
    seatmap_runtime_destroy(runtime);
    seatmap_context_destroy(context);
}

/* NULL is an answer everywhere. */
static void nothing(void)
{
    seatmap_runtime_destroy(NULL);
    seatmap_context_destroy(NULL);
    seatmap_inside_mbox_write(NULL, 1);
    told("run", seatmap_context_run(NULL, 0, NULL));
    printf("%zu %zu %u %u\n", seatmap_runtime_workers(NULL), seatmap_store_size(NULL),
           (unsigned)seatmap_in_mbox_status(NULL), (unsigned)seatmap_out_mbox_status(NULL));
    printf("%d %d %d\n", seatmap_store_address(NULL) == NULL, seatmap_inside_store(NULL) == NULL,
           (int)seatmap_context_ended(NULL));
    printf("%u %u %d\n", (unsigned)seatmap_inside_mbox_read(NULL), (unsigned)seatmap_inside_signal_read(NULL, 0),
           (int)seatmap_inside_mbox_try_write(NULL, 1));
}

int main(void)
{
    seatmap_runtime *runtime = NULL;
    seatmap_runtime_options options = {4096, SEATMAP_POLLING_SLEEP, 0, 0};
    uint32_t cpu = 0;
    size_t cpus = 0;
    told("CPUs", seatmap_allowed_cpus(&cpu, 1, &cpus));
    runtimes(cpu);
    told("runtime", seatmap_runtime_create(&cpu, 1, &options, &runtime));
    printf("%zu worker\n", seatmap_runtime_workers(runtime));
    contexts(runtime);
    nothing();
    return 0;
}
