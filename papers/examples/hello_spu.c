/* Each SPE says its number, and ends with it. */
#include <stdio.h>
#include <spu_mfcio.h>

int main(unsigned long long spe, unsigned long long argp)
{
    (void)spe;
    printf("hello from SPE %u\n", (unsigned int)argp);
    return (int)argp;
}
