/* Memory that a program of the PPE has made itself: all addresses fit 32 bits. */
#include "check.h"

#ifdef __SPU__
int main(void)
{
    return 0;
}
#else
#include <sys/mman.h>
#include <sys/shm.h>

static int is_low(const volatile void *pointer)
{
    return pointer != NULL && (unsigned long)pointer >> 32 == 0;
}

int main(void)
{
    spe_context_ptr_t spe = loaded(0);
    char *mapped = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(is_low(mapped));
    mapped[1 << 19] = 1;
    /* More than there is below 2 GiB. */
    for (int i = 0; i < 4; i++)
        CHECK(is_low(mmap(0, 400 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)));
    int segment = shmget(IPC_PRIVATE, 70000, 0600);
    CHECK(segment != -1);
    char *shared = shmat(segment, NULL, 0), *again = shmat(segment, NULL, SHM_RDONLY);
    CHECK(shmctl(segment, IPC_RMID, NULL) == 0 && is_low(shared) && is_low(again) && shared != again);
    shared[69999] = 7;
    CHECK(again[69999] == 7 && shmdt(shared) == 0 && shmdt(again) == 0);
    char *large = malloc(200 << 20);
    void *aligned = NULL;
    CHECK(is_low(large) && posix_memalign(&aligned, 128, 4 << 20) == 0 && is_low(aligned));
    large[150 << 20] = 1;
    free(large);
    free(aligned);
    CHECK(spe_context_destroy(spe) == 0);
    return failed;
}
#endif
