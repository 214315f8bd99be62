/* A mean filter over an image that the SPE reaches through a cache, and a clock on both sides. */
#include <libmisc.h>
#include <libspe2.h>
#include <ppu_intrinsics.h>
#include <stdio.h>

#define SIZE 64
extern spe_program_handle_t image_spu;

typedef struct {
	unsigned int in, out, size, pad;
} task __attribute__((aligned(16)));

int main(void)
{
	unsigned int entry = SPE_DEFAULT_ENTRY;
	float *in = malloc_align(SIZE * SIZE * 4, 12), *out = malloc_align(SIZE * SIZE * 4, 12);
	task t = {(unsigned int)(unsigned long)in, (unsigned int)(unsigned long)out, SIZE, 0};
	unsigned long long begin = __mftb();
	int x, y, i, wrong = 0;
	spe_context_ptr_t spe = spe_context_create(0, NULL);
	for (i = 0; i < SIZE * SIZE; i++)
		in[i] = (i * 37) % 101, out[i] = 0;
	spe_program_load(spe, &image_spu);
	if (spe_context_run(spe, &entry, 0, &t, NULL, NULL) < 0)
		return 1;
	for (y = 1; y < SIZE - 1; y++)
		for (x = 1; x < SIZE - 1; x++) {
			float sum = in[(y - 1) * SIZE + x] + in[(y + 1) * SIZE + x] + in[y * SIZE + x - 1] + in[y * SIZE + x + 1];
			wrong += out[y * SIZE + x] != sum / 4;
		}
	printf("%d wrong, time passes: %d\n", wrong, __mftb() > begin);
	free_align(in), free_align(out);
	return wrong != 0 || spe_context_destroy(spe) != 0;
}
