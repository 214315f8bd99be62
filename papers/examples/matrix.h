/* A product of square matrices, in blocks of 64 by 64 that lie in memory one after the other. */
#ifndef MATRIX_H
#define MATRIX_H

#define BLOCK 64
#define BLOCK_BYTES (BLOCK * BLOCK * 4)

struct order {
    unsigned long long a, b, c;
    unsigned int blocks, first, step, times;
    unsigned int padding[2];
} __attribute__((aligned(16)));

#endif
