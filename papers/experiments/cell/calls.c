/* Times the calls of table 1: calls ROUNDS SPES. Each line has a call's name and nanoseconds, for all SPEs together. */
#include "timed.h"

#define NUMBERS 4096
#define WARM_UP 5

extern spe_program_handle_t example, empty;

static float blocks[MOST_SPES][NUMBERS] __attribute__((aligned(128)));
static int spes, is_timed;
static struct worker workers[MOST_SPES];

#define TIMED(name, work)                                                  \
    do {                                                                   \
        double began = now_ns();                                           \
        for (int at = 0; at < spes; at++) {                                \
            struct worker *worker = &workers[at];                          \
            work;                                                          \
        }                                                                  \
        double took = now_ns() - began;                                    \
        if (is_timed)                                                      \
            printf("%s %.0f\n", name, took);                               \
    } while (0)

static void round_of_calls(void)
{
    unsigned int one = 1, answer = 0, entry;
    TIMED("Acquire", must((worker->spe = spe_context_create(SPE_MAP_PS, NULL)) != NULL, "spe_context_create"));
    TIMED("MapPS", must(spe_ps_area_get(worker->spe, SPE_CONTROL_AREA) != NULL, "spe_ps_area_get"));
    TIMED("PgmLoad", must(spe_program_load(worker->spe, &example) == 0, "spe_program_load"));
    TIMED("ThrCreate", worker->argp = blocks[at]; start(worker));
    TIMED("MBoxWr", must(spe_in_mbox_write(worker->spe, &one, 1, SPE_MBOX_ALL_BLOCKING) == 1, "spe_in_mbox_write"));
    for (int at = 0; at < spes; at++)
        while (spe_out_mbox_status(workers[at].spe) == 0)
            ;
    TIMED("MBoxRd", must(spe_out_mbox_read(worker->spe, &answer, 1) == 1, "spe_out_mbox_read"));
    TIMED("ThrJoin", join(worker));
    for (int at = 0; at < spes; at++)
        must(spe_program_load(workers[at].spe, &empty) == 0, "spe_program_load");
    TIMED("CtxRun", entry = SPE_DEFAULT_ENTRY;
          must(spe_context_run(worker->spe, &entry, 0, NULL, NULL, NULL) == 0, "spe_context_run"));
    TIMED("Release", must(spe_context_destroy(worker->spe) == 0, "spe_context_destroy"));
}

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[1]) : 0, wrong = 0;
    spes = argc > 2 ? atoi(argv[2]) : 0;
    if (rounds < 1 || spes < 1 || spes > MOST_SPES)
        return 2;
    for (int round = -WARM_UP; round < rounds; round++) {
        is_timed = round >= 0;
        round_of_calls();
    }
    for (int at = 0; at < spes; at++)
        for (int number = 0; number < NUMBERS; number++)
            wrong += blocks[at][number] != (float)(rounds + WARM_UP);
    printf("wrong %d\n", wrong);
    return 0;
}
