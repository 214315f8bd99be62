/* An OpenMP program whose threads meet at a barrier many times a millisecond, until the end of stdin. Its argument is
 * their number.
 */
#include <omp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int has_ended(void)
{
    struct pollfd input = {0, POLLIN, 0};
    char byte;
    return poll(&input, 1, 0) > 0 && read(0, &byte, 1) <= 0;
}

int main(int count, char **arguments)
{
    int over = 0;
    if (count > 1)
        omp_set_num_threads(atoi(arguments[1]));
    printf("ready\n");
    fflush(stdout);
#pragma omp parallel
    while (!over) {
        for (volatile int i = 0; i < 2000; i++)
            ;
#pragma omp barrier
#pragma omp master
        over = has_ended();
#pragma omp barrier
    }
    return 0;
}
