#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <pthread.h>
#include <libspe2.h>
#include <malloc_align.h>
#include <free_align.h>
#include "stall.h"

extern spe_program_handle_t stall_spu;
#define MAX_SPU_THREADS 16
typedef struct ppu_pthread_data {
  spe_context_ptr_t spe_ctx;
  pthread_t pthread;
  void *argp;
} ppu_pthread_data_t;

void *ppu_pthread_function(void *arg) {
  ppu_pthread_data_t *datap = (ppu_pthread_data_t *)arg;
  unsigned int entry = SPE_DEFAULT_ENTRY;
  if (spe_context_run(datap->spe_ctx, &entry, 0, datap->argp, NULL, NULL) < 0) {
    perror ("Failed running context");
    exit (1);
  }
  pthread_exit(NULL);
}

int main()
{
  int i, spu_threads, bad = 0;
  ppu_pthread_data_t datas[MAX_SPU_THREADS];
  spe_event_handler_ptr_t handler;
  spe_event_unit_t event, got[MAX_SPU_THREADS];
  parm_context *ctxs;
  unsigned char *data;
  unsigned int expect = 0, j, mbox;

  spu_threads = spe_cpu_info_get(SPE_COUNT_USABLE_SPES, -1);
  if (spu_threads > MAX_SPU_THREADS) spu_threads = MAX_SPU_THREADS;
  ctxs = _malloc_align(sizeof(parm_context) * spu_threads, 7);
  data = _malloc_align(ROWS * STRIDE, 7);
  for (j = 0; j < ROWS * STRIDE; j++) data[j] = j * 31 >> 3;
  for (i = 0; i < ROWS; i++) for (j = 0; j < ROW_BYTES; j++) expect += data[i * STRIDE + j];
  handler = spe_event_handler_create();
  for(i=0; i<spu_threads; i++) {
    if ((datas[i].spe_ctx = spe_context_create (SPE_EVENTS_ENABLE | SPE_MAP_PS, NULL)) == NULL) {
      perror ("Failed creating context");
      exit (1);
    }
    if (spe_program_load (datas[i].spe_ctx, &stall_spu)) {
      perror ("Failed loading program");
      exit (1);
    }
    event.events = SPE_EVENT_OUT_INTR_MBOX;
    event.spe = datas[i].spe_ctx;
    event.data.ptr = &datas[i];
    if (spe_event_handler_register(handler, &event)) { perror("register"); exit(1); }
    ctxs[i].data.ull = (unsigned long long)(unsigned long)data;
    datas[i].argp = &ctxs[i];
    if (pthread_create (&datas[i].pthread, NULL, &ppu_pthread_function, &datas[i])) {
      perror ("Failed creating thread");
      exit (1);
    }
  }
  for (i = 0; i < spu_threads; ) {
    int n = spe_event_wait(handler, got, MAX_SPU_THREADS, 10000);
    if (n <= 0) { printf("no event\n"); return 1; }
    while (n-- > 0) {
      ppu_pthread_data_t *d = got[n].data.ptr;
      if (spe_out_intr_mbox_status(d->spe_ctx) < 1) continue;
      spe_out_intr_mbox_read(d->spe_ctx, &mbox, 1, SPE_MBOX_ANY_NONBLOCKING);
      bad += mbox != ROWS / 4 - 1;
      i++;
    }
  }
  for (i=0; i<spu_threads; i++) {
    if (pthread_join (datas[i].pthread, NULL)) { perror("Failed pthread_join"); exit (1); }
    bad += ctxs[i].sum != expect || ctxs[i].first != data[(ROWS - 1) * STRIDE];
    bad += (spe_context_ptr_t)(unsigned long)ctxs[i].spe != datas[i].spe_ctx;
    if (spe_context_destroy (datas[i].spe_ctx) != 0) { perror("Failed destroying context"); exit (1); }
  }
  spe_event_handler_destroy(handler);
  _free_align(ctxs); _free_align(data);
  printf("%s\n", bad ? "FAILED" : "PASSED");
  return bad != 0;
}
