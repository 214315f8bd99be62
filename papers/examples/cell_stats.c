/* CellStats: what the Cell's primitives cost, one in a loop. After Abellan, Fernandez & Acacio 2009, "Characterizing the
 * basic synchronization and communication operations in dual Cell-based blades through CellStats".
 *
 *   cell_stats [-f FUNCTION] [-n SPES | -N SPES] [-c CHIP] [-m MEMORY] [-i OPERATIONS] [-w OPERATIONS] [-b BYTES]
 *              [-s] [-t STRIDE] [-l ELEMENTS] [-y]
 *
 * -n SPES share a buffer, -N SPES have one each, STRIDE bytes apart. -c is the chip of the SPEs and -m that of the
 * memory. -w operations go before the -i that are timed. -s is between SPEs: messages without the PPE, and transfers
 * with the first one's local store. -y has the operating system write messages. Without -f, each function is checked
 * once, and nothing is timed. */
#include <string.h>
#include <unistd.h>
#include <ppu_intrinsics.h>
#include <seatmap_spe.h>
#include "ladder.h"
#include "cell_stats.h"

extern spe_program_handle_t cell_stats_spu;

enum sort { THREAD, MAILBOX, SIGNAL, ADD, SET, DMA, DMA_LIST };

static const struct function {
    const char *name;
    enum sort sort;
    unsigned int operand, is_get;
} functions[] = {
    {"mkthread", THREAD, 0, 0},   {"mailbox", MAILBOX, 0, 0}, {"signal", SIGNAL, 0, 0},
    {"fetchadd", ADD, 3, 0},      {"fetchsub", ADD, -3u, 0},  {"fetchinc", ADD, 1, 0},
    {"fetchdec", ADD, -1u, 0},    {"fetchset", SET, 1, 0},    {"dmaget", DMA, 0, 1},
    {"dmaput", DMA, 0, 0},        {"dmalistget", DMA_LIST, 0, 1}, {"dmalistput", DMA_LIST, 0, 0},
};
#define FUNCTIONS (sizeof functions / sizeof *functions)

static struct options {
    unsigned int spes, chip, memory, iterations, warm_up, bytes, stride, elements;
    int is_private, between, by_system_call;
} options = {1, 0, 0, 1000, 100, 4, 0, 1, 0, 0, 0};

static struct order orders[MOST_TASKS];
static struct worker all[MOST_TASKS];
/* What the buffers lie in: 16 of 16 KiB, and more for strides. */
static volatile char memory[8 << 20] __attribute__((aligned(4096)));

static void refuse(const char *why)
{
    fprintf(stderr, "cell_stats: %s\n", why);
    exit(2);
}

/* Bytes from one SPE's buffer to the next: on lines of their own if nothing else is said. */
static unsigned int stride(const struct function *function)
{
    unsigned int whole = options.bytes * (function->sort == DMA_LIST ? options.elements : 1);
    if (!options.is_private)
        return 0;
    return options.stride ? options.stride : (whole + 127) / 128 * 128;
}

/* Waits for the SPEs to be ready, and lets them begin. */
static void let_go(unsigned int first, unsigned int spes)
{
    unsigned int here, go = 1;
    for (unsigned int at = first; at < spes; at++)
        while (spe_out_mbox_read(all[at].spe, &here, 1) == 0)
            ;
    for (unsigned int at = first; at < spes; at++)
        MUST(spe_in_mbox_write(all[at].spe, &go, 1, SPE_MBOX_ALL_BLOCKING) == 1);
}

/* SPEs of the chip in question, each with an order; the first one of a few may be of the first chip. */
static void make(unsigned int spes, int first_is_apart)
{
    for (unsigned int at = 0; at < spes; at++) {
        seatmap_spe_use_chip(at == 0 && first_is_apart ? 0 : (int)options.chip);
        all[at] = worker(&cell_stats_spu, options.by_system_call ? 0 : SPE_MAP_PS, &orders[at]);
        orders[at].iterations = options.iterations, orders[at].warm_up = options.warm_up;
        orders[at].ticks = orders[at].sum = 0;
    }
}

static unsigned int end(unsigned int spes)
{
    unsigned int sum = 0;
    for (unsigned int at = 0; at < spes; at++) {
        MUST(finish(&all[at]) == 0);
        sum += orders[at].sum;
    }
    return sum;
}

static double ns(double ticks)
{
    return ticks * 1e9 / (double)seatmap_spe_ticks_per_second();
}

/* The mean over the SPEs that do something, of the time of an operation. */
static double mean_ns(unsigned int first, unsigned int spes)
{
    double ticks = 0;
    for (unsigned int at = first; at < spes; at++)
        ticks += orders[at].ticks;
    return ns(ticks) / (spes - first) / options.iterations;
}

/* Threads that run an empty program: created, run and found ended. */
static double threads(void)
{
    unsigned long long began = 0;
    for (unsigned int round = 0; round < options.warm_up + options.iterations; round++) {
        if (round == options.warm_up)
            began = __mftb();
        memset(&orders[0], 0, sizeof orders[0]);
        struct worker one = worker(&cell_stats_spu, SPE_MAP_PS, &orders[0]);
        unsigned int go = 1;
        MUST(spe_in_mbox_write(one.spe, &go, 1, SPE_MBOX_ALL_BLOCKING) == 1);
        start(&one);
        MUST(finish(&one) == 0);
    }
    return ns((double)(__mftb() - began)) / options.iterations;
}

/* A message of the PPE and its answer. */
static unsigned int ask(int by_signal, unsigned int value)
{
    unsigned int answer;
    if (by_signal)
        MUST(spe_signal_write(all[0].spe, SPE_SIG_NOTIFY_REG_1, value) == 0);
    else
        MUST(spe_in_mbox_write(all[0].spe, &value, 1, SPE_MBOX_ALL_BLOCKING) == 1);
    while (spe_out_mbox_read(all[0].spe, &answer, 1) == 0)
        ;
    return answer;
}

static double ask_spe(int by_signal)
{
    unsigned long long began = 0;
    make(1, 0);
    orders[0].work = ANSWER_PPE, orders[0].by_signal = (unsigned int)by_signal;
    start(&all[0]);
    let_go(0, 1);
    for (unsigned int round = 0; round < options.warm_up + options.iterations; round++) {
        if (round == options.warm_up)
            began = __mftb();
        MUST(ask(by_signal, round + 1) == round + 1);
    }
    double took = ns((double)(__mftb() - began)) / options.iterations;
    end(1);
    return took;
}

/* Messages between two SPEs; the first one's round trips count. */
static double exchange(int by_signal)
{
    enum ps_area area = by_signal ? SPE_SIG_NOTIFY_1_AREA : SPE_CONTROL_AREA;
    make(2, 1);
    for (unsigned int at = 0; at < 2; at++) {
        orders[at].work = at == 0 ? BEGIN_EXCHANGE : ANSWER_EXCHANGE;
        orders[at].by_signal = (unsigned int)by_signal;
        orders[at].registers = (unsigned long)spe_ps_area_get(all[1 - at].spe, area);
        start(&all[at]);
    }
    let_go(0, 2);
    unsigned int sum = end(2);
    MUST(sum == options.iterations * (options.iterations + 1));
    return mean_ns(0, 1);
}

/* Transfers and atomics: with memory, or with the first SPE's local store, which then does nothing else. */
static double move(const struct function *function)
{
    unsigned int first = function->sort >= DMA && options.between ? 1 : 0;
    unsigned int spes = options.between && options.spes < 2 ? 2 : options.spes, apart = stride(function), here, go = 1;
    static const enum work works[] = {[ADD] = ATOMIC, [SET] = ATOMIC, [DMA] = TRANSFER, [DMA_LIST] = LIST};
    unsigned long long there = (unsigned long)memory;
    if ((unsigned long long)apart * spes + options.bytes * options.elements > sizeof memory)
        refuse("the buffers do not fit the memory of 8 MiB");
    seatmap_spe_place((void *)memory, sizeof memory, (int)options.memory);
    memset((void *)memory, 0, sizeof memory);
    make(spes, (int)first);
    orders[0].work = LEND;
    if (first) {
        start(&all[0]);
        while (spe_out_mbox_read(all[0].spe, &here, 1) == 0)
            ;
        there = (unsigned long)spe_ls_area_get(all[0].spe) + here;
    }
    for (unsigned int at = first; at < spes; at++) {
        struct order *order = &orders[at];
        order->work = works[function->sort], order->is_get = function->is_get;
        order->sets = function->sort == SET, order->operand = function->operand;
        order->bytes = options.bytes, order->elements = options.elements;
        order->there = there + (unsigned long long)apart * (at - first);
        start(&all[at]);
    }
    let_go(first, spes);
    for (unsigned int at = first; at < spes; at++)
        MUST(finish(&all[at]) == 0);
    if (first) {
        MUST(spe_in_mbox_write(all[0].spe, &go, 1, SPE_MBOX_ALL_BLOCKING) == 1);
        MUST(finish(&all[0]) == 0);
    }
    unsigned int operations = (options.warm_up + options.iterations) * (apart ? 1 : spes);
    if (function->sort == ADD)
        MUST(*(volatile unsigned int *)memory == operations * function->operand);
    return mean_ns(first, spes);
}

static double measure(const struct function *function)
{
    switch (function->sort) {
    case THREAD: return threads();
    case MAILBOX:
    case SIGNAL: return (options.between ? exchange : ask_spe)(function->sort == SIGNAL);
    default: return move(function);
    }
}

/* Each function once, as far as its results say whether it works. */
static void check_all(void)
{
    options.iterations = 10, options.warm_up = 2, options.spes = 2, options.bytes = 64, options.elements = 4;
    for (unsigned int at = 0; at < FUNCTIONS; at++)
        for (options.between = 0; options.between < (functions[at].sort == THREAD ? 1 : 2); options.between++)
            MUST(measure(&functions[at]) > 0);
    printf("%u functions checked, alone and between SPEs\n", (unsigned int)FUNCTIONS);
}

static unsigned int value(const char *text, unsigned int least, unsigned int most)
{
    char *end;
    unsigned long found = strtoul(text, &end, 10);
    if (*end == 'k')
        found *= 1024, end++;
    if (*end != 0 || end == text || found < least || found > most) {
        fprintf(stderr, "cell_stats: '%s': expected a number from %u to %u\n", text, least, most);
        exit(2);
    }
    return (unsigned int)found;
}

static const struct function *function_of(const char *name)
{
    for (unsigned int at = 0; at < FUNCTIONS; at++)
        if (strcmp(name, functions[at].name) == 0)
            return &functions[at];
    refuse("no such function; one of mkthread, mailbox, signal, fetchadd, fetchsub, fetchinc, fetchdec, fetchset, "
           "dmaget, dmaput, dmalistget, dmalistput");
    return NULL;
}

int main(int argc, char **argv)
{
    const struct function *function = NULL;
    int option;
    while ((option = getopt(argc, argv, "f:n:N:c:m:i:w:b:st:l:y")) != -1)
        switch (option) {
        case 'f': function = function_of(optarg); break;
        case 'n': options.spes = value(optarg, 1, MOST_TASKS); break;
        case 'N': options.spes = value(optarg, 1, MOST_TASKS), options.is_private = 1; break;
        case 'c': options.chip = value(optarg, 0, 1); break;
        case 'm': options.memory = value(optarg, 0, 1); break;
        case 'i': options.iterations = value(optarg, 1, 100000000); break;
        case 'w': options.warm_up = value(optarg, 0, 100000000); break;
        case 'b': options.bytes = value(optarg, 1, MOST_BUFFER); break;
        case 's': options.between = 1; break;
        case 't': options.stride = value(optarg, 1, 1 << 20); break;
        case 'l': options.elements = value(optarg, 1, MOST_ELEMENTS); break;
        case 'y': options.by_system_call = 1; break;
        default: return 2;
        }
    if (!function) {
        check_all();
        return 0;
    }
    if (function->sort == DMA_LIST && options.bytes * options.elements > MOST_BUFFER)
        refuse("a list moves 16 KiB at most");
    printf("%s: %.1f ns\n", function->name, measure(function));
    return 0;
}
