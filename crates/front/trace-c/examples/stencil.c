/* A stencil of 512 x 512 doubles on threads that share rows. It measures how much the library slows a program.
 *
 * usage: stencil THREADS ROUNDS */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 512, MOST_THREADS = 64 };

static double grids[2][WIDTH][WIDTH];
static int threads, rounds;
static pthread_barrier_t barrier;

static void *work(void *argument) {
    long own = (long)argument, rows = WIDTH / threads, first = own * rows, last = first + rows;
    for (int round = 0; round < rounds; round++) {
        double(*from)[WIDTH] = grids[round % 2], (*to)[WIDTH] = grids[1 - round % 2];
        for (long y = first > 0 ? first : 1; y < last && y < WIDTH - 1; y++)
            for (long x = 1; x < WIDTH - 1; x++)
                to[y][x] = 0.25 * (from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1]);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t all[MOST_THREADS];
    if (count != 3) return 2;
    threads = atoi(arguments[1]);
    rounds = atoi(arguments[2]);
    if (threads < 1 || threads > MOST_THREADS) return 2;
    for (int x = 0; x < WIDTH * WIDTH; x++) grids[0][x / WIDTH][x % WIDTH] = x % 7;
    pthread_barrier_init(&barrier, NULL, threads);
    for (long own = 0; own < threads; own++) pthread_create(&all[own], NULL, work, (void *)own);
    for (long own = 0; own < threads; own++) pthread_join(all[own], NULL);
    printf("%g\n", grids[0][1][1]);
    return 0;
}
