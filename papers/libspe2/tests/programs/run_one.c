/* Runs one SPU program and exits with its code. */
#include <libspe2.h>

extern spe_program_handle_t work;

int main(void)
{
    spe_stop_info_t info;
    unsigned int entry = SPE_DEFAULT_ENTRY;
    spe_context_ptr_t spe = spe_context_create(0, NULL);
    if (spe == NULL || spe_program_load(spe, &work) != 0)
        return 3;
    if (spe_context_run(spe, &entry, 0, NULL, NULL, &info) != 0)
        return 2;
    spe_context_destroy(spe);
    return info.result.spe_exit_code;
}
