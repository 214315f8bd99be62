/* A matrix is transposed by lists: each gathers a column of blocks in one command, and its elements scatter it again. */
#include "ladder.h"

#define SIZE 128

extern spe_program_handle_t lists_spu;

static float matrix[SIZE][SIZE] __attribute__((aligned(128))), transposed[SIZE][SIZE] __attribute__((aligned(128)));
static struct {
    unsigned long long from, to;
} addresses __attribute__((aligned(16)));

int main(void)
{
    struct worker one = worker(&lists_spu, 0, &addresses);
    unsigned int wrong = 0;
    for (int row = 0; row < SIZE; row++)
        for (int column = 0; column < SIZE; column++)
            matrix[row][column] = (float)(row * SIZE + column);
    addresses.from = (unsigned long)matrix, addresses.to = (unsigned long)transposed;
    start(&one);
    int stalls = finish(&one);
    for (int row = 0; row < SIZE; row++)
        for (int column = 0; column < SIZE; column++)
            wrong += transposed[row][column] != matrix[column][row];
    printf("%d stalls, %u wrong numbers\n", stalls, wrong);
    return wrong != 0;
}
