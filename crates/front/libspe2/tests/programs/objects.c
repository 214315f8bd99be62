/* Runs the program with objects twice, and looks at what their destructors left. */
#include "check.h"

int main(void)
{
    static unsigned int order[4] __attribute__((aligned(128)));
    spe_stop_info_t info;
    spe_context_ptr_t spe = loaded(0);
    for (int run = 0; run < 2; run++) {
        unsigned int entry = SPE_DEFAULT_ENTRY;
        memset(order, 0, sizeof order);
        CHECK(spe_context_run(spe, &entry, 0, order, NULL, &info) == 0 && info.result.spe_exit_code == 0);
        CHECK(order[0] == 1 && order[1] == 2 && order[2] == 12 && order[3] == 11);
    }
    CHECK(spe_context_destroy(spe) == 0);
    return failed;
}
