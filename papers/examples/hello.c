/* Four SPEs, one after the other. */
#include "ladder.h"

extern spe_program_handle_t hello_spu;

int main(void)
{
    for (unsigned long which = 0; which < 4; which++) {
        struct worker one = worker(&hello_spu, 0, (void *)which);
        start(&one);
        MUST(finish(&one) == (int)which);
    }
    return 0;
}
