/* One thread for each SPE; the program of the SPEs is a file beside this one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <libspe2.h>
#include <pthread.h>

#define MAX_SPE_THREADS 8

typedef struct ppu_pthread_data {
	spe_context_ptr_t speid;
	pthread_t pthread;
	void *argp;
} ppu_pthread_data_t;

void *ppu_pthread_function(void *arg)
{
	ppu_pthread_data_t *data = (ppu_pthread_data_t *)arg;
	spe_stop_info_t stop;
	unsigned int entry = SPE_DEFAULT_ENTRY;

	if (spe_context_run(data->speid, &entry, 0, data->argp, NULL, &stop) < 0) {
		perror("Failed running context");
		exit(1);
	}
	if (stop.stop_reason != SPE_EXIT || stop.result.spe_exit_code != 7) {
		fprintf(stderr, "stopped with %d, %d\n", stop.stop_reason, stop.result.spe_exit_code);
		exit(1);
	}
	pthread_exit(NULL);
}

int main()
{
	spe_program_handle_t *image;
	ppu_pthread_data_t data[MAX_SPE_THREADS];
	int i, spus;

	if ((spus = spe_cpu_info_get(SPE_COUNT_USABLE_SPES, -1)) < 1) {
		fprintf(stderr, "no SPEs\n");
		return 1;
	}
	if (spus > MAX_SPE_THREADS)
		spus = MAX_SPE_THREADS;
	if ((image = spe_image_open("hello_spu.elf")) == NULL) {
		fprintf(stderr, "spe_image_open: %s\n", strerror(errno));
		return 1;
	}
	for (i = 0; i < spus; i++) {
		if ((data[i].speid = spe_context_create(0, NULL)) == NULL) {
			perror("Failed creating context");
			exit(1);
		}
		if (spe_program_load(data[i].speid, image)) {
			perror("Failed loading program");
			exit(1);
		}
		data[i].argp = (void *)(long)(i + 1);
		if (pthread_create(&data[i].pthread, NULL, &ppu_pthread_function, &data[i])) {
			perror("Failed creating thread");
			exit(1);
		}
	}
	for (i = 0; i < spus; i++) {
		if (pthread_join(data[i].pthread, NULL)) {
			perror("Failed pthread_join");
			exit(1);
		}
		if (spe_context_destroy(data[i].speid) != 0) {
			perror("Failed destroying context");
			exit(1);
		}
	}
	return spe_image_close(image);
}
