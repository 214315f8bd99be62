/* What both sides of the ring know: the order for an SPE, and what it tells at its end. */
#ifndef RING_H
#define RING_H

#define MOST_TASKS 16
#define MOST_BYTES 16384
/* Bytes of an entry of the matrix: the smallest transfer whose alignment does not depend on its size. */
#define ENTRY_BYTES 16

/* An entry of the notification matrix: what one task tells another. */
struct entry {
    unsigned int sent, taken, padding[2];
};

struct order {
    /* The task's row of the matrix, and the local stores of its neighbours. */
    unsigned long long matrix, stores[2];
    unsigned int rank, tasks, packet_bytes, rounds, ways;
    /* Cycles that the library's code is said to take: for a look at the matrix, and to copy 16 bytes. */
    unsigned int poll_cycles, copy_cycles;
    /* What the task tells: packets, the sum of their first words, ticks of its decrementer. */
    unsigned int packets, sum, ticks;
    unsigned int padding[16];
} __attribute__((aligned(128)));

#endif
