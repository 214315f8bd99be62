// Programs whose threads share memory. Each counts its finished work in the first eight bytes of a file.
//
//     shared MODE FILE [LOOPS [SIZE [THREADS]]]
//
// LOOPS is the work of a turn; SIZE is the length of a queue, the bytes of a buffer, the spins before a wait, or the
// work outside a lock.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/futex.h>
#include <sys/syscall.h>

static _Atomic long *count;
static void done(void) { atomic_fetch_add_explicit(count, 1, memory_order_relaxed); }
static volatile long sink;
static void work(long loops) { for (long k = 0; k < loops; k++) sink = k; }

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static long turn, loops, size = 1, parties = 2;

// Turns by a condition variable.
static void *turns(void *arg) {
    long me = (long)arg;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (turn != me) pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        work(loops);
        pthread_mutex_lock(&lock);
        turn = (turn + 1) % parties;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        if (me == 0) done();
    }
    return 0;
}
// Turns by spinning, at first or always, and then a futex.
static _Atomic int word;
static long spins;
static void *spinning_turns(void *arg) {
    int me = (long)arg;
    for (;;) {
        long tries = 0;
        for (int now; (now = atomic_load(&word)) % 2 != me;)
            if (++tries > spins) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, now, 0, 0, 0);
        work(loops);
        atomic_fetch_add(&word, 1);
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
        if (me == 0) done();
    }
    return 0;
}
// A mutex that all want.
static void *contender(void *arg) {
    (void)arg;
    for (;;) {
        pthread_mutex_lock(&lock);
        work(loops);
        done();
        pthread_mutex_unlock(&lock);
        work(size);
    }
    return 0;
}
// Bounded queues in a chain of stages.
static struct queue { pthread_mutex_t lock; pthread_cond_t full, empty; long held; } queues[8];
static void put(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    while (q->held == size) pthread_cond_wait(&q->full, &q->lock);
    q->held++;
    pthread_cond_signal(&q->empty);
    pthread_mutex_unlock(&q->lock);
}
static void take(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    while (q->held == 0) pthread_cond_wait(&q->empty, &q->lock);
    q->held--;
    pthread_cond_signal(&q->full);
    pthread_mutex_unlock(&q->lock);
}
static void *stage(void *arg) {
    long me = (long)arg;
    for (;;) {
        if (me > 0) take(&queues[me - 1]);
        work(loops);
        if (me < parties - 1) put(&queues[me]);
        else done();
    }
    return 0;
}
// One producer of jobs, several workers.
static void *pool(void *arg) {
    long me = (long)arg;
    for (;;) {
        if (me == 0) { put(&queues[0]); continue; }
        take(&queues[0]);
        work(loops);
        done();
    }
    return 0;
}
static pthread_barrier_t barrier;
static char *shared_bytes;
static void *barriers(void *arg) {
    long me = (long)arg;
    for (;;) {
        work(me == 0 ? loops : size);
        pthread_barrier_wait(&barrier);
        if (me == 0) done();
    }
    return 0;
}
// One fills a buffer, the other reads it.
static void *buffers(void *arg) {
    long me = (long)arg, sum = 0;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (turn != me) pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        if (me == 0) memset(shared_bytes, (int)sum, size);
        else for (long k = 0; k < size; k += 8) sum += *(long *)(shared_bytes + k);
        sink = sum;
        pthread_mutex_lock(&lock);
        turn = 1 - me;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        if (me == 0) done();
    }
    return 0;
}
static sem_t sems[2];
static void *semaphores(void *arg) {
    long me = (long)arg;
    for (;;) {
        sem_wait(&sems[me]);
        work(loops);
        sem_post(&sems[1 - me]);
        if (me == 0) done();
    }
    return 0;
}
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static void *readers(void *arg) {
    long me = (long)arg;
    for (;;) {
        if (me == 0) pthread_rwlock_wrlock(&rw); else pthread_rwlock_rdlock(&rw);
        work(loops);
        pthread_rwlock_unlock(&rw);
        done();
        work(size);
    }
    return 0;
}
#ifdef _OPENMP
#include <omp.h>
static void stencil(long cells) {
    double *a = calloc(cells + 2, 8), *b = calloc(cells + 2, 8);
    for (;;) {
#pragma omp parallel for
        for (long k = 1; k <= cells; k++) b[k] = (a[k - 1] + a[k] + a[k + 1]) / 3;
        double *c = a; a = b; b = c;
        done();
    }
}
static void tasks(void) {
    for (;;) {
#pragma omp parallel
#pragma omp single
        for (int k = 0; k < 16; k++) {
#pragma omp task
            work(loops);
        }
        done();
    }
}
#endif
int main(int argc, char **argv) {
    const char *mode = argv[1];
    int file = open(argv[2], O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, 4096)) return 1;
    count = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (argc > 3) loops = atol(argv[3]);
    if (argc > 4) size = atol(argv[4]);
    if (argc > 5) parties = atol(argv[5]);
    spins = size;
    shared_bytes = malloc(size + 8);
    for (int k = 0; k < 8; k++) {
        pthread_mutex_init(&queues[k].lock, 0);
        pthread_cond_init(&queues[k].full, 0);
        pthread_cond_init(&queues[k].empty, 0);
    }
    pthread_barrier_init(&barrier, 0, parties);
    sem_init(&sems[0], 0, 1);
    sem_init(&sems[1], 0, 0);
#ifdef _OPENMP
    if (!strcmp(mode, "stencil")) stencil(size);
    if (!strcmp(mode, "tasks")) tasks();
#endif
    void *(*body)(void *) = 0;
    struct { const char *name; void *(*body)(void *); } bodies[] = {
        {"turns", turns}, {"spinning", spinning_turns}, {"mutex", contender}, {"stages", stage}, {"pool", pool},
        {"barriers", barriers}, {"buffers", buffers}, {"semaphores", semaphores}, {"readers", readers},
    };
    for (unsigned k = 0; k < sizeof bodies / sizeof *bodies; k++)
        if (!strcmp(mode, bodies[k].name)) body = bodies[k].body;
    if (!body) return 2;
    pthread_t threads[64];
    for (long k = 1; k < parties; k++) pthread_create(&threads[k], 0, body, (void *)k);
    body(0);
}
