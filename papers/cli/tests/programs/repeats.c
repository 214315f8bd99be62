/* Repeats what it reads at its input on its console, both by the channel that it was started with, in words of 9P2000.L of its
   own: it can be linked statically, and opens nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int channel;
static unsigned char message[8192];
static size_t length;

static void put(uint64_t number, int bytes) {
    for (; bytes--; number >>= 8) message[length++] = number;
}

static void text(const char *words) {
    put(strlen(words), 2);
    length += strlen(strcpy((char *)message + length, words));
}

static void begin(int number) {
    length = 4;
    put(number, 1);
    put(number == 100 ? 0xffff : 0, 2);
}

static void all(ssize_t (*done)(int, void *, size_t), unsigned char *at, size_t bytes) {
    for (ssize_t some; bytes; at += some, bytes -= some)
        if ((some = done(channel, at, bytes)) <= 0) exit(3);
}

static ssize_t out(int to, void *from, size_t bytes) { return write(to, from, bytes); }

/* Sends what was put together, and ends the program where the answer is another than of this number. */
static void ask(int number) {
    size_t end = length;
    length = 0;
    put(end, 4);
    all(out, message, end);
    all(read, message, 4);
    all(read, message + 4, message[0] + 256u * message[1] - 4);
    if (message[4] != number) exit(4);
}

static void reach(int fid, const char *name, int flags) {
    begin(110), put(0, 4), put(fid, 4), put(1, 2), text(name), ask(111);
    begin(12), put(fid, 4), put(flags, 4), ask(13);
}

int main(void) {
    unsigned char block[4096];
    size_t bytes;
    channel = atoi(getenv("SEATMAP_9P_FD"));
    begin(100), put(sizeof message, 4), text("9P2000.L"), ask(101);
    begin(104), put(0, 4), put(~0u, 4), text(""), text(""), put(~0u, 4), ask(105);
    reach(1, "input", 0);
    reach(2, "console", 1);
    for (;;) {
        begin(116), put(1, 4), put(0, 8), put(sizeof block, 4), ask(117);
        if (!(bytes = message[7] + 256u * message[8])) return 0;
        memcpy(block, message + 11, bytes);
        begin(118), put(2, 4), put(0, 8), put(bytes, 4), memcpy(message + length, block, bytes), length += bytes, ask(119);
    }
}
