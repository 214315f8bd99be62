/* SPEs multiply matrices: matrix [SIZE [SPES [TIMES]]], with a size that is a multiple of 64. */
#include "ladder.h"
#include "matrix.h"
#include <libmisc.h>
#include <math.h>

extern spe_program_handle_t matrix_spu;

static float *block(float *matrix, unsigned int blocks, unsigned int row, unsigned int column)
{
    return matrix + ((unsigned long)(row * blocks) + column) * BLOCK * BLOCK;
}

static float *element(float *matrix, unsigned int blocks, unsigned int row, unsigned int column)
{
    return block(matrix, blocks, row / BLOCK, column / BLOCK) + row % BLOCK * BLOCK + column % BLOCK;
}

/* Every element of the small product, some of a large one, by another way than the SPEs'. */
static unsigned int wrong(float *a, float *b, float *c, unsigned int blocks)
{
    unsigned int size = blocks * BLOCK, step = size > 256 ? 37 : 1, count = 0;
    for (unsigned int row = 0; row < size; row += step)
        for (unsigned int column = 0; column < size; column += step) {
            double sum = 0;
            for (unsigned int at = 0; at < size; at++)
                sum += (double)*element(a, blocks, row, at) * *element(b, blocks, at, column);
            count += fabs(sum - *element(c, blocks, row, column)) > 1e-3 * size;
        }
    return count;
}

int main(int argc, char **argv)
{
    unsigned int size = number(argc, argv, 1, 128, 4096), spes = number(argc, argv, 2, 2, MOST_SPES);
    unsigned int times = number(argc, argv, 3, 1, 1000), blocks = size / BLOCK;
    struct worker all[MOST_SPES];
    struct order orders[MOST_SPES];
    float *matrices[3];
    if (size % BLOCK != 0) {
        fprintf(stderr, "'%u': expected a multiple of %d\n", size, BLOCK);
        return 2;
    }
    for (int which = 0; which < 3; which++)
        MUST((matrices[which] = malloc_align((size_t)size * size * sizeof(float), 7)) != NULL);
    for (unsigned int at = 0; at < size * size; at++)
        matrices[0][at] = (float)(at % 7) - 3, matrices[1][at] = (float)(at % 5) - 2, matrices[2][at] = 0;
    for (unsigned int at = 0; at < spes; at++) {
        orders[at] = (struct order){(unsigned long)matrices[0], (unsigned long)matrices[1], (unsigned long)matrices[2],
                                    blocks, at, spes, times, {0}};
        all[at] = worker(&matrix_spu, 0, &orders[at]);
        start(&all[at]);
    }
    for (unsigned int at = 0; at < spes; at++)
        MUST(finish(&all[at]) == 0);
    unsigned int found = wrong(matrices[0], matrices[1], matrices[2], blocks);
    printf("%u x %u, %u wrong numbers\n", size, size, found);
    for (int which = 0; which < 3; which++)
        free_align(matrices[which]);
    return found != 0;
}
