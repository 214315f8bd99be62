/* Transfers of every size, into the local store and back. */
#include "ladder.h"
#include <string.h>

#define BYTES 16384

extern spe_program_handle_t dma_spu;

static unsigned char from[BYTES] __attribute__((aligned(128))), to[BYTES] __attribute__((aligned(128)));
static struct {
    unsigned long long from, to;
} addresses __attribute__((aligned(16)));

int main(void)
{
    struct worker one = worker(&dma_spu, 0, &addresses);
    for (int at = 0; at < BYTES; at++)
        from[at] = (unsigned char)(at * 7);
    addresses.from = (unsigned long)from, addresses.to = (unsigned long)to;
    start(&one);
    unsigned int sizes = (unsigned int)finish(&one);
    MUST(memcmp(from, to, BYTES) == 0);
    printf("%u sizes, %d bytes come back\n", sizes, BYTES);
    return 0;
}
