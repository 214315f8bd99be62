/* One context: a program twice, another one, a stop with a code between, and the first one again. */
#include <libspe2.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

extern spe_program_handle_t count_prog, flip_prog;

int main(unsigned long long spe_id, unsigned long long argp, unsigned long long envp)
{
	unsigned int *a __attribute__((aligned(128))), entry, i;
	spe_context_ptr_t spe;
	spe_stop_info_t info;
	int retval, codes[5], n = 0;

	a = calloc(64, sizeof(long));
	srand(time(NULL));
	for (i = 0; i < 16; i++)
		a[i] = i;
	spe = spe_context_create(0, NULL);
	if (!spe)
		return 1;
	for (i = 0; i < 4; i++) {
		if (i != 1 && spe_program_load(spe, i == 2 ? &flip_prog : &count_prog))
			return 2;
		entry = SPE_DEFAULT_ENTRY;
		while ((retval = spe_context_run(spe, &entry, 0, a, NULL, &info)) > 0)
			if (info.stop_reason != SPE_STOP_AND_SIGNAL || info.result.spe_signal_code != retval || retval != 0x123)
				return 3;
		if (retval < 0)
			return 4;
		codes[n++] = info.result.spe_exit_code;
	}
	for (i = 0; i < 16; i++)
		if (a[i] != (unsigned int)~(i + 2) + 1)
			return 5;
	printf("%d %d %d %d\n", codes[0], codes[1], codes[2], codes[3]);
	free(a);
	return codes[0] != 1 || codes[1] != 2 || codes[2] != 77 || codes[3] != 1 || spe_context_destroy(spe);
}
