/* A transfer and a memcpy of the same bytes, in turn, by the same CPU and from the same caches: those of this CPU, which
 * had the data last, or those of the PPE's, which has just written it. Each line has a kind, bytes and nanoseconds. */
#include <spu_mfcio.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define ROUNDS 200
#define SMALLEST 1024
#define LARGEST 16384

static unsigned char buffer[LARGEST] __attribute__((aligned(128)));

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The PPE writes the data (1), or ends (2). */
static void ask(unsigned int word)
{
    spu_write_out_intr_mbox(word);
    (void)spu_read_in_mbox();
}

/* A memory copy as a program would write it, which the compiler does not leave out. */
static void copy(unsigned long long from, unsigned int bytes)
{
    memcpy(buffer, (const void *)(uintptr_t)from, bytes);
    __asm__ volatile("" ::: "memory");
}

static void transfer(unsigned long long from, unsigned int bytes)
{
    mfc_get(buffer, from, bytes, 1, 0, 0);
    mfc_write_tag_mask(2);
    mfc_read_tag_status_all();
}

static double timed(void (*way)(unsigned long long, unsigned int), unsigned long long from, unsigned int bytes, int times)
{
    double began = now_ns();
    for (int at = 0; at < times; at++)
        way(from, bytes);
    return (now_ns() - began) / times;
}

int main(unsigned long long spe, unsigned long long argp)
{
    (void)spe;
    for (unsigned int bytes = SMALLEST; bytes <= LARGEST; bytes *= 4)
        for (int round = 0; round < ROUNDS; round++) {
            printf("memcpy_own %u %.1f\n", bytes, timed(copy, argp, bytes, 20));
            printf("get_own %u %.1f\n", bytes, timed(transfer, argp, bytes, 20));
            ask(1);
            printf("memcpy_written %u %.1f\n", bytes, timed(copy, argp, bytes, 1));
            ask(1);
            printf("get_written %u %.1f\n", bytes, timed(transfer, argp, bytes, 1));
        }
    ask(2);
    return 0;
}
