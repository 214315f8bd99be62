/* A parent and a child of a fork. Each has two threads that share a line; the child is ended by a signal. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int shared __attribute__((aligned(64)));

static void *work(void *unused) {
    __atomic_fetch_add(&shared, 1, __ATOMIC_SEQ_CST);
    return unused;
}

static void share(void) {
    pthread_t other;
    work(NULL);
    pthread_create(&other, NULL, work, NULL);
    pthread_join(other, NULL);
}

int main(void) {
    int status;
    share();
    pid_t child = fork();
    if (child == 0) {
        share();
        share();
        raise(SIGTERM);
    }
    waitpid(child, &status, 0);
    printf("%d %d\n", (int)child, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return 0;
}
