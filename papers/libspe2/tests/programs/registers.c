/* A main with three vectors: the first registers as the caller of the run has them. */
#include "check.h"

#ifdef __SPU__
int main(vector unsigned int first, vector unsigned int second, vector unsigned int third)
{
    if (spu_extract(first, 0) != 1)
        /* A plain run: numbers of 64 bits, the upper half first. */
        return (int)(spu_extract(second, 1) + spu_extract(third, 1) + spu_extract(second, 0));
    return spu_extract(first, 3) == 4 && spu_extract(second, 1) == 6 && spu_extract(third, 3) == 12 ? 7 : 1;
}
#else
int main(void)
{
    static unsigned int words[12] __attribute__((aligned(16))) = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    spe_context_ptr_t spe = loaded(0);
    spe_stop_info_t info;
    unsigned int entry = SPE_DEFAULT_ENTRY;
    CHECK(spe_context_run(spe, &entry, SPE_RUN_USER_REGS, words, NULL, &info) == 0);
    CHECK(info.result.spe_exit_code == 7);
    entry = SPE_DEFAULT_ENTRY;
    CHECK(spe_context_run(spe, &entry, 0, (void *)20, (void *)22, &info) == 0 && info.result.spe_exit_code == 42);
    CHECK(spe_context_destroy(spe) == 0);
    return failed;
}
#endif
