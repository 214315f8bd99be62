/* A task of the ring: a message library for processors that share no memory, and packets that go around.
 *
 * A sender copies a packet into its send buffer for the receiver, and notes that in the receiver's row of a matrix in
 * main memory. A receiver gets its whole row from time to time. If it finds a notification, it gets the packet from the
 * sender's local store, and notes that the buffer is free again. */
#include <string.h>
#include "ladder_spu.h"
#include "ring.h"

/* A simulated Cell charges the work that the program names. */
#ifdef SEATMAP_SPU_H
#define WORK(cycles) seatmap_spu_work(cycles)
#else
#define WORK(cycles) ((void)(cycles))
#endif

enum { ROW_TAG, PACKET_TAG, NOTE_TAG };

static struct order order;
static volatile struct entry row[MOST_TASKS] __attribute__((aligned(128)));
static struct entry note_entry __attribute__((aligned(128)));
/* Two buffers to send, for the left and the right neighbour, and two to receive. */
static char buffers[4][MOST_BYTES] __attribute__((aligned(128)));

/* One neighbour, and the packets exchanged with it. */
static struct side {
    unsigned int rank, sent, acknowledged, received;
    /* Whether the packet received from the other side waits to be sent to this side, and its first word. */
    int is_waiting;
    unsigned int word;
} sides[2];

/* With two tasks, the left entry is in the task's own column, which no other task needs. */
static unsigned int column(unsigned int other, unsigned int side)
{
    return order.tasks == 2 ? side : other;
}

/* Writes the neighbour's entry for this task. */
static void note(unsigned int to)
{
    const struct side *side = &sides[to];
    unsigned long long there = order.matrix + (side->rank * order.tasks + column(order.rank, 1 - to)) * ENTRY_BYTES;
    /* The transfer reads the entry's bytes when it is sent, so the transfer before it must be complete. */
    wait_for(NOTE_TAG);
    note_entry.sent = side->sent, note_entry.taken = side->received;
    mfc_put(&note_entry, there, ENTRY_BYTES, NOTE_TAG, 0, 0);
}

static void send(unsigned int to, const char *packet, unsigned int word)
{
    if (packet)
        memcpy(buffers[to], packet, order.packet_bytes);
    *(unsigned int *)buffers[to] = word;
    WORK(order.packet_bytes / 16 * order.copy_cycles);
    sides[to].sent++;
    note(to);
}

static void take(unsigned int from)
{
    struct side *side = &sides[from];
    char *buffer = buffers[2 + from];
    /* The sender's buffer for its other side: the same program is in its store. */
    unsigned int offset = (unsigned int)(unsigned long)buffers[1 - from];
    mfc_get(buffer, order.stores[from] + offset, order.packet_bytes, PACKET_TAG, 0, 0);
    wait_for(PACKET_TAG);
    unsigned int word = *(unsigned int *)buffer;
    order.packets++;
    order.sum += word;
    side->received++;
    note(from);
    /* The last packets are not sent on, so that the ring empties. */
    if (side->received < order.rounds)
        sides[1 - from].is_waiting = 1, sides[1 - from].word = word + 1;
}

/* Looks at the row, takes the packets that have come, and sends on those that can be sent. */
static void poll(void)
{
    WORK(order.poll_cycles);
    mfc_get(row, order.matrix + order.rank * order.tasks * ENTRY_BYTES, order.tasks * ENTRY_BYTES, ROW_TAG, 0, 0);
    wait_for(ROW_TAG);
    for (unsigned int from = 0; from < 2; from++) {
        const volatile struct entry *entry = &row[column(sides[from].rank, from)];
        sides[from].acknowledged = entry->taken;
        if (entry->sent > sides[from].received && !sides[1 - from].is_waiting && sides[from].received < order.rounds)
            take(from);
    }
    for (unsigned int to = 0; to < 2; to++)
        if (sides[to].is_waiting && sides[to].acknowledged == sides[to].sent) {
            sides[to].is_waiting = 0;
            send(to, buffers[2 + 1 - to], sides[to].word);
        }
}

/* No task may leave with a full send buffer. */
static int is_owing(void)
{
    for (unsigned int side = 0; side < 2; side++)
        if (sides[side].acknowledged != sides[side].sent || sides[side].is_waiting)
            return 1;
    return 0;
}

int main(unsigned long long spe, unsigned long long argp)
{
    (void)spe;
    fetch(&order, argp, sizeof order);
    memset(sides, 0, sizeof sides);
    sides[0].rank = (order.rank + order.tasks - 1) % order.tasks;
    sides[1].rank = (order.rank + 1) % order.tasks;
    spu_write_decrementer(~0u);
    /* The PPE lets all begin when all are here. */
    spu_write_out_mbox(1);
    spu_read_in_mbox();
    unsigned int before = spu_read_decrementer();
    send(1, NULL, 1);
    if (order.ways == 2)
        send(0, NULL, 1);
    while (order.packets < order.rounds * order.ways || is_owing())
        poll();
    /* It counts down. */
    order.ticks = before - spu_read_decrementer();
    wait_for(NOTE_TAG);
    give(&order, argp, sizeof order);
    return 0;
}
