/* Questions and answers by mailbox: more questions than the mailbox has room for, and answers that are waited for. */
#include "ladder.h"

#define QUESTIONS 64
/* Questions without an answer: with two more, the SPU and this program would wait for each other. */
#define AHEAD 5

extern spe_program_handle_t mailbox_spu;

int main(void)
{
    struct worker one = worker(&mailbox_spu, 0, NULL);
    unsigned int questions[QUESTIONS], answer, count = QUESTIONS, sum = 0;
    start(&one);
    MUST(spe_in_mbox_write(one.spe, &count, 1, SPE_MBOX_ALL_BLOCKING) == 1);
    for (unsigned int at = 0; at < QUESTIONS; at++)
        questions[at] = at;
    /* Four fit; the call waits until the SPU has taken one. */
    MUST(spe_in_mbox_write(one.spe, questions, AHEAD, SPE_MBOX_ALL_BLOCKING) == AHEAD);
    for (unsigned int at = AHEAD; at < QUESTIONS; at++) {
        /* The answers must be taken meanwhile: the SPU waits for room in its own mailbox. */
        MUST(spe_out_intr_mbox_read(one.spe, &answer, 1, SPE_MBOX_ALL_BLOCKING) == 1);
        sum += answer;
        MUST(spe_in_mbox_write(one.spe, &questions[at], 1, SPE_MBOX_ALL_BLOCKING) == 1);
    }
    for (unsigned int at = 0; at < AHEAD; at++) {
        MUST(spe_out_intr_mbox_read(one.spe, &answer, 1, SPE_MBOX_ALL_BLOCKING) == 1);
        sum += answer;
    }
    while (spe_out_mbox_status(one.spe) == 0)
        ;
    MUST(spe_out_mbox_read(one.spe, &answer, 1) == 1);
    MUST(finish(&one) == 0);
    printf("%u answers, their sum is %u\n", answer, sum);
    return sum != (QUESTIONS - 1) * QUESTIONS * (2 * QUESTIONS - 1) / 6;
}
