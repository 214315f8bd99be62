#include <libspe2.h>
#include <stdio.h>
#include "lists.h"

extern spe_program_handle_t lists_spu;
static unsigned char data[ROWS][2 * WIDTH] __attribute__((aligned(128)));

int main(void)
{
	unsigned int entry = SPE_DEFAULT_ENTRY;
	int i, j, wrong = 0;
	spe_stop_info_t info;
	spe_context_ptr_t spe = spe_context_create(0, NULL);
	for (i = 0; i < ROWS; i++)
		for (j = 0; j < WIDTH; j++)
			data[i][j] = i + j;
	spe_program_load(spe, &lists_spu);
	if (spe_context_run(spe, &entry, 0, data, NULL, &info) < 0 || info.result.spe_exit_code != 2)
		return 1;
	for (i = 0; i < ROWS; i++)
		for (j = 0; j < WIDTH; j++)
			wrong += data[i][WIDTH + j] != (unsigned char)~(i + j);
	printf("%d wrong\n", wrong);
	return wrong != 0 || spe_context_destroy(spe) != 0;
}
