/* A halo exchange on a torus of ranks: each computes, then swaps a row with each of its four neighbours. Rank 0 prints
   rounds a second. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROW = 512 };

int main(int argc, char **argv)
{
    int ranks, rank, sides[2] = {0, 0}, around[2] = {1, 1}, rounds = argc > 1 ? atoi(argv[1]) : 1000;
    static double mine[ROW], theirs[ROW];
    MPI_Comm torus;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, sides);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sides, around, 0, &torus);
    MPI_Comm_rank(torus, &rank);
    MPI_Barrier(torus);
    double begun = MPI_Wtime();
    for (int round = 0; round < rounds; round++)
        for (int axis = 0; axis < 2; axis++)
            for (int way = -1; way <= 1; way += 2) {
                int from, to;
                MPI_Cart_shift(torus, axis, way, &from, &to);
                MPI_Sendrecv(mine, ROW, MPI_DOUBLE, to, 0, theirs, ROW, MPI_DOUBLE, from, 0, torus,
                             MPI_STATUS_IGNORE);
                for (int at = 0; at < ROW; at++)
                    mine[at] += 0.25 * theirs[at];
            }
    MPI_Barrier(torus);
    if (!rank)
        printf("%.3f\n", rounds / (MPI_Wtime() - begun));
    MPI_Finalize();
    return 0;
}
