/* Gathers columns of 32 numbers by lists, turns their blocks, and scatters them as rows. The first half of a list stalls
 * it, so that the work on it begins before the second half is there. */
#include "ladder_spu.h"
#include <spu_intrinsics.h>

#define SIZE 128
#define WIDTH 32
#define TAG 3

static float gathered[SIZE][WIDTH] __attribute__((aligned(128))), turned[WIDTH][SIZE] __attribute__((aligned(128)));
static mfc_list_element_t list[SIZE] __attribute__((aligned(8)));
static struct {
    unsigned long long from, to;
} addresses __attribute__((aligned(16)));

/* A block of four by four, by shuffles. */
static void turn(int row, int column)
{
    const vec_uchar16 upper = {0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23};
    const vec_uchar16 lower = {8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31};
    vec_float4 in[4], half[4];
    for (int i = 0; i < 4; i++)
        in[i] = *(vec_float4 *)&gathered[row + i][column];
    half[0] = spu_shuffle(in[0], in[2], upper), half[1] = spu_shuffle(in[1], in[3], upper);
    half[2] = spu_shuffle(in[0], in[2], lower), half[3] = spu_shuffle(in[1], in[3], lower);
    *(vec_float4 *)&turned[column][row] = spu_shuffle(half[0], half[1], upper);
    *(vec_float4 *)&turned[column + 1][row] = spu_shuffle(half[0], half[1], lower);
    *(vec_float4 *)&turned[column + 2][row] = spu_shuffle(half[2], half[3], upper);
    *(vec_float4 *)&turned[column + 3][row] = spu_shuffle(half[2], half[3], lower);
}

static void turn_rows(int first, int last)
{
    for (int row = first; row < last; row += 4)
        for (int column = 0; column < WIDTH; column += 4)
            turn(row, column);
}

int main(unsigned long long spe, unsigned long long argp)
{
    int stalls = 0;
    (void)spe;
    fetch(&addresses, argp, sizeof addresses);
    for (int column = 0; column < SIZE; column += WIDTH) {
        for (int row = 0; row < SIZE; row++) {
            list[row].notify = row == SIZE / 2 - 1;
            list[row].reserved = 0;
            list[row].size = WIDTH * sizeof(float);
            list[row].eal = mfc_ea2l(addresses.from + (row * SIZE + column) * sizeof(float));
        }
        mfc_getl(gathered, addresses.from, list, sizeof list, TAG, 0, 0);
        /* The list stands still after half of it. */
        stalls += (mfc_read_list_stall_status() >> TAG) & 1;
        turn_rows(0, SIZE / 2);
        mfc_write_list_stall_ack(TAG);
        wait_for(TAG);
        turn_rows(SIZE / 2, SIZE);
        for (int row = 0; row < WIDTH; row++) {
            list[row].notify = 0;
            list[row].size = SIZE * sizeof(float);
            list[row].eal = mfc_ea2l(addresses.to + (column + row) * SIZE * sizeof(float));
        }
        mfc_putl(turned, addresses.to, list, WIDTH * sizeof *list, TAG, 0, 0);
        wait_for(TAG);
    }
    return stalls;
}
