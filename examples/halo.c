/* A halo exchange on a grid of ranks: each sends BYTES to its neighbours and gets as much from them, TURNS times.
 *
 *     mpicc -O2 -o halo examples/halo.c
 *     mpirun -n 16 ./halo 4x4 65536 100
 *
 * Rank 0 prints the median time of an exchange, of the slowest rank each. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, wide, high;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int bytes = argc > 2 ? atoi(argv[2]) : 65536, turns = argc > 3 ? atoi(argv[3]) : 100;
    if (argc < 2 || sscanf(argv[1], "%dx%d", &wide, &high) != 2 || wide * high != size || bytes < 1 || turns < 1) {
        if (rank == 0)
            fprintf(stderr, "usage: %s AxB [BYTES [TURNS]], on A times B ranks\n", argv[0]);
        MPI_Finalize();
        return 2;
    }
    /* The numbering is that of Seatmap's pattern stencil2d:AxB. */
    int x = rank / high, y = rank % high, partners[4], count = 0;
    if (x > 0) partners[count++] = rank - high;
    if (x + 1 < wide) partners[count++] = rank + high;
    if (y > 0) partners[count++] = rank - 1;
    if (y + 1 < high) partners[count++] = rank + 1;
    char *out = calloc(1, bytes), *in = malloc(4 * (size_t)bytes);
    double *times = malloc(turns * sizeof *times);
    for (int turn = -2; turn < turns; turn++) { /* the first two open the connections */
        MPI_Request requests[8];
        MPI_Status statuses[8];
        MPI_Barrier(MPI_COMM_WORLD);
        double begun = MPI_Wtime();
        for (int at = 0; at < count; at++) {
            MPI_Irecv(in + at * (size_t)bytes, bytes, MPI_CHAR, partners[at], 0, MPI_COMM_WORLD, &requests[2 * at]);
            MPI_Isend(out, bytes, MPI_CHAR, partners[at], 0, MPI_COMM_WORLD, &requests[2 * at + 1]);
        }
        MPI_Waitall(2 * count, requests, statuses);
        double own = MPI_Wtime() - begun, slowest;
        MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0 && turn >= 0) times[turn] = slowest;
    }
    if (rank == 0) {
        qsort(times, turns, sizeof *times, ascending);
        printf("%.3f ms an exchange\n", 1e3 * times[turns / 2]);
    }
    MPI_Finalize();
    return 0;
}
