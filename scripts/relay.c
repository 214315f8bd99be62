/* The links of scripts/cluster's nodes as a program, which delays packets, scatters them and loses some.
 *
 *   relay NODES RULES READY
 *
 * Each node has two interfaces (TAP): t0, t1, ... belong to the nodes, s0, s1, ... to the switches. A frame received at
 * one is sent at the other. Addresses are 10.77.(i / 250).(i % 250 + 1).
 *
 * RULES is a file. Each line has a sender, a receiver (n3, or * for any), a kind and an amount:
 *
 *   n3 *  delay 0.4ms     delays packets from n3; us, ms, s
 *   n3 n5 jitter 0.2ms    adds a random delay of up to this, and keeps the order
 *   *  n3 loss 1%         loses this share
 *
 * Of several lines for one direction, the last counts. SIGHUP reads the file again; an invalid file is reported, and the
 * old rules stay. READY is written when the interfaces exist, and contains this process's id.
 *
 * One thread waits for all interfaces and for the next due packet, to the nanosecond (epoll_pwait2). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { MOST_NODES = 200, MOST_BYTES = 2048, MOST_WAITING = 1 << 16, EVENTS = 64, FRAMES = 16 };

struct way {
    int64_t delay_ns, jitter_ns;
    uint32_t loss_ppm;
};
struct frame {
    int64_t due_ns;
    uint64_t number;
    int to, length;
    unsigned char bytes[MOST_BYTES];
};

static int nodes, taps[2 * MOST_NODES];
static struct way ways[MOST_NODES][MOST_NODES];
static int64_t last_ns[MOST_NODES][MOST_NODES];
static struct frame *heap[MOST_WAITING], *unused[MOST_WAITING];
static int waiting, unused_count;
static volatile sig_atomic_t again;

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static uint64_t random_bits(void) {
    static uint64_t state = 0x9e3779b97f4a7c15; /* xorshift64 (Marsaglia 2003) */
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* The number of a node; -1 for any, -2 if invalid. */
static int node_of(const char *name) {
    char *end;
    if (!strcmp(name, "*"))
        return -1;
    long number = name[0] == 'n' ? strtol(name + 1, &end, 10) : -2;
    return number >= 0 && number < nodes && end > name + 1 && !*end ? (int)number : -2;
}

/* A time in nanoseconds; -1 if invalid. */
static int64_t time_of(const char *text) {
    char *unit;
    double value = strtod(text, &unit);
    double ns = !strcmp(unit, "us") ? 1e3 : !strcmp(unit, "ms") ? 1e6 : !strcmp(unit, "s") ? 1e9 : -1;
    return unit > text && ns > 0 && value >= 0 && value * ns <= 60e9 ? (int64_t)(value * ns) : -1;
}

static int64_t share_of(const char *text) {
    char *unit;
    double percent = strtod(text, &unit);
    return unit > text && !strcmp(unit, "%") && percent >= 0 && percent <= 100 ? (int64_t)(percent * 1e4) : -1;
}

static int set(struct way (*found)[MOST_NODES], const char *line) {
    char from[16], to[16], what[16], much[32], rest;
    if (sscanf(line, "%15s %15s %15s %31s %c", from, to, what, much, &rest) != 4)
        return 0;
    int is_loss = !strcmp(what, "loss"), is_delay = !strcmp(what, "delay"), is_jitter = !strcmp(what, "jitter");
    int a = node_of(from), b = node_of(to);
    int64_t value = is_loss ? share_of(much) : time_of(much);
    if (a == -2 || b == -2 || value < 0 || !(is_loss || is_delay || is_jitter))
        return 0;
    for (int i = a < 0 ? 0 : a; i < (a < 0 ? nodes : a + 1); i++)
        for (int j = b < 0 ? 0 : b; j < (b < 0 ? nodes : b + 1); j++)
            if (is_loss)
                found[i][j].loss_ppm = (uint32_t)value;
            else
                *(is_delay ? &found[i][j].delay_ns : &found[i][j].jitter_ns) = value;
    return 1;
}

static int read_rules(const char *path) {
    static struct way found[MOST_NODES][MOST_NODES];
    char line[256];
    int number = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "relay: %s: %s\n", path, strerror(errno));
        return 0;
    }
    memset(found, 0, sizeof found);
    while (fgets(line, sizeof line, file)) {
        number++;
        if (line[strspn(line, " \t\n")] && line[0] != '#' && !set(found, line)) {
            line[strcspn(line, "\n")] = 0;
            fprintf(stderr, "relay: %s:%d: '%s' is not FROM TO delay|jitter TIME or FROM TO loss SHARE%%, with nodes of "
                            "n0 to n%d\n", path, number, line, nodes - 1);
            fclose(file);
            return 0;
        }
    }
    fclose(file);
    memcpy(ways, found, sizeof ways);
    return 1;
}

static int is_before(const struct frame *a, const struct frame *b) {
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->number < b->number;
}

static void push(struct frame *frame) {
    int at = waiting++;
    for (; at && is_before(frame, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = frame;
}

static struct frame *pop(void) {
    struct frame *first = heap[0], *last = heap[--waiting];
    int at = 0;
    for (int child; (child = 2 * at + 1) < waiting; at = child) {
        if (child + 1 < waiting && is_before(heap[child + 1], heap[child]))
            child++;
        if (!is_before(heap[child], last))
            break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return first;
}

/* A full queue of the interface drops the frame, as in a network. */
static void deliver(const struct frame *frame) {
    if (write(taps[frame->to], frame->bytes, frame->length) < 0 && errno != EAGAIN && errno != EIO && errno != ENOBUFS)
        perror("relay: write");
}

/* The node of an IPv4 address, or -1. */
static int node_at(const unsigned char *address) {
    int node = address[2] * 250 + address[3] - 1;
    return address[0] == 10 && address[1] == 77 && node >= 0 && node < nodes ? node : -1;
}

/* Receives a frame from an interface: each node's t comes first, then its s. The rules apply to the nodes' frames. */
static int take(int from, struct frame *frame) {
    static uint64_t number;
    frame->length = (int)read(taps[from], frame->bytes, MOST_BYTES);
    if (frame->length <= 0)
        return 0;
    frame->to = (from + nodes) % (2 * nodes);
    int is_ip = frame->length >= 34 && frame->bytes[12] == 8 && frame->bytes[13] == 0;
    int to = is_ip && from < nodes ? node_at(frame->bytes + 30) : -1;
    if (to < 0) {
        deliver(frame);
        return 1;
    }
    const struct way *way = &ways[from][to];
    if (way->loss_ppm && random_bits() % 1000000 < way->loss_ppm)
        return 1;
    int64_t now = now_ns(), due_ns = now + way->delay_ns;
    if (way->jitter_ns)
        due_ns += (int64_t)(random_bits() % (uint64_t)way->jitter_ns);
    if (due_ns < last_ns[from][to])
        due_ns = last_ns[from][to];
    if (due_ns <= now) {
        deliver(frame);
        return 1;
    }
    last_ns[from][to] = due_ns;
    if (!unused_count)
        return 1; /* Its queue is full: lost. */
    struct frame *kept = unused[--unused_count];
    memcpy(kept, frame, sizeof *frame - MOST_BYTES + (size_t)frame->length);
    kept->due_ns = due_ns;
    kept->number = number++;
    push(kept);
    return 1;
}

static int opened(const char *letter, int node) {
    struct ifreq request = { .ifr_flags = IFF_TAP | IFF_NO_PI };
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s%d", letter, node);
    int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (tap < 0 || ioctl(tap, TUNSETIFF, &request) < 0) {
        fprintf(stderr, "relay: /dev/net/tun: %s\n", strerror(errno));
        exit(1);
    }
    return tap;
}

static void hang_up(int signal) {
    (void)signal;
    again = 1;
}

/* Sends all due frames. Returns the time until the next one is due. */
static const struct timespec *due(void) {
    static struct timespec left;
    int64_t now = now_ns();
    while (waiting && heap[0]->due_ns <= now) {
        struct frame *frame = pop();
        deliver(frame);
        unused[unused_count++] = frame;
    }
    if (!waiting)
        return NULL;
    left.tv_sec = (heap[0]->due_ns - now) / 1000000000;
    left.tv_nsec = (heap[0]->due_ns - now) % 1000000000;
    return &left;
}

static void relay(int epoll, const char *rules) {
    static struct frame frame;
    struct epoll_event events[EVENTS];
    sigset_t none;
    sigemptyset(&none);
    for (;;) {
        int count = epoll_pwait2(epoll, events, EVENTS, due(), &none);
        if (again) {
            again = 0;
            read_rules(rules);
        }
        for (int at = 0; at < count; at++)
            for (int frames = 0; frames < FRAMES && take((int)events[at].data.u32, &frame); frames++) {}
    }
}

int main(int count, char **words) {
    nodes = count == 4 ? atoi(words[1]) : 0;
    if (nodes < 1 || nodes > MOST_NODES) {
        fprintf(stderr, "usage: relay NODES RULES READY, with 1 to %d nodes\n", MOST_NODES);
        return 2;
    }
    if (!read_rules(words[2]))
        return 2;
    prctl(PR_SET_TIMERSLACK, 1UL);
    sigset_t hup;
    sigemptyset(&hup);
    sigaddset(&hup, SIGHUP);
    sigprocmask(SIG_BLOCK, &hup, NULL);
    sigaction(SIGHUP, &(struct sigaction){ .sa_handler = hang_up }, NULL);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct frame *frames = malloc(MOST_WAITING * sizeof *frames);
    if (epoll < 0 || !frames) {
        perror("relay");
        return 1;
    }
    for (unused_count = 0; unused_count < MOST_WAITING; unused_count++)
        unused[unused_count] = &frames[unused_count];
    for (int at = 0; at < 2 * nodes; at++) {
        taps[at] = opened(at < nodes ? "t" : "s", at % nodes);
        struct epoll_event event = { .events = EPOLLIN, .data.u32 = (uint32_t)at };
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, taps[at], &event) < 0) {
            perror("relay: epoll");
            return 1;
        }
    }
    FILE *ready = fopen(words[3], "w");
    if (!ready || fprintf(ready, "%d\n", (int)getpid()) < 0 || fclose(ready)) {
        perror("relay: READY");
        return 1;
    }
    relay(epoll, words[2]);
}
