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
    for (int at = 0; at < 2; at++) {
        CHECK(pthread_join(runs[at].thread, NULL) == 0);
        CHECK(runs[at].result == -1 && runs[at].info.stop_reason == SPE_RUNTIME_ERROR);
    }
    return failed;
}
#endif
