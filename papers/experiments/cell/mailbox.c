/* A question and its answer by mailbox, and by one bare line of memory, in turn: mailbox ROUNDS. Each line has a kind and
 * nanoseconds of one round trip. */
#include "timed.h"

#define TRIPS 100

extern spe_program_handle_t work;

static volatile struct {
    unsigned int word, padding[31];
} line __attribute__((aligned(128)));

static double by_mailbox(spe_context_ptr_t spe)
{
    unsigned int word = 0, answer;
    double began = now_ns();
    for (int trip = 0; trip < TRIPS; trip++) {
        must(spe_in_mbox_write(spe, &word, 1, SPE_MBOX_ALL_BLOCKING) == 1, "spe_in_mbox_write");
        while (spe_out_mbox_read(spe, &answer, 1) == 0)
            ;
    }
    return (now_ns() - began) / TRIPS;
}

static double by_line(void)
{
    unsigned int turn = line.word;
    double began = now_ns();
    for (int trip = 0; trip < TRIPS; trip++) {
        line.word = turn + 1;
        turn += 2;
        while (line.word != turn)
            __builtin_ia32_pause();
    }
    return (now_ns() - began) / TRIPS;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 0;
    struct worker worker = {.spe = spe_context_create(0, NULL), .argp = (void *)&line};
    unsigned int word, answer;
    must(worker.spe != NULL && spe_program_load(worker.spe, &work) == 0, "spe_program_load");
    start(&worker);
    for (int round = 0; round < rounds; round++) {
        printf("mailbox %.1f\n", by_mailbox(worker.spe));
        /* The SPE goes to the line for as many trips, and says that it is there. */
        word = TRIPS;
        must(spe_in_mbox_write(worker.spe, &word, 1, SPE_MBOX_ALL_BLOCKING) == 1, "spe_in_mbox_write");
        while (spe_out_mbox_read(worker.spe, &answer, 1) == 0)
            ;
        printf("line %.1f\n", by_line());
    }
    word = ~0u;
    must(spe_in_mbox_write(worker.spe, &word, 1, SPE_MBOX_ALL_BLOCKING) == 1, "spe_in_mbox_write");
    join(&worker);
    return 0;
}
