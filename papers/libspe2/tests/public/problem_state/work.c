/* Mailboxes and signals by the problem state areas, without a call of the library. */
#include <cbe_mfc.h>
#include <libspe2.h>
#include <ppu_intrinsics.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

extern spe_program_handle_t work_spu;

#define SPES 2
spe_spu_control_area_t *mbox[SPES];
spe_sig_notify_1_area_t *sig[SPES];
spe_context_ptr_t spe[SPES];
pthread_t threads[SPES];

static void *run(void *i)
{
	unsigned int entry = SPE_DEFAULT_ENTRY;
	if (spe_context_run(spe[(long)i], &entry, 0, NULL, NULL, NULL) != 0)
		exit(1);
	return NULL;
}

static inline unsigned int wait_mbox(volatile spe_spu_control_area_t *area)
{
	while ((area->SPU_Mbox_Stat & 0xff) == 0)
		__asm__ volatile ("eieio");
	return area->SPU_Out_Mbox;
}

int main(void)
{
	long i;
	unsigned int sum = 0, k;
	for (i = 0; i < SPES; i++) {
		spe[i] = spe_context_create(SPE_MAP_PS | SPE_CFG_SIGNOTIFY1_OR, NULL);
		spe_program_load(spe[i], &work_spu);
		mbox[i] = spe_ps_area_get(spe[i], SPE_CONTROL_AREA);
		sig[i] = spe_ps_area_get(spe[i], SPE_SIG_NOTIFY_1_AREA);
		if (mbox[i] == NULL || sig[i] == NULL)
			return 1;
		pthread_create(&threads[i], NULL, run, (void *)i);
	}
	for (k = 0; k < 50; k++)
		for (i = 0; i < SPES; i++) {
			while (_spe_in_mbox_status(mbox[i]) < 1)
				;
			_spe_in_mbox_write(mbox[i], k);
			__sync();
			sum += wait_mbox(mbox[i]);
		}
	for (i = 0; i < SPES; i++) {
		_spe_in_mbox_write(mbox[i], 0xffffffff);
		sig[i]->SPU_Sig_Notify_1 = 0x30;
		pthread_join(threads[i], NULL);
		sum += _spe_out_mbox_read(mbox[i]);
		spe_context_destroy(spe[i]);
	}
	printf("%u\n", sum);
	return sum != SPES * (50 * 49 / 2 + 50 + 0x30);
}
