/* A five-point stencil on a grid, one band of rows for each OpenMP thread; prints sweeps a second. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 514 };
static double grid[2][SIDE][SIDE];

int main(int argc, char **argv)
{
    int sweeps = argc > 1 ? atoi(argv[1]) : 2000;
    double begun = omp_get_wtime();
    grid[0][SIDE / 2][SIDE / 2] = 1.0;
#pragma omp parallel
    for (int sweep = 0; sweep < sweeps; sweep++) {
        double(*from)[SIDE] = grid[sweep % 2], (*to)[SIDE] = grid[1 - sweep % 2];
#pragma omp for schedule(static)
        for (int y = 1; y < SIDE - 1; y++)
            for (int x = 1; x < SIDE - 1; x++)
                to[y][x] = 0.25 * (from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1]);
    }
    printf("%.3f\n", sweeps / (omp_get_wtime() - begun));
    return 0;
}
