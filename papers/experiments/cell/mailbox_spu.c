/* Answers messages: 0 at once, a number by so many turns at a line of memory, which this processor shares. */
#include <spu_mfcio.h>

int main(unsigned long long spe, unsigned long long argp)
{
    volatile unsigned int *word = (volatile unsigned int *)(uintptr_t)argp;
    unsigned int trips;
    (void)spe;
    while ((trips = spu_read_in_mbox()) != ~0u) {
        unsigned int turn = *word;
        spu_write_out_mbox(trips);
        for (unsigned int trip = 0; trip < trips; trip++) {
            while (*word != turn + 1)
                __builtin_ia32_pause();
            turn += 2;
            *word = turn;
        }
    }
    return 0;
}
