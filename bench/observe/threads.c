/* A schedule on POSIX threads. The messages go through pipes, through queues of semaphores (futex), or through queues
   in shared memory on which both ends spin. Eight messages fill a pipe or queue. */
#define _GNU_SOURCE
#include "schedule.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* Each counter on a line of its own, and each message on one. */
struct queue {
    _Alignas(64) atomic_long sent;
    _Alignas(64) atomic_long taken;
    _Alignas(64) char messages[8][64];
};

static struct queue queues[MOST][MOST];
static int by_pipe, by_spinning, pipes[MOST][MOST][2];
static sem_t boxes[MOST][MOST], room[MOST][MOST];
static __thread char message[512];

/* Spins until a counter is above a value. Where threads outnumber CPUs, others must come to run. */
static void wait_above(atomic_long *counter, long value) {
    for (int turns = 0; atomic_load_explicit(counter, memory_order_acquire) <= value; turns++)
        if (turns % 64 == 63) sched_yield();
}

static void send_by_spinning(struct queue *queue) {
    long number = atomic_load_explicit(&queue->sent, memory_order_relaxed);
    wait_above(&queue->taken, number - 8);
    memcpy(queue->messages[number % 8], message, sizeof queue->messages[0]);
    atomic_store_explicit(&queue->sent, number + 1, memory_order_release);
}

static void receive_by_spinning(struct queue *queue) {
    long number = atomic_load_explicit(&queue->taken, memory_order_relaxed);
    wait_above(&queue->sent, number);
    memcpy(message, queue->messages[number % 8], sizeof queue->messages[0]);
    atomic_store_explicit(&queue->taken, number + 1, memory_order_release);
}

static void send_to(int from, int to) {
    if (by_spinning) {
        send_by_spinning(&queues[from][to]);
    } else if (by_pipe) {
        if (write(pipes[from][to][1], message, sizeof message) != sizeof message) exit(1);
    } else {
        sem_wait(&room[from][to]);
        sem_post(&boxes[from][to]);
    }
}

static void receive(int from, int to) {
    if (by_spinning) {
        receive_by_spinning(&queues[from][to]);
    } else if (by_pipe) {
        if (read(pipes[from][to][0], message, sizeof message) != sizeof message) exit(1);
    } else {
        sem_wait(&boxes[from][to]);
        sem_post(&room[from][to]);
    }
}

static void play(int task) {
    char name[16];
    snprintf(name, sizeof name, "w%d", task);
    pthread_setname_np(pthread_self(), name);
    for (int round = 0; round < rounds; round++) {
        do_work();
        for (int at = 0; at < count[task]; at++) {
            int other = with[task][at];
            if (sends[task][at]) send_to(task, other);
            else receive(other, task);
        }
    }
}

static void *run(void *task) {
    play((int)(long)task);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    read_schedule(argv[1]);
    by_pipe = !strcmp(argv[2], "pipe");
    by_spinning = !strcmp(argv[2], "spin");
    for (int from = 0; from < tasks; from++)
        for (int at = 0; at < count[from]; at++) {
            int to = with[from][at];
            if (!sends[from][at]) continue;
            sem_init(&boxes[from][to], 0, 0);
            sem_init(&room[from][to], 0, 8);
            if (by_pipe && (pipe(pipes[from][to]) || fcntl(pipes[from][to][0], F_SETPIPE_SZ, 4096) < 0)) return 1;
        }
#ifdef _OPENMP
#pragma omp parallel for num_threads(tasks) schedule(static, 1)
    for (int task = 0; task < tasks; task++) play(task);
#else
    pthread_t threads[MOST];
    for (long task = 0; task < tasks; task++) pthread_create(&threads[task], NULL, run, (void *)task);
    for (int task = 0; task < tasks; task++) pthread_join(threads[task], NULL);
#endif
    return 0;
}
