/* A ring of single messages, a halo exchange on a grid of 2 rows, and collectives, with known bytes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 5, RING = 100, HALO = 30 };

static void ring(MPI_Comm comm, int rank, int size) {
    double out[RING] = {0}, in[RING];
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request;
        MPI_Isend(out, RING, MPI_DOUBLE, (rank + 1) % size, 0, comm, &request);
        MPI_Recv(in, RING, MPI_DOUBLE, (rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void halo(int rank, int size) {
    int dims[2] = {2, size / 2}, periods[2] = {0, 0}, before, after;
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_set_name(grid, "grid");
    int out[HALO] = {rank}, in[HALO];
    for (int axis = 0; axis < 2; axis++) {
        MPI_Cart_shift(grid, axis, 1, &before, &after);
        MPI_Sendrecv(out, HALO, MPI_INT, after, 1, in, HALO, MPI_INT, before, 1, grid, MPI_STATUS_IGNORE);
        MPI_Sendrecv(out, HALO, MPI_INT, before, 2, in, HALO, MPI_INT, after, 2, grid, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&grid);
}

static void persistent(int rank, int size) {
    char out[7] = {0}, in[7];
    MPI_Request requests[2];
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_name(copy, "copy");
    MPI_Send_init(out, 7, MPI_CHAR, (rank + size / 2) % size, 3, copy, &requests[0]);
    MPI_Recv_init(in, 7, MPI_CHAR, (rank + size / 2) % size, 3, copy, &requests[1]);
    /* The requests keep the communicator. */
    MPI_Comm_free(&copy);
    for (int round = 0; round < 3; round++) {
        MPI_Startall(2, requests);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* Ranks of one half, numbered backwards: their numbers differ from those in the world. */
static void halves(int rank, int size) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, -rank, &half);
    MPI_Comm_set_name(half, "half");
    int own, value = 1;
    MPI_Comm_rank(half, &own);
    MPI_Bcast(&value, 1, MPI_INT, 0, half);
    MPI_Comm_free(&half);
}

static void collectives(int rank, int size) {
    int *many = calloc(2 * size, sizeof *many), one = rank, sum;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
    MPI_Alltoall(many, 1, MPI_INT, many + size, 1, MPI_INT, MPI_COMM_WORLD);
    many[rank] = rank;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, many, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    free(many);
}

static void windows(int rank, int size) {
    double *memory, value = rank;
    MPI_Win window;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_fence(0, window);
    if (rank == 0) MPI_Put(&value, 1, MPI_DOUBLE, size - 1, 0, 1, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    if (rank == 0) MPI_Get(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

int main(int count, char **arguments) {
    int rank, size;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ring(MPI_COMM_WORLD, rank, size);
    halo(rank, size);
    persistent(rank, size);
    halves(rank, size);
    collectives(rank, size);
    windows(rank, size);
    MPI_Finalize();
    return 0;
}
