/* A program whose main thread ends before the others.

   leaving pthread: by pthread_exit; what was printed is written out when the last thread ends.
   leaving exit: by the bare system call, with exit code 7. */

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile long shared;

static void *work(void *name) {
    for (long i = 0; i < 300; i++) {
        shared += i;
        struct timespec moment = {0, 1000000};
        nanosleep(&moment, NULL);
    }
    printf("%s ends\n", (char *)name);
    if (strcmp(name, "bare") == 0) fflush(stdout);
    return NULL;
}

int main(int argc, char **argv) {
    int bare = argc > 1 && !strcmp(argv[1], "exit");
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, bare ? "bare" : "thread");
    for (int i = 0; i < 2; i++) pthread_detach(threads[i]);
    if (bare) syscall(SYS_exit, 7);
    pthread_exit(NULL);
}
