/* Packets around a ring of SPEs, by a message library with a notification matrix in main memory: the benchmark of
 * Keller & Varbanescu 2010, "Performance impact of task mapping on the Cell BE multicore processor".
 *
 *   ring [-u] [-t] [-w] [SPES [ROUNDS [BYTES]]]
 *
 * Each SPE starts with a packet for each neighbour, and passes every packet from one neighbour on to the other. With -u
 * packets go in one direction. With -t it tells the ticks of the decrementers. With -w the library's code is said to
 * take the cycles that seatmap's own model of this benchmark has, which a simulated Cell charges. */
#include <string.h>
#include <unistd.h>
#include "ladder.h"
#include "ring.h"

extern spe_program_handle_t ring_spu;

static struct entry matrix[MOST_TASKS * MOST_TASKS] __attribute__((aligned(128)));
static struct order orders[MOST_TASKS];

int main(int argc, char **argv)
{
    int option, ways = 2, tells_ticks = 0, names_work = 0;
    while ((option = getopt(argc, argv, "utw")) != -1)
        switch (option) {
        case 'u': ways = 1; break;
        case 't': tells_ticks = 1; break;
        case 'w': names_work = 1; break;
        default: return 2;
        }
    unsigned int tasks = number(argc, argv, optind, 4, MOST_TASKS);
    unsigned int rounds = number(argc, argv, optind + 1, 20, 10000);
    unsigned int bytes = number(argc, argv, optind + 2, 1024, MOST_BYTES), here, go = 1;
    if (tasks < 2 || bytes % 16 != 0) {
        fprintf(stderr, "a ring has at least 2 SPEs, and packets of a multiple of 16 bytes\n");
        return 2;
    }
    struct worker all[MOST_TASKS];
    for (unsigned int at = 0; at < tasks; at++)
        all[at] = worker(&ring_spu, SPE_MAP_PS, &orders[at]);
    for (unsigned int at = 0; at < tasks; at++) {
        struct order *order = &orders[at];
        order->matrix = (unsigned long)matrix;
        order->stores[0] = (unsigned long)spe_ls_area_get(all[(at + tasks - 1) % tasks].spe);
        order->stores[1] = (unsigned long)spe_ls_area_get(all[(at + 1) % tasks].spe);
        order->rank = at, order->tasks = tasks, order->packet_bytes = bytes, order->rounds = rounds;
        order->ways = (unsigned int)ways;
        order->poll_cycles = names_work ? 60 : 0, order->copy_cycles = names_work ? 2 : 0;
        start(&all[at]);
    }
    for (unsigned int at = 0; at < tasks; at++)
        while (spe_out_mbox_read(all[at].spe, &here, 1) == 0)
            ;
    for (unsigned int at = 0; at < tasks; at++)
        MUST(spe_in_mbox_write(all[at].spe, &go, 1, SPE_MBOX_ALL_BLOCKING) == 1);
    unsigned int wrong = 0;
    for (unsigned int at = 0; at < tasks; at++) {
        MUST(finish(&all[at]) == 0);
        /* The first word of a packet counts the tasks that it has passed. */
        unsigned int sum = (unsigned int)ways * (rounds * (rounds + 1) / 2);
        wrong += orders[at].packets != rounds * (unsigned int)ways || orders[at].sum != sum;
        if (tells_ticks)
            printf("SPE %u: %u ticks\n", at, orders[at].ticks);
    }
    printf("%u SPEs took %u packets of %u bytes each, %u counted wrong\n", tasks, rounds * (unsigned int)ways, bytes, wrong);
    return wrong != 0;
}
