/* An SPE of CellStats: one operation, again and again, and the ticks that this takes. */
#include "ladder_spu.h"
#include "cell_stats.h"

static struct order order;
/* The buffer: that of the first SPE is where the others find it. */
static volatile char buffer[MOST_BUFFER + 128] __attribute__((aligned(128)));
static mfc_list_element_t list[MOST_ELEMENTS] __attribute__((aligned(128)));
static volatile unsigned int line[32] __attribute__((aligned(128)));
/* A word at the place in its quadword that the registers have in theirs. */
static volatile unsigned int message[4] __attribute__((aligned(16)));

static unsigned int transfer(void)
{
    /* The last four bits of both addresses must agree. */
    volatile char *here = buffer + (order.there & 15);
    if (order.is_get)
        mfc_get(here, order.there, order.bytes, 0, 0, 0);
    else
        mfc_put(here, order.there, order.bytes, 0, 0, 0);
    mfc_read_tag_status_all();
    return 1;
}

static unsigned int transfer_list(void)
{
    if (order.is_get)
        mfc_getl(buffer, order.there, list, order.elements * sizeof *list, 0, 0, 0);
    else
        mfc_putl(buffer, order.there, list, order.elements * sizeof *list, 0, 0, 0);
    mfc_read_tag_status_all();
    return 1;
}

static unsigned int atomic(void)
{
    unsigned long long there = order.there & ~127ull;
    volatile unsigned int *word = &line[order.there % 128 / sizeof *line];
    unsigned int before;
    do {
        mfc_getllar(line, there, 0, 0);
        mfc_read_atomic_status();
        before = *word;
        *word = order.sets ? order.operand : before + order.operand;
        mfc_putllc(line, there, 0, 0);
    } while (mfc_read_atomic_status() & MFC_PUTLLC_STATUS);
    return before;
}

/* Messages to another SPE are transfers to its registers. */
static void tell(unsigned int value)
{
    message[3] = value;
    if (order.by_signal)
        mfc_sndsig(&message[3], order.registers + 12, 31, 0, 0);
    else
        mfc_put(&message[3], order.registers + 12, 4, 31, 0, 0);
}

static unsigned int hear(void)
{
    return order.by_signal ? spu_read_signal1() : spu_read_in_mbox();
}

static unsigned int operate(unsigned int round)
{
    unsigned int value;
    switch (order.work) {
    case TRANSFER: return transfer();
    case LIST: return transfer_list();
    case ATOMIC: return atomic();
    case ANSWER_PPE:
        value = hear();
        spu_write_out_mbox(value);
        return value;
    case BEGIN_EXCHANGE:
        tell(round + 1);
        return hear();
    case ANSWER_EXCHANGE:
        value = hear();
        tell(value);
        return value;
    default: return 0;
    }
}

static void make_list(void)
{
    for (unsigned int at = 0; at < order.elements; at++) {
        list[at].notify = 0, list[at].reserved = 0, list[at].size = order.bytes;
        list[at].eal = mfc_ea2l(order.there) + at * order.bytes;
    }
}

int main(unsigned long long spe, unsigned long long argp)
{
    (void)spe;
    fetch(&order, argp, sizeof order);
    if (order.work == LIST)
        make_list();
    spu_write_decrementer(~0u);
    spu_write_out_mbox((unsigned int)(unsigned long)buffer);
    /* The PPE lets all begin when all are here; an SPE that only lends its store waits for their end. */
    spu_read_in_mbox();
    mfc_write_tag_mask(1);
    for (unsigned int round = 0; round < order.warm_up; round++)
        operate(round);
    unsigned int before = spu_read_decrementer();
    for (unsigned int round = 0; round < order.iterations; round++)
        order.sum += operate(round);
    /* It counts down. */
    order.ticks = before - spu_read_decrementer();
    /* The last message may still be on its way. */
    wait_for(31);
    give(&order, argp, sizeof order);
    return 0;
}
