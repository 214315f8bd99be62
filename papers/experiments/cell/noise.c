/* Runs a program on one SPE that looks at the clock for some milliseconds: noise MILLISECONDS. */
#include "timed.h"

extern spe_program_handle_t work;

int main(int argc, char **argv)
{
    long milliseconds = argc > 1 ? atol(argv[1]) : 0;
    struct worker worker = {.spe = spe_context_create(0, NULL), .argp = (void *)milliseconds};
    if (milliseconds < 1)
        return 2;
    must(worker.spe != NULL && spe_program_load(worker.spe, &work) == 0, "spe_program_load");
    start(&worker);
    join(&worker);
    return 0;
}
