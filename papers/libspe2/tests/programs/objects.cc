// Runs a program twice from its beginning.
#include <cstdio>
#include <libspe2.h>
#include <vector>

extern spe_program_handle_t work;

int main()
{
    spe_context_ptr_t spe = spe_context_create(0, NULL);
    std::vector<int> codes;
    if (spe == NULL || spe_program_load(spe, &work) != 0)
        return 3;
    for (int run = 0; run < 2; run++) {
        unsigned int entry = SPE_DEFAULT_ENTRY;
        codes.push_back(spe_context_run(spe, &entry, 0, NULL, NULL, NULL));
        fflush(stdout);
    }
    printf("two runs\n");
    return spe_context_destroy(spe) | codes[0] | codes[1];
}
