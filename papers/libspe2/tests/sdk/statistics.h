/* The order that the PPE gives to an SPU: a part of the numbers, and where the answer goes. */
#ifndef STATISTICS_H
#define STATISTICS_H

#define PART 2048

typedef struct {
    unsigned long long numbers;
    unsigned long long answer;
    unsigned int count;
    unsigned int padding[27];
} order_t __attribute__((aligned(128)));

typedef struct {
    float sum;
    float largest;
    unsigned int padding[30];
} answer_t __attribute__((aligned(128)));

#endif
