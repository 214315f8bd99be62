/* Each rank computes, then hands a message on around a ring, over and over; rank 0 prints rounds a second. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, ranks, rounds = argc > 1 ? atoi(argv[1]) : 2000;
    char out[4096] = {0}, in[4096];
    uint64_t x = 88172645463325252u;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    double begun = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < 50000; k++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
        out[0] = (char)x;
        MPI_Sendrecv(out, sizeof out, MPI_CHAR, (rank + 1) % ranks, 0, in, sizeof in, MPI_CHAR,
                     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        printf("threads %d\n%.3f\n", ranks, rounds / (MPI_Wtime() - begun));
    MPI_Finalize();
    return 0;
}
