/* Serves the SPE that compares its transfers with memcpy: rewrites the data on this CPU where the SPE asks for it. */
#include "timed.h"

extern spe_program_handle_t work;

static unsigned char data[16384] __attribute__((aligned(4096)));

int main(void)
{
    struct worker worker = {.spe = spe_context_create(0, NULL), .argp = data};
    unsigned int word = 0, writes = 0;
    must(worker.spe != NULL && spe_program_load(worker.spe, &work) == 0, "spe_program_load");
    start(&worker);
    while (word != 2) {
        if (spe_out_intr_mbox_read(worker.spe, &word, 1, SPE_MBOX_ALL_BLOCKING) != 1)
            return 1;
        if (word == 1)
            memset(data, (int)++writes, sizeof data);
        must(spe_in_mbox_write(worker.spe, &word, 1, SPE_MBOX_ALL_BLOCKING) == 1, "spe_in_mbox_write");
    }
    join(&worker);
    return 0;
}
