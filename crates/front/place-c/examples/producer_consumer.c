/* producer_consumer [VALUES]: values through one channel, as the kernel seats the threads, and then on seats of their own.
 * Asking for the seats counts in the speed-up, as in Liu et al. 2015 (figure 11). */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <seatmap_place.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE_BYTES = 4096, LINE_BYTES = 64 };

/* A channel of one in one cache line: 0 is empty. */
struct side {
    uint64_t *line;
    uint64_t values, sum;
    const seatmap_thread_attributes *seat;
    int failed;
};

static void wait_while_empty(uint64_t *line, int empty)
{
    for (unsigned looks = 1; (__atomic_load_n(line, __ATOMIC_ACQUIRE) == 0) == empty; looks++)
        if (looks % 200 == 0)
            sched_yield();
}

static void sit(struct side *side)
{
    cpu_set_t *set = side->seat ? CPU_ALLOC(side->seat->cpu + 1) : NULL;
    if (!set)
        return;
    size_t bytes = CPU_ALLOC_SIZE(side->seat->cpu + 1);
    CPU_ZERO_S(bytes, set);
    CPU_SET_S(side->seat->cpu, bytes, set);
    side->failed = pthread_setaffinity_np(pthread_self(), bytes, set);
    CPU_FREE(set);
}

static void *produce(void *argument)
{
    struct side *side = argument;
    sit(side);
    for (uint64_t value = 1; value <= side->values; value++) {
        wait_while_empty(side->line, 0);
        __atomic_store_n(side->line, value, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void *consume(void *argument)
{
    struct side *side = argument;
    sit(side);
    for (uint64_t taken = 0; taken < side->values; taken++) {
        wait_while_empty(side->line, 1);
        side->sum += __atomic_load_n(side->line, __ATOMIC_RELAXED);
        __atomic_store_n(side->line, 0, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* Zero where all values came through. */
static int run(char *page, uint64_t values, const seatmap_thread_attributes seats[2])
{
    size_t line = seats && seats[0].has_line ? seats[0].line : 0;
    struct side sides[2];
    pthread_t threads[2];
    for (int at = 0; at < 2; at++) {
        struct side side = {(uint64_t *)(void *)(page + line * LINE_BYTES), values, 0, seats ? &seats[at] : NULL, 0};
        sides[at] = side;
    }
    if (pthread_create(&threads[0], NULL, produce, &sides[0]) || pthread_create(&threads[1], NULL, consume, &sides[1]))
        return 1;
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return sides[0].failed || sides[1].failed || sides[1].sum != values * (values + 1) / 2;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int count, char **words)
{
    uint64_t values = count > 1 ? strtoull(words[1], NULL, 10) : 100000;
    const seatmap_channel orders = {0, 1};
    seatmap_thread_attributes side[2];
    seatmap_seats *seats = NULL;
    void *page = NULL;
    if (posix_memalign(&page, PAGE_BYTES, PAGE_BYTES))
        return 1;
    memset(page, 0, PAGE_BYTES);
    double t1 = now();
    int failed = run((char *)page, values, NULL);
    double t2 = now();
    failed = failed || seatmap_channels_seats_over(NULL, &orders, 1, 0, page, PAGE_BYTES, &seats)
        || seatmap_seats_side(seats, 0, 0, &side[0])
        || seatmap_seats_side(seats, 0, 1, &side[1])
        || run((char *)page, values, side);
    double t4 = now();
    if (failed)
        fprintf(stderr, "producer_consumer: %s\n", seatmap_last_error());
    else
        printf("%llu values on CPUs %u and %u, %s: speed-up %.2f\n", (unsigned long long)values, (unsigned)side[0].cpu,
               (unsigned)side[1].cpu, side[0].has_line ? "over the line of a near home" : "lines are alike",
               (t2 - t1) / (t4 - t2));
    seatmap_seats_free(seats);
    free(page);
    return failed;
}
