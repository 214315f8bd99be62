/* Two threads that exchange buffers and start threads and processes all the time: children, orphans, daemons in
 * their own sessions, and children with threads. Each sleeps and ends; at most 200 exist at once. Arguments: the
 * lifetime of each in seconds, the pause between two starts in milliseconds, and the name of all (at most 15 bytes).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 200

static int lives_s, pause_ms, pipes[2][2];
static int *alive;

static void live(void) {
    __sync_fetch_and_add(alive, 1);
    sleep(lives_s);
    __sync_fetch_and_sub(alive, 1);
}

static void *sleeper(void *none) {
    live();
    return none;
}

static void thread(void) {
    pthread_t one;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&detached, 65536);
    pthread_create(&one, &detached, sleeper, NULL);
}

static void born(int kind) {
    if (*alive >= MOST)
        return;
    if (kind == 0) {
        thread();
        return;
    }
    if (fork() != 0)
        return;
    if (kind == 2 && fork() != 0)
        _exit(0);
    if (kind == 3 && (setsid(), fork() != 0))
        _exit(0);
    if (kind == 4) {
        thread();
        fork();
    }
    if (kind == 5) { /* daemon(3) */
        if (fork() != 0)
            _exit(0);
        setsid();
    }
    live();
    _exit(0);
}

static long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void *hand_over(void *which) {
    long me = (long)which;
    char buffer[4096] = {0};
    long due = now_ms();
    for (int kind = (int)me;;) {
        if (me == 0)
            write(pipes[0][1], buffer, sizeof buffer);
        read(pipes[me == 0][0], buffer, sizeof buffer);
        if (me == 1)
            write(pipes[1][1], buffer, sizeof buffer);
        if (now_ms() >= due) {
            born(kind++ % 6);
            due = now_ms() + pause_ms;
        }
    }
    return NULL;
}

int main(int count, char **words) {
    lives_s = count > 1 ? atoi(words[1]) : 3;
    pause_ms = count > 2 ? atoi(words[2]) : 10;
    signal(SIGCHLD, SIG_IGN);
    /* It ends with the test, even if that fails. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alive = mmap(NULL, sizeof *alive, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    prctl(PR_SET_NAME, count > 3 ? words[3] : "brood");
    pipe(pipes[0]);
    pipe(pipes[1]);
    pthread_t one;
    pthread_create(&one, NULL, hand_over, (void *)1);
    hand_over((void *)0);
}
