/* 'long' has 32 bits on both sides: in types, numbers, vectors, structures that both share, and in texts for printf. */
#include "check.h"
#include <inttypes.h>
#include <limits.h>

typedef unsigned long int number;
struct shared {
    unsigned long first;
    long second;
    number all[6];
} __attribute__((aligned(16)));

static const unsigned long table[] = {0x10UL, 5L, 7ul, 9};

static long sum(long unsigned int a, const long *p)
{
    return (long)a + *p;
}

static void sizes(void)
{
    unsigned long long wide = 1ULL << 40;
    long negative = -5, largest = LONG_MAX;
    unsigned long parsed = 0, around = 0xffffffffUL;
    long double most = 2.5L;
    uint64_t word = 1ull << 40;
    char text[100];
    CHECK(sizeof(long) == 4 && sizeof(number) == 4 && sizeof(long long) == 8 && sizeof(long double) == 16);
    CHECK(sizeof(struct shared) == 32 && sizeof 1L == 4 && sizeof 1ull == 8 && largest == 2147483647);
    CHECK(++around == 0 && wide >> 40 == 1 && most * 2 == 5 && sum(table[0], &negative) == 11);
    snprintf(text, sizeof text, "%ld %5lu|%-4lx|%lld %" PRIu64 " %%ld", negative, table[1], table[0], (long long)wide, word);
    CHECK(strcmp(text, "-5     5|10  |1099511627776 1099511627776 %ld") == 0);
    CHECK(sscanf("77", "%lu", &parsed) == 1 && parsed == 77);
}

#ifdef __SPU__
int main(unsigned long long spe, unsigned long long argp)
{
    static struct shared shared;
    vector unsigned long v = {1, 2, 3, 4};
    (void)spe;
    sizes();
    CHECK(sizeof v == 16 && spu_extract(v, 3) == 4 && spu_extract(spu_add(v, v), 2) == 6);
    mfc_get(&shared, argp, sizeof shared, 0, 0, 0);
    mfc_write_tag_mask(1);
    mfc_read_tag_status_all();
    CHECK(shared.first == 1 && shared.second == -2 && shared.all[5] == 8);
    /* An address in 32 bits leads back into the local store. */
    unsigned long address = ((unsigned long)&shared + 15) & ~15UL;
    struct shared *again = (struct shared *)address;
    CHECK(again->second == -2);
    return failed;
}
#else
int main(void)
{
    static struct shared shared = {1, -2, {3, 4, 5, 6, 7, 8}};
    sizes();
    struct run run = {.spe = loaded(0), .argp = &shared};
    start(&run);
    CHECK(end(&run) == 0);
    return failed;
}
#endif
