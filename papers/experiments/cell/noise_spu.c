/* Looks at the clock without a pause, and notes the times in which it stood still. */
#include <spu_mfcio.h>
#include <stdio.h>
#include <time.h>

/* A gap that no two readings have by themselves. */
#define LEAST_NS 1000.0

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(unsigned long long spe, unsigned long long argp)
{
    double began = now_ns(), last = began, end = began + (double)argp * 1e6, lost = 0, longest = 0;
    unsigned int gaps = 0;
    (void)spe;
    while (last < end) {
        double now = now_ns(), gap = now - last;
        if (gap >= LEAST_NS) {
            gaps++;
            lost += gap;
            longest = gap > longest ? gap : longest;
        }
        last = now;
    }
    printf("time_ns %.0f\ngaps %u\nlost_ns %.0f\nlongest_ns %.0f\n", last - began, gaps, lost, longest);
    return 0;
}
