/* Memory that changes in every way a program can change it, while its pages are sampled. Each thread checks after each
   step that its memory has what it wrote; the first difference ends the program with a message.

   moving WAY ROUNDS, where WAY is one of:
     grow     threads let arrays grow and give them back, so that memory moves to addresses that others have just left
     calls    the kernel writes and reads the memory: read(2) and write(2) on pipes, process_vm_readv(2), futex(2)
     forks    children by fork(2) and by the bare call, which change their memory at once and have children themselves
     wiped    a child finds zeros in memory that its parent marked so (MADV_WIPEONFORK)
     sparse   a mapping of which few parts were used is moved as a whole by mremap(2)
     given    threads give pages back again and again (MADV_DONTNEED) and expect zeros
     robust   a thread ends while it has a robust mutex, and the next one is told so
   Prints "whole" at the end. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, THREADS = 4 };

static long rounds;

static void fail(const char *what, long at, long value) {
    printf("%s: %ld is %ld\n", what, at, value);
    fflush(stdout);
    _exit(1);
}

static void expect(const char *what, const unsigned char *memory, size_t bytes, unsigned char value) {
    for (size_t at = 0; at < bytes; at++)
        if (memory[at] != value) fail(what, at, memory[at]);
}

static unsigned char *mapped(size_t bytes) {
    unsigned char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("mmap", bytes, errno);
    return memory;
}

/* Reads a byte of each page for a while, so that pages that are away come back and others are taken. The sampling looks
   for new memory ten times a second. */
static void dwell(const volatile unsigned char *memory, size_t bytes, unsigned char value, int cpu_ms) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    long until = time.tv_sec * 1000 + time.tv_nsec / 1000000 + cpu_ms;
    do {
        for (size_t at = 0; at < bytes; at += PAGE)
            if (memory[at] != value) fail("dwell", at, memory[at]);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    } while (time.tv_sec * 1000 + time.tv_nsec / 1000000 < until);
}

static void *grow(void *argument) {
    unsigned char own = (long)argument + 1;
    for (long round = 0; round < rounds; round++) {
        size_t bytes = 40 * PAGE;
        unsigned char *memory = mapped(bytes), *array = malloc(bytes);
        memset(memory, own, bytes);
        memset(array, own, bytes);
        for (int step = 1; step < 6; step++) {
            dwell(memory, step * bytes, own, 10);
            dwell(array, step * bytes, own, 10);
            memory = mremap(memory, step * bytes, (step + 1) * bytes, MREMAP_MAYMOVE);
            if (memory == MAP_FAILED) fail("mremap", step, errno);
            array = realloc(array, (step + 1) * bytes);
            expect("grown", memory, step * bytes, own);
            expect("array", array, step * bytes, own);
            expect("new", memory + step * bytes, bytes, 0);
            memset(memory + step * bytes, own, bytes);
            memset(array + step * bytes, own, bytes);
        }
        munmap(memory, 6 * bytes);
        free(array);
    }
    return NULL;
}

static void *calls(void *argument) {
    unsigned char own = (long)argument + 1;
    int ends[2];
    if (pipe(ends)) fail("pipe", 0, errno);
    size_t bytes = 16 * PAGE;
    unsigned char *from = mapped(bytes), *to = mapped(bytes);
    dwell(from, bytes, 0, 50);
    for (long round = 0; round < rounds; round++) {
        unsigned char value = own + 4 * round;
        memset(from, value, bytes);
        memset(to, 0, bytes);
        for (size_t at = 0; at < bytes; at += PAGE) {
            ssize_t wrote = write(ends[1], from + at, PAGE);
            if (wrote != PAGE) fail("write", wrote, errno);
            ssize_t got = read(ends[0], to + at, PAGE);
            if (got != PAGE) fail("read", got, errno);
        }
        expect("piped", to, bytes, value);
        memset(to, 0, bytes);
        struct iovec here = {to, bytes}, there = {from, bytes};
        ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
        if (got != (ssize_t)bytes) fail("process_vm_readv", got, errno);
        expect("copied", to, bytes, value);
        unsigned *word = (unsigned *)(to + round % 16 * PAGE);
        *word = 7;
        if (syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 8, NULL) != -1 || errno != EAGAIN) fail("futex", round, errno);
        if (syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1) != 0) fail("wake", round, errno);
    }
    return NULL;
}

static void join(pid_t child, const char *what) {
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status) fail(what, child, status);
}

static pid_t bare_fork(void) { return syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL); }

/* The child unmaps, gives back and moves parts of the memory at once, and has a child itself. */
static void in_child(unsigned char *memory, size_t bytes, unsigned char own, int depth) {
    size_t part = bytes / 8;
    munmap(memory + part, part);
    madvise(memory + 2 * part, part, MADV_DONTNEED);
    unsigned char *moved = mremap(memory + 3 * part, part, 2 * part, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) fail("mremap in a child", depth, errno);
    if (depth < 2) {
        pid_t child = bare_fork();
        if (child == 0) {
            expect("moved of a grandchild", moved, part, own);
            expect("first of a grandchild", memory, part, own);
            in_child(memory + 4 * part, 4 * part, own, depth + 1);
            _exit(0);
        }
        join(child, "grandchild");
    }
    expect("first", memory, part, own);
    expect("given", memory + 2 * part, part, 0);
    expect("moved", moved, part, own);
    expect("rest", memory + 4 * part, 4 * part, own);
}

static void *forks(void *argument) {
    unsigned char own = (long)argument + 1;
    size_t bytes = 512 * PAGE;
    unsigned char *memory = mapped(bytes);
    memset(memory, own, bytes);
    for (long round = 0; round < rounds; round++) {
        dwell(memory, bytes, own, round == 0 ? 100 : 10);
        pid_t child = round % 2 ? fork() : bare_fork();
        if (child == 0) {
            in_child(memory, bytes, own, 0);
            _exit(0);
        }
        join(child, "child");
        expect("parent", memory, bytes, own);
    }
    return NULL;
}

static void *wiped(void *argument) {
    unsigned char own = (long)argument + 1;
    size_t bytes = 64 * PAGE;
    unsigned char *memory = mapped(bytes);
    memset(memory, own, bytes);
    dwell(memory, bytes, own, 100);
    if (madvise(memory, bytes, MADV_WIPEONFORK)) fail("madvise", 0, errno);
    for (long round = 0; round < rounds; round++) {
        dwell(memory, bytes, own, 10);
        pid_t child = fork();
        if (child == 0) {
            expect("wiped", memory, bytes, 0);
            _exit(0);
        }
        join(child, "child");
        expect("parent", memory, bytes, own);
    }
    return NULL;
}

static void *sparse(void *argument) {
    unsigned char own = (long)argument + 1;
    size_t bytes = 32L << 20, part = 4L << 20;
    for (long round = 0; round < rounds; round++) {
        unsigned char *memory = mapped(bytes);
        for (size_t at = part; at < bytes; at += 2 * part) memset(memory + at, own, 32 * PAGE);
        for (size_t at = part; at < bytes; at += 2 * part) dwell(memory + at, 32 * PAGE, own, 20);
        memory = mremap(memory, bytes, 2 * bytes, MREMAP_MAYMOVE);
        if (memory == MAP_FAILED) fail("mremap of several parts", round, errno);
        for (size_t at = part; at < bytes; at += 2 * part) {
            expect("used part", memory + at, 32 * PAGE, own);
            expect("unused part", memory + at - part, PAGE, 0);
        }
        munmap(memory, 2 * bytes);
    }
    return NULL;
}

static void *given(void *argument) {
    unsigned char own = (long)argument + 1;
    size_t bytes = 64 * PAGE;
    unsigned char *memory = mapped(bytes);
    for (long round = 0; round < rounds; round++) {
        memset(memory, own, bytes);
        dwell(memory, bytes, own, round == 0 ? 100 : 5);
        if (madvise(memory, bytes, MADV_DONTNEED)) fail("madvise", round, errno);
        expect("given", memory, bytes, 0);
        memset(memory, own, bytes);
        mprotect(memory, bytes, round % 2 ? PROT_NONE : PROT_READ);
        mprotect(memory, bytes, PROT_READ | PROT_WRITE);
        expect("protected", memory, bytes, own);
        if (mlock(memory, bytes) == 0) munlock(memory, bytes);
        expect("locked", memory, bytes, own);
    }
    return NULL;
}

static pthread_mutex_t *mutex;

static void *hold(void *argument) {
    pthread_mutex_lock(mutex);
    return argument;
}

static void robust(void) {
    unsigned char *memory = mapped(PAGE);
    mutex = (pthread_mutex_t *)memory;
    for (long round = 0; round < rounds; round++) {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init(mutex, &attributes);
        pthread_t thread;
        pthread_create(&thread, NULL, hold, NULL);
        pthread_join(thread, NULL);
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_sec += 20;
        int status = pthread_mutex_timedlock(mutex, &soon);
        if (status != EOWNERDEAD) fail("robust mutex", round, status);
        pthread_mutex_consistent(mutex);
        pthread_mutex_unlock(mutex);
        memory[PAGE / 2] = 1;
        dwell(memory + PAGE / 2, 1, 1, round == 0 ? 100 : 10);
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void *(*run)(void *);
    } ways[] = {{"grow", grow}, {"calls", calls}, {"forks", forks}, {"wiped", wiped}, {"sparse", sparse}, {"given", given}};
    const char *name = argc > 1 ? argv[1] : "";
    rounds = argc > 2 ? atol(argv[2]) : 10;
    if (!strcmp(name, "robust")) {
        robust();
        puts("whole");
        return 0;
    }
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        if (strcmp(name, ways[way].name)) continue;
        pthread_t threads[THREADS];
        for (long at = 0; at < THREADS; at++) pthread_create(&threads[at], NULL, ways[way].run, (void *)at);
        for (int at = 0; at < THREADS; at++) pthread_join(threads[at], NULL);
        puts("whole");
        return 0;
    }
    return 2;
}
