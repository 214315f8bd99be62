/* Two SPEs that wait for each other, and a thread that waits for another one. */
#include "check.h"

#ifdef __SPU__
int main(unsigned long long spe, unsigned long long argp)
{
    (void)spe;
    return (int)(argp ? spu_read_signal1() : spu_read_in_mbox());
}
#else
int main(void)
{
    struct run runs[2] = {{.spe = loaded(0)}, {.spe = loaded(0), .argp = (void *)1}};
    printf("both wait\n");
    start(&runs[0]);
    start(&runs[1]);
    return end(&runs[0]) + end(&runs[1]);
}
#endif
