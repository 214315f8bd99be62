/* Starts threads one after the other. Each first prints the CPUs that it may run on. The first argument says what else
 * happens:
 *   N        N threads, each joined before the next is created
 *   rename   three threads that name themselves worker-0 to worker-2, and run until the main thread has seen them seated
 *   pin      a thread that sets its mask to the environment variable ALL
 *   fork     a child process with a thread, then a thread
 *   exec     a thread that executes this program again
 *   late     the same, 200 ms after its creation; the program then creates a thread, and waits until it is seated
 *   reuse    threads that end, each followed by one with its number; prints how many there were, and how many of them
 *            could run on one CPU only (in a PID namespace of its own, or else there are none)
 *   crowd    threads that create threads, all at once; prints how many could run on more than one CPU
 *   flood    a thousand signals to the main thread, then a thread that waits until it is seated
 *   stay     two named threads that, like the main thread, wait for the end of stdin
 *   vfork    a spawned /bin/true, then a thread
 *   die N    dies by signal N
 *   exit N   exits with code N
 *   count N  prints a line for each received signal N, until SIGTERM
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char **program;

/* The kernel's data about the calling thread, which a library may cache. */
static void allowed(char *list, size_t size)
{
    FILE *status = fopen("/proc/thread-self/status", "r");
    char line[4096];
    list[0] = 0;
    while (status && fgets(line, sizeof line, status))
        if (!strncmp(line, "Cpus_allowed_list:", 18))
            snprintf(list, size, "%s", line + 19);
    if (status)
        fclose(status);
    list[strcspn(list, "\n")] = 0;
}

static void tell(const char *who)
{
    char list[256];
    allowed(list, sizeof list);
    printf("%s %s\n", who, list);
    fflush(stdout);
}

static void *thread(void *who)
{
    tell(who ? who : "thread");
    return NULL;
}

static void start(void *(*body)(void *), void *argument)
{
    pthread_t one;
    pthread_create(&one, NULL, body, argument);
    pthread_join(one, NULL);
}

/* Waits without a limit until this thread is seated on one CPU. */
static void *worker(void *number)
{
    char name[16], list[256];
    snprintf(name, sizeof name, "worker-%ld", (long)number);
    pthread_setname_np(pthread_self(), name);
    do {
        usleep(200);
        allowed(list, sizeof list);
    } while (strcmp(list, getenv("WANTED")));
    tell(name);
    return NULL;
}

static void *pinner(void *unused)
{
    (void)unused;
    tell("before");
    cpu_set_t all;
    CPU_ZERO(&all);
    for (char *cpu = strtok(strdup(getenv("ALL")), ","); cpu; cpu = strtok(NULL, ","))
        CPU_SET(atoi(cpu), &all);
    sched_setaffinity(0, sizeof all, &all);
    tell("after");
    return NULL;
}

static void *executor(void *next)
{
    tell("executor");
    char *arguments[] = {program[0], next, NULL};
    execv("/proc/self/exe", arguments);
    return NULL;
}

static void *late_executor(void *next)
{
    usleep(200000);
    return executor(next);
}

/* Waits for at most 20 seconds until the main thread may run on one CPU only. */
static void settle(void)
{
    char list[256];
    start(thread, NULL);
    for (int looks = 0; looks < 2000; looks++) {
        allowed(list, sizeof list);
        if (!strpbrk(list, ",-"))
            break;
        usleep(10000);
    }
    tell("settled");
}

static pid_t latest;
static int is_narrow;

static void *numbered(void *unused)
{
    char list[256];
    usleep(1000);
    allowed(list, sizeof list);
    is_narrow = !strpbrk(list, ",-");
    latest = gettid();
    return unused;
}

static void reuse(void)
{
    int reused = 0, narrow = 0;
    for (int i = 0; i < 20; i++) {
        start(numbered, NULL);
        pid_t ended = latest;
        usleep(3000);
        FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "w");
        if (!last)
            break;
        fprintf(last, "%d", ended - 1);
        fclose(last);
        start(numbered, NULL);
        reused += latest == ended;
        narrow += latest == ended && is_narrow;
    }
    printf("reused %d narrow %d\n", reused, narrow);
}

static int strays;

static void *leaf(void *unused)
{
    (void)unused;
    char list[256];
    allowed(list, sizeof list);
    if (strpbrk(list, ",-"))
        __atomic_add_fetch(&strays, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void *branch(void *unused)
{
    leaf(unused);
    for (int i = 0; i < 50; i++)
        start(leaf, NULL);
    return NULL;
}

static void crowd(void)
{
    pthread_t branches[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&branches[i], NULL, branch, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(branches[i], NULL);
    printf("strays %d\n", strays);
}

static pthread_barrier_t named, over;

static void *stayer(void *name)
{
    pthread_setname_np(pthread_self(), name);
    pthread_barrier_wait(&named);
    pthread_barrier_wait(&over);
    return NULL;
}

/* The threads print one after the other. */
static void stay(void)
{
    pthread_t left, right;
    pthread_barrier_init(&named, NULL, 3);
    pthread_barrier_init(&over, NULL, 3);
    pthread_create(&left, NULL, stayer, "left");
    pthread_create(&right, NULL, stayer, "right");
    pthread_barrier_wait(&named);
    printf("ready\n");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    pthread_barrier_wait(&over);
    pthread_join(left, NULL);
    pthread_join(right, NULL);
}

static void note(int signal) { (void)signal; }

static void flood(void)
{
    signal(SIGUSR1, note);
    for (int i = 0; i < 1000; i++)
        raise(SIGUSR1);
    start(worker, (void *)0L);
}

static void count(int wanted)
{
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, wanted);
    sigaddset(&both, SIGTERM);
    sigprocmask(SIG_BLOCK, &both, NULL);
    signal(wanted, note);
    printf("ready\n");
    fflush(stdout);
    for (int came = 0; came != SIGTERM;) {
        sigwait(&both, &came);
        printf("signal %d\n", came == wanted ? wanted : SIGTERM);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    extern char **environ;
    program = argv;
    const char *what = argc > 1 ? argv[1] : "0";
    int number = argc > 2 ? atoi(argv[2]) : 0;
    tell("main");
    if (!strcmp(what, "rename")) {
        start(worker, (void *)0L);
        start(worker, (void *)1L);
        start(worker, (void *)2L);
    } else if (!strcmp(what, "pin")) {
        start(pinner, NULL);
    } else if (!strcmp(what, "fork")) {
        pid_t child = fork();
        if (!child) {
            tell("child");
            start(thread, "child's");
            exit(0);
        }
        waitpid(child, NULL, 0);
        start(thread, NULL);
    } else if (!strcmp(what, "exec")) {
        start(executor, "1");
    } else if (!strcmp(what, "late")) {
        /* Starts are counted in steps of 10 ms. */
        usleep(50000);
        start(late_executor, "settle");
    } else if (!strcmp(what, "settle")) {
        settle();
    } else if (!strcmp(what, "reuse")) {
        reuse();
    } else if (!strcmp(what, "crowd")) {
        crowd();
    } else if (!strcmp(what, "flood")) {
        flood();
    } else if (!strcmp(what, "stay")) {
        stay();
    } else if (!strcmp(what, "vfork")) {
        pid_t child;
        char *arguments[] = {"true", NULL};
        posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ);
        waitpid(child, NULL, 0);
        start(thread, NULL);
    } else if (!strcmp(what, "die")) {
        raise(number);
    } else if (!strcmp(what, "exit")) {
        return number;
    } else if (!strcmp(what, "count")) {
        count(number);
    } else {
        for (int i = 0; i < atoi(what); i++)
            start(thread, NULL);
    }
    return 0;
}
