/* Equal pieces of work over all threads that OpenMP starts; prints pieces a second. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t piece(uint64_t x)
{
    for (int i = 0; i < 1000000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

int main(int argc, char **argv)
{
    int pieces = argc > 1 ? atoi(argv[1]) : 1000;
    uint64_t sum = 0;
    double begun = omp_get_wtime();
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
    for (int i = 0; i < pieces; i++)
        sum += piece(88172645463325252u + i);
    printf("threads %d\n%.3f\n", omp_get_max_threads(), sum ? pieces / (omp_get_wtime() - begun) : 0);
    return 0;
}
