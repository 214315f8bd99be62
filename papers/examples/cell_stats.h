/* What both sides of CellStats know: the order for an SPE, and what it tells at its end. */
#ifndef CELL_STATS_H
#define CELL_STATS_H

#define MOST_TASKS 16
#define MOST_ELEMENTS 2048
#define MOST_BUFFER 16384

/* What an SPE does in each operation. */
enum work {
    LEND,            /* nothing: others transfer with its local store */
    TRANSFER,        /* gets or puts a buffer, and waits for it */
    LIST,            /* the same with a list */
    ATOMIC,          /* adds to a word, or sets it */
    ANSWER_PPE,      /* takes a message of the PPE, and answers by the outbound mailbox */
    BEGIN_EXCHANGE,  /* sends a message to another SPE, and waits for the answer */
    ANSWER_EXCHANGE, /* the other side of that */
};

struct order {
    /* The buffer or the word; the registers of the other SPE. */
    unsigned long long there, registers;
    unsigned int work, is_get, by_signal, sets, operand, bytes, elements, iterations, warm_up;
    /* What the SPE tells: ticks of its decrementer, and a sum over what it saw. */
    unsigned int ticks, sum;
    unsigned int padding[17];
} __attribute__((aligned(128)));

#endif
