/* One thread that writes 64 bytes and reads them again: what observing costs a program that does little else.

   usage: calls pipe|unix|getppid COUNT    prints the CPU time of a pair of calls, or of one call of getppid(2), in
   nanoseconds: nine figures, each of COUNT. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 9, BYTES = 64 };

static double cpu_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static void call(const int ends[2], char *bytes) {
    if (ends[0] < 0)
        syscall(SYS_getppid);
    else if (write(ends[1], bytes, BYTES) != BYTES || read(ends[0], bytes, BYTES) != BYTES)
        exit(1);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int ends[2] = {-1, -1};
    if (!strcmp(argv[1], "pipe") && pipe(ends)) return 1;
    if (!strcmp(argv[1], "unix") && socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
    long count = atol(argv[2]);
    char bytes[BYTES] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        double before = cpu_ns();
        for (long at = 0; at < count; at++) call(ends, bytes);
        printf("%.0f ", (cpu_ns() - before) / count);
        fflush(stdout);
    }
    puts("ns");
}
