#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <pthread.h>
#include <libspe2.h>
#include <cbe_mfc.h>
#include "pipe.h"

static control_block cbs[STAGES] __attribute__((aligned(128)));
static unsigned int in[ITEMS][WORDS] __attribute__((aligned(128))), out[ITEMS][WORDS] __attribute__((aligned(128)));
static spe_context_ptr_t ctx[STAGES];
static int codes[STAGES];

static void *spe_thread(void *v) {
  int n = (int)(unsigned int)(unsigned long)v;
  unsigned int entry = SPE_DEFAULT_ENTRY;
  spe_stop_info_t info;
  int rc = spe_context_run(ctx[n], &entry, 0, &cbs[n], (void *)128, &info);
  codes[n] = rc < 0 ? -1 : info.result.spe_exit_code;
  return NULL;
}
static void *feeder(void *v) {
  int n = (int)(unsigned long)v, i; unsigned int word;
  for (i = 0; i < ITEMS; i++) {
    spe_out_intr_mbox_read(ctx[n], &word, 1, SPE_MBOX_ALL_BLOCKING);
    if (i < ITEMS - 1) spe_signal_write(ctx[n - 1], SPE_SIG_NOTIFY_REG_2, 1);
  }
  return NULL;
}
int main(int argc, char **argv) {
  pthread_t t[STAGES], f[STAGES];
  spe_program_handle_t *prog;
  spe_gang_context_ptr_t gang = spe_gang_context_create(0);
  unsigned int ls[STAGES], i, j, bad = 0;
  prog = spe_image_open(argc > 1 ? argv[1] : "stage");
  if (!prog) { perror("spe_image_open"); return 1; }
  for (i = 0; i < ITEMS; i++) for (j = 0; j < WORDS; j++) in[i][j] = i * 1000 + j;
  for (i = 0; i < STAGES; i++) {
    ctx[i] = spe_context_create(SPE_CFG_SIGNOTIFY1_OR | SPE_MAP_PS, gang);
    if (!ctx[i] || spe_program_load(ctx[i], prog)) { perror("create"); return 1; }
    cbs[i].my_id = i; cbs[i].in = (unsigned long)in; cbs[i].out = (unsigned long)out;
    pthread_create(&t[i], NULL, spe_thread, (void *)(unsigned long)i);
  }
  for (i = 0; i < STAGES; i++) {
    while (!spe_out_mbox_status(ctx[i])) usleep(10);
    spe_out_mbox_read(ctx[i], &ls[i], 1);
  }
  for (i = 0; i < STAGES; i++) {
    unsigned int words[2] = {0, 0};
    if (i + 1 < STAGES) {
      words[0] = (unsigned int)((unsigned long)spe_ls_area_get(ctx[i + 1])) + ls[i + 1];
      words[1] = (unsigned int)((unsigned long)spe_ps_area_get(ctx[i + 1], SPE_SIG_NOTIFY_1_AREA));
      pthread_create(&f[i + 1], NULL, feeder, (void *)(unsigned long)(i + 1));
    }
    _spe_in_mbox_write(spe_ps_area_get(ctx[i], SPE_CONTROL_AREA), words[0]);
    spe_in_mbox_write(ctx[i], &words[1], 1, SPE_MBOX_ALL_BLOCKING);
  }
  for (i = 0; i + 1 < STAGES; i++) {
    spe_signal_write(ctx[i], SPE_SIG_NOTIFY_REG_2, 1);
  }
  for (i = 0; i + 1 < STAGES; i++) usleep(100);
  for (i = 0; i < STAGES; i++) { pthread_join(t[i], NULL); if (i) pthread_join(f[i], NULL); }
  for (i = 0; i < ITEMS; i++) for (j = 0; j < WORDS; j++) bad += out[i][j] != in[i][j] + 1 + 2 + 3 + 4;
  for (i = 0; i < STAGES; i++) { bad += codes[i] != (int)i; spe_context_destroy(ctx[i]); }
  spe_image_close(prog); spe_gang_context_destroy(gang);
  printf("%u wrong\n", bad);
  return bad != 0;
}
