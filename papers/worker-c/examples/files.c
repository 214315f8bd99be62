/* A program without I/O rights: what it reads and writes goes by the channel that it was started with. */
#include <seatmap_worker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Zero where all is well. */
static int copy(seatmap_channel *channel)
{
    char text[100];
    uint32_t in = 0, out = 0, console = 0;
    size_t length = 0;
    if (seatmap_channel_open(channel, "files/in", SEATMAP_OPENING_READ, &in)
        || seatmap_channel_read(channel, in, 0, text, sizeof text, &length)
        || seatmap_channel_close(channel, in)
        || seatmap_channel_open(channel, "files/out", SEATMAP_OPENING_CREATE, &out)
        || seatmap_channel_write(channel, out, 0, text, length)
        || seatmap_channel_close(channel, out))
        return 1;
    return seatmap_channel_open(channel, "console", SEATMAP_OPENING_WRITE, &console)
        || seatmap_channel_write(channel, console, 0, "copied\n", strlen("copied\n"));
}

int main(void)
{
    const char *descriptor = getenv("SEATMAP_9P_FD");
    seatmap_channel *channel = NULL;
    int failed = seatmap_channel_create(descriptor ? atoi(descriptor) : -1, &channel)
        || seatmap_fence_close()
        || copy(channel);
    if (failed)
        fprintf(stderr, "%s\n", seatmap_worker_last_error());
    else if (fopen("/proc/version", "r"))
        failed = 2;
    seatmap_channel_destroy(channel);
    return failed;
}
