/* Four SPEs, one after the other. */
#include <libspe2.h>

extern spe_program_handle_t hello_spu;

int main(void)
{
    for (unsigned long number = 0; number < 4; number++) {
        unsigned int entry = SPE_DEFAULT_ENTRY;
        spe_context_ptr_t spe = spe_context_create(0, NULL);
        if (spe == NULL || spe_program_load(spe, &hello_spu) != 0
            || spe_context_run(spe, &entry, 0, (void *)number, NULL, NULL) != 0) {
            perror("hello");
            return 1;
        }
        spe_context_destroy(spe);
    }
    return 0;
}
