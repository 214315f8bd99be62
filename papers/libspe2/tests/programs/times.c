/* Threads and SPEs that wait for each other in every way, and the times that they see: the same in every run. */
#include "check.h"

#define SPES 5
#define ROUNDS 20

struct job {
    unsigned long long counter, data;
    unsigned int number, padding[27];
} __attribute__((aligned(128)));

#ifdef __SPU__
static struct job job;
static volatile unsigned int line[32] __attribute__((aligned(128)));
static char data[4096] __attribute__((aligned(128)));

int main(unsigned long long spe, unsigned long long argp)
{
    (void)spe;
    spu_write_decrementer(~0u);
    mfc_get(&job, argp, sizeof job, 0, 0, 0);
    mfc_write_tag_mask(1);
    mfc_read_tag_status_all();
    unsigned int failures = 0;
    for (int round = 0; round < ROUNDS; round++) {
        mfc_get(data, job.data, sizeof data, 0, 0, 0);
        mfc_read_tag_status_all();
        do {
            mfc_getllar(line, job.counter, 0, 0);
            mfc_read_atomic_status();
            line[0]++;
            mfc_putllc(line, job.counter, 0, 0);
        } while (mfc_read_atomic_status() & MFC_PUTLLC_STATUS && ++failures);
        spu_write_out_intr_mbox(spu_read_in_mbox() + 1);
    }
    spu_write_out_mbox(failures);
    spu_write_out_mbox(~0u - spu_read_decrementer());
    return failed;
}
#else
#include <ppu_intrinsics.h>
#include <sys/time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static int ready, order[SPES], come;

/* A thread that talks to one SPE. */
static void *talk(void *pointer)
{
    struct run *run = pointer;
    unsigned int value = 0;
    pthread_barrier_wait(&barrier);
    for (unsigned int round = 0; round < ROUNDS; round++) {
        CHECK(spe_in_mbox_write(run->spe, &round, 1, SPE_MBOX_ALL_BLOCKING) == 1);
        CHECK(spe_out_intr_mbox_read(run->spe, &value, 1, SPE_MBOX_ALL_BLOCKING) == 1 && value == round + 1);
    }
    pthread_mutex_lock(&mutex);
    order[come++] = (int)((struct job *)run->argp)->number;
    ready++;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    static volatile unsigned int counter[32] __attribute__((aligned(128)));
    static char data[4096] __attribute__((aligned(128)));
    static struct job jobs[SPES];
    struct run runs[SPES] = {{0}};
    pthread_t talkers[SPES];
    unsigned int ticks, failures;
    struct timeval begin, now;
    unsigned long long began = __mftb();
    gettimeofday(&begin, NULL);
    pthread_barrier_init(&barrier, NULL, SPES);
    for (int i = 0; i < SPES; i++) {
        jobs[i] = (struct job){.counter = (unsigned long)counter, .data = (unsigned long)data, .number = (unsigned int)i};
        runs[i].spe = loaded(0), runs[i].argp = &jobs[i];
        start(&runs[i]);
        CHECK(pthread_create(&talkers[i], NULL, talk, &runs[i]) == 0);
    }
    pthread_mutex_lock(&mutex);
    while (ready < SPES)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < SPES; i++) {
        CHECK(pthread_join(talkers[i], NULL) == 0);
        while (spe_out_mbox_read(runs[i].spe, &failures, 1) == 0)
            usleep(1);
        while (spe_out_mbox_read(runs[i].spe, &ticks, 1) == 0)
            sched_yield();
        printf("SPE %d: %u ticks, %u failures, thread %d came\n", i, ticks, failures, order[i]);
        CHECK(end(&runs[i]) == 0);
    }
    CHECK(counter[0] == SPES * ROUNDS);
    gettimeofday(&now, NULL);
    printf("%llu ticks\n", __mftb() - began);
    printf("%ld us\n", (long)(now.tv_sec - begin.tv_sec) * 1000000 + now.tv_usec - begin.tv_usec);
    printf("%u adds\n", counter[0]);
    return failed;
}
#endif
