/* Every step-th block of the product: the sum over a row and a column of blocks, with the next two blocks on their way
 * while two are multiplied. */
#include "ladder_spu.h"
#include "matrix.h"
#include <spu_intrinsics.h>

static struct order order;
static vec_float4 a[2][BLOCK][BLOCK / 4] __attribute__((aligned(128)));
static vec_float4 b[2][BLOCK][BLOCK / 4] __attribute__((aligned(128)));
static vec_float4 c[BLOCK][BLOCK / 4] __attribute__((aligned(128)));

static unsigned long long block(unsigned long long matrix, unsigned int row, unsigned int column)
{
    return matrix + ((unsigned long long)(row * order.blocks) + column) * BLOCK_BYTES;
}

static void request(unsigned int buffer, unsigned int row, unsigned int column, unsigned int at)
{
    mfc_get(a[buffer], block(order.a, row, at), BLOCK_BYTES, buffer, 0, 0);
    mfc_get(b[buffer], block(order.b, at, column), BLOCK_BYTES, buffer, 0, 0);
}

/* Four elements of a row of the product at a time: each element of the left row times a row of the right block. */
static void multiply(vec_float4 left[BLOCK][BLOCK / 4], vec_float4 right[BLOCK][BLOCK / 4])
{
    for (int row = 0; row < BLOCK; row++)
        for (int column = 0; column < BLOCK / 4; column += 4) {
            vec_float4 sum0 = c[row][column], sum1 = c[row][column + 1];
            vec_float4 sum2 = c[row][column + 2], sum3 = c[row][column + 3];
            for (int at = 0; at < BLOCK; at++) {
                vec_float4 factor = spu_splats(spu_extract(left[row][at / 4], at % 4));
                sum0 = spu_madd(factor, right[at][column], sum0);
                sum1 = spu_madd(factor, right[at][column + 1], sum1);
                sum2 = spu_madd(factor, right[at][column + 2], sum2);
                sum3 = spu_madd(factor, right[at][column + 3], sum3);
            }
            c[row][column] = sum0, c[row][column + 1] = sum1;
            c[row][column + 2] = sum2, c[row][column + 3] = sum3;
        }
}

static void product(unsigned int row, unsigned int column)
{
    for (int at = 0; at < BLOCK * BLOCK / 4; at++)
        c[at / (BLOCK / 4)][at % (BLOCK / 4)] = spu_splats(0.0f);
    request(0, row, column, 0);
    for (unsigned int at = 0; at < order.blocks; at++) {
        if (at + 1 < order.blocks)
            request((at + 1) & 1, row, column, at + 1);
        wait_for(at & 1);
        multiply(a[at & 1], b[at & 1]);
    }
    mfc_put(c, block(order.c, row, column), BLOCK_BYTES, 2, 0, 0);
    wait_for(2);
}

int main(unsigned long long spe, unsigned long long argp)
{
    (void)spe;
    fetch(&order, argp, sizeof order);
    for (unsigned int time = 0; time < order.times; time++)
        for (unsigned int at = order.first; at < order.blocks * order.blocks; at += order.step)
            product(at / order.blocks, at % order.blocks);
    return 0;
}
