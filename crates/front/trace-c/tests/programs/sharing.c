/* Two threads that take turns: each writes its own counter, and both counters lie on one line. A third variable is
 * written by one and read by the other. */
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 100 };

static struct { long left, right; } counters __attribute__((aligned(64)));
static long letter __attribute__((aligned(64)));
static char rest[64] __attribute__((aligned(64), used));
static pthread_barrier_t barrier;

static void *work(void *argument) {
    long own = (long)argument, sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (own == 0) counters.left++, letter = round;
        pthread_barrier_wait(&barrier);
        if (own == 1) counters.right++, sum += letter;
        pthread_barrier_wait(&barrier);
    }
    return (void *)sum;
}

int main(void) {
    pthread_t other;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&other, NULL, work, (void *)1);
    work(NULL);
    pthread_join(other, NULL);
    printf("%ld\n", counters.left + counters.right);
    return 0;
}
