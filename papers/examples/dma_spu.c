/* Fetches a block with each size that the transfer unit takes, and gives it back by the largest. */
#include "ladder_spu.h"

static unsigned char block[16384] __attribute__((aligned(128)));
static struct {
    unsigned long long from, to;
} addresses __attribute__((aligned(16)));

int main(unsigned long long spe, unsigned long long argp)
{
    int sizes = 0;
    (void)spe;
    fetch(&addresses, argp, sizeof addresses);
    /* 1, 2, 4 and 8 bytes at addresses that suit, then multiples of 16. */
    for (unsigned int bytes = 1; bytes <= sizeof block; bytes *= 2, sizes++)
        for (unsigned int at = 0; at < sizeof block && at < 8 * bytes; at += bytes) {
            mfc_get(block + at, addresses.from + at, bytes, 1, 0, 0);
            wait_for(1);
        }
    give(block, addresses.to, sizeof block);
    return sizes;
}
