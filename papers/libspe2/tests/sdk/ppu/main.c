#include "statistics.h"
#include <libmisc.h>
#include <libspe2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern spe_program_handle_t add_up, largest;

typedef struct {
    spe_context_ptr_t spe;
    pthread_t thread;
    order_t *order;
} worker_t;

static void *run(void *arg)
{
    worker_t *worker = (worker_t *)arg;
    unsigned int entry = SPE_DEFAULT_ENTRY;
    if (spe_context_run(worker->spe, &entry, 0, worker->order, NULL, NULL) < 0) {
        perror("spe_context_run");
        exit(1);
    }
    pthread_exit(NULL);
}

/* Runs a program on every SPE. */
static void on_all(worker_t *workers, int count, spe_program_handle_t *program)
{
    int i;
    for (i = 0; i < count; i++) {
        if (spe_program_load(workers[i].spe, program)) {
            perror("spe_program_load");
            exit(1);
        }
        pthread_create(&workers[i].thread, NULL, run, &workers[i]);
    }
    for (i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
}

int main(int argc, char **argv)
{
    int i, spes = argc > 1 ? atoi(argv[1]) : 2;
    float sum = 0, most = 0;
    worker_t workers[SPES_AT_MOST];
    float *numbers = (float *)malloc_align(spes * PART * sizeof(float), 7);
    order_t *orders = (order_t *)malloc_align(spes * sizeof(order_t), 7);
    answer_t *answers = (answer_t *)malloc_align(spes * sizeof(answer_t), 7);

    memset(answers, 0, spes * sizeof(answer_t));
    for (i = 0; i < spes * PART; i++)
        numbers[i] = (float)(i % 100);
    for (i = 0; i < spes; i++) {
        orders[i].numbers = (unsigned int)(unsigned long)(numbers + i * PART);
        orders[i].answer = (unsigned int)(unsigned long)&answers[i];
        orders[i].count = PART;
        workers[i].order = &orders[i];
        if ((workers[i].spe = spe_context_create(0, NULL)) == NULL) {
            perror("spe_context_create");
            return 1;
        }
    }
    on_all(workers, spes, &add_up);
    on_all(workers, spes, &largest);
    for (i = 0; i < spes; i++) {
        sum += answers[i].sum;
        most = answers[i].largest > most ? answers[i].largest : most;
        spe_context_destroy(workers[i].spe);
    }
    printf("sum %.0f, largest %.0f\n", sum, most);
    return 0;
}
