#include <libspe2.h>
#include <stdio.h>

extern spe_program_handle_t names_spu;

int main(void)
{
	unsigned int entry = SPE_DEFAULT_ENTRY;
	float vector = 0;
	spe_stop_info_t info;
	spe_context_ptr_t spe = spe_context_create(0, NULL);
	if (spe == NULL || spe_program_load(spe, &names_spu) || spe_context_run(spe, &entry, 0, &vector, NULL, &info))
		return 1;
	printf("%d\n", info.result.spe_exit_code);
	return info.result.spe_exit_code != 25 || spe_context_destroy(spe);
}
