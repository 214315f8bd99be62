/* Opens the program that its argument names, for a context that is older. Exits with its code. */
#include <libspe2.h>

int main(int argc, char **argv)
{
    spe_stop_info_t info;
    unsigned int entry = SPE_DEFAULT_ENTRY;
    spe_context_ptr_t spe = spe_context_create(0, NULL);
    spe_program_handle_t *program = spe_image_open(argv[argc - 1]);
    if (spe == NULL || program == NULL || spe_program_load(spe, program) != 0)
        return 3;
    if (spe_context_run(spe, &entry, 0, NULL, NULL, &info) != 0)
        return 2;
    spe_context_destroy(spe);
    return spe_image_close(program) == 0 ? info.result.spe_exit_code : 1;
}
