/* A schedule on POSIX threads. The messages go through pipes, or through queues of semaphores (futex). Eight
   messages fill a pipe or queue. */
#define _GNU_SOURCE
#include "schedule.h"
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

static int by_pipe, pipes[MOST][MOST][2];
static sem_t boxes[MOST][MOST], room[MOST][MOST];
static __thread char message[512];

static void send_to(int from, int to) {
    if (by_pipe) {
        if (write(pipes[from][to][1], message, sizeof message) != sizeof message) exit(1);
    } else {
        sem_wait(&room[from][to]);
        sem_post(&boxes[from][to]);
    }
}

static void receive(int from, int to) {
    if (by_pipe) {
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
