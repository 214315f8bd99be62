/* Main memory by pointers with '__ea', which an SPU program has from its arguments, from a variable of the PPE, and from
 * the PPE's heap. */
#include "check.h"

#ifdef __SPU__
#include <ea.h>
#include <spu_cache.h>

extern __ea int shared_number;

union argument {
    __ea int *pointer;
    char bytes[sizeof(__ea int *)];
};

int main(unsigned long long spe, unsigned long long argp)
{
    __ea char *text = (__ea char *)argp;
    __ea int *number = malloc_ea(sizeof *number);
    __ea char *copy = calloc_ea(1, 16);
    union argument argument = {number};
    char own[8] = "abc";
    __ea char *local = (__ea char *)own;
    int *fetched;
    (void)spe;
    shared_number++;
    *argument.pointer = shared_number;
    text[0] = 'J';
    strcpy_ea(copy, text);
    strcat_ea(copy, "y");
    CHECK(*number == 42 && strcmp(copy, "Jelloy") == 0 && strlen_ea(copy) == 6 && local[1] == 'b');
    /* The heap is the PPE's: below 4 GiB, and not in this store. */
    CHECK((unsigned long long)number >> 32 == 0 && (unsigned long long)own >> 32 != 0);
    fetched = cache_fetch_dirty(number, sizeof *number);
    *fetched = 3;
    cache_flush();
    CHECK(*number == 3);
    free_ea(copy);
    free_ea(number);
    return failed;
}
#else
int shared_number = 41;

int main(void)
{
    static char text[8] = "hello";
    struct run run = {.spe = loaded(0), .argp = text};
    start(&run);
    CHECK(end(&run) == 0 && shared_number == 42 && strcmp(text, "Jello") == 0);
    return failed;
}
#endif
