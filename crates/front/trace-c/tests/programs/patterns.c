/* Threads that spin on shared lines in a known pattern, as C with pthreads, as C++ or with OpenMP.
 *
 * usage: patterns ring|stencil|tree|pipeline|workers THREADS ROUNDS
 *
 * In each round the sender of an edge writes the lines of its message and then a flag, on which the receiver spins.
 * Rounds end with a barrier of the C library, whose lines nobody sees. The program prints each thread's number, and
 * the lines that it knows to have passed. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __cplusplus
#include <thread>
#include <vector>
#endif

enum { MOST_THREADS = 64, MOST_EDGES = 512, MOST_LINES = 8 };

typedef struct { int value; char rest[60]; } line_t;
typedef struct { int from, to, lines; } edge_t;

static line_t messages[MOST_EDGES][1 + MOST_LINES] __attribute__((aligned(64)));
static edge_t edges[MOST_EDGES] __attribute__((aligned(64)));
static int edge_count, threads, rounds;
static long numbers[MOST_THREADS], sums[MOST_THREADS];
static pthread_barrier_t barrier;

static void both(int from, int to, int lines) {
    edge_t forth = {from, to, lines}, back = {to, from, lines};
    edges[edge_count++] = forth;
    edges[edge_count++] = back;
}

static void one(int from, int to, int lines) {
    edge_t edge = {from, to, lines};
    edges[edge_count++] = edge;
}

static void choose(const char *pattern) {
    int side = threads >= 64 ? 8 : 4;
    for (int own = 0; own < threads; own++) {
        if (!strcmp(pattern, "ring")) one(own, (own + 1) % threads, 2);
        if (!strcmp(pattern, "pipeline") && own + 1 < threads) one(own, own + 1, 1 + own % 3);
        if (!strcmp(pattern, "tree") && own > 0) both((own - 1) / 2, own, own < 3 ? 6 : 2);
        if (!strcmp(pattern, "workers") && own > 0) both(0, own, 2);
        if (!strcmp(pattern, "stencil") && own % side + 1 < side) both(own, own + 1, 4);
        if (!strcmp(pattern, "stencil") && own + side < threads) both(own, own + side, 2);
    }
}

static void send(const edge_t *edge, line_t *lines, int round) {
    for (int at = 1; at < edge->lines; at++) lines[at].value = round + at;
    __atomic_store_n(&lines[0].value, round, __ATOMIC_RELEASE);
}

static int receive(const edge_t *edge, line_t *lines, int round) {
    int sum = 0;
    while (__atomic_load_n(&lines[0].value, __ATOMIC_ACQUIRE) != round) sched_yield();
    for (int at = 1; at < edge->lines; at++) sum += lines[at].value;
    return sum;
}

static void *work(void *argument) {
    int own = (int)(long)argument;
    long sum = 0;
    numbers[own] = syscall(SYS_gettid);
    for (int round = 1; round <= rounds; round++) {
        for (int at = 0; at < edge_count; at++)
            if (edges[at].from == own) send(&edges[at], messages[at], round);
        for (int at = 0; at < edge_count; at++)
            if (edges[at].to == own) sum += receive(&edges[at], messages[at], round);
        pthread_barrier_wait(&barrier);
    }
    sums[own] = sum;
    return NULL;
}

static void run(void) {
#if defined(_OPENMP)
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int own = 0; own < threads; own++) work((void *)(long)own);
#elif defined(__cplusplus)
    std::vector<std::thread> all;
    for (long own = 0; own < threads; own++) all.emplace_back(work, (void *)own);
    for (auto &thread : all) thread.join();
#else
    pthread_t all[MOST_THREADS];
    for (long own = 0; own < threads; own++) pthread_create(&all[own], NULL, work, (void *)own);
    for (long own = 0; own < threads; own++) pthread_join(all[own], NULL);
#endif
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    threads = atoi(arguments[2]);
    rounds = atoi(arguments[3]);
    choose(arguments[1]);
    pthread_barrier_init(&barrier, NULL, threads);
    run();
    for (int own = 0; own < threads; own++) printf("thread %d %ld %ld\n", own, numbers[own], sums[own]);
    for (int at = 0; at < edge_count; at++)
        printf("edge %d %d %d\n", edges[at].from, edges[at].to, edges[at].lines * rounds);
    return 0;
}
