/* Works in four OpenMP threads for so many seconds. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words)
{
    double until = omp_get_wtime() + (count > 1 ? atof(words[1]) : 10);
    double sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    while (omp_get_wtime() < until)
        for (int i = 0; i < 100000; i++)
            sum += i * 0.5;
    printf("%g\n", sum);
    return 0;
}
