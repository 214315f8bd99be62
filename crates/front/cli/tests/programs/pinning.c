/* Worker threads with binding logic that is right on usual machines and wrong on others. Users of some program reported
 * each fault; e2e/pretend/pinning.rs names the public thread.
 *
 *     pinning FAULT WORKERS
 *
 * The first thread is a worker too. If a call fails, the thread continues unbound, as in those programs.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST 4096

static cpu_set_t *allowed;
static size_t set_bytes;

/* All masks have room for MOST CPUs, unless their length is the fault. */
static void look(void)
{
    allowed = CPU_ALLOC(MOST);
    set_bytes = CPU_ALLOC_SIZE(MOST);
    CPU_ZERO_S(set_bytes, allowed);
    sched_getaffinity(0, set_bytes, allowed);
}

static int nth_allowed(int which)
{
    for (int cpu = 0; cpu < MOST; cpu++)
        if (CPU_ISSET_S(cpu, set_bytes, allowed) && which-- == 0)
            return cpu;
    return -1;
}

static void bind_to(int cpu)
{
    cpu_set_t *set = CPU_ALLOC(MOST);
    CPU_ZERO_S(set_bytes, set);
    if (cpu >= 0)
        CPU_SET_S(cpu, set_bytes, set);
    sched_setaffinity(0, set_bytes, set);
    CPU_FREE(set);
}

/* A number in a file of sysfs; -1 if the file is missing. */
static int number(const char *form, int which)
{
    char path[128];
    int value = -1;
    snprintf(path, sizeof path, form, which);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%d", &value) != 1)
        value = -1;
    if (file)
        fclose(file);
    return value;
}

/* The worker gets the first CPU of the file's list, or every CPU if the file is missing. */
static void bind_to_first_of(const char *form, int which)
{
    int cpu = number(form, which);
    if (cpu >= 0)
        bind_to(cpu);
}

/* Assumes that neighbouring CPUs are different cores. */
static void consecutive(int worker) { bind_to(nth_allowed(worker)); }

/* Assumes that CPUs begin with 0, even in a container with others. */
static void absolute(int worker) { bind_to(worker); }

/* The mask is built in 32 bits. */
static void narrow(int worker)
{
    unsigned mask = 1u << (worker % 32);
    sched_setaffinity(0, sizeof(unsigned long), (cpu_set_t *)(unsigned long[]){ mask });
}

/* Counts the CPUs and assumes numbers without gaps. */
static void packed(int worker) { bind_to(worker < CPU_COUNT_S(set_bytes, allowed) ? worker : -1); }

/* Identifies a core only by its number, which restarts in each package. */
static void cores_by_number(int worker)
{
    for (int cpu = 0; cpu < MOST; cpu++)
        if (number("/sys/devices/system/cpu/cpu%d/topology/core_id", cpu) == worker)
            return bind_to(cpu);
}

/* The mask has room for 1024 CPUs; if the kernel refuses it, the program assumes one CPU. */
static void fixed(int worker)
{
    cpu_set_t mask;
    int is_read = syscall(SYS_sched_getaffinity, 0, sizeof mask, &mask) >= 0;
    bind_to(nth_allowed(worker % (is_read ? CPU_COUNT(&mask) : 1)));
}

/* The mask has one word. */
static void one_word(int worker)
{
    int cpu = nth_allowed(worker);
    unsigned long mask = cpu < 64 ? 1ul << cpu : 0;
    sched_setaffinity(0, sizeof mask, (cpu_set_t *)&mask);
}

/* Assumes that present CPUs are online. */
static void present(int worker)
{
    if (number("/sys/devices/system/cpu/cpu%d/online", worker) != -1 || worker == 0)
        bind_to(worker);
}

/* Assumes numbers of NUMA nodes without gaps. */
static void dense_nodes(int worker) { bind_to_first_of("/sys/devices/system/node/node%d/cpulist", worker); }

/* To restore all CPUs, shifts one bit by their count: no bit is left if the count is the word length. */
static void shifted(int worker)
{
    int count = CPU_COUNT_S(set_bytes, allowed);
    unsigned long all = (1ul << (count % 64)) - 1;
    bind_to(nth_allowed(0));
    if (worker > 0)
        sched_setaffinity(0, sizeof all, (cpu_set_t *)&all);
}

static const struct {
    const char *name;
    void (*bind)(int worker);
} faults[] = {
    { "consecutive", consecutive }, { "absolute", absolute }, { "narrow", narrow }, { "packed", packed },
    { "cores-by-number", cores_by_number }, { "fixed", fixed }, { "one-word", one_word }, { "present", present },
    { "dense-nodes", dense_nodes }, { "shifted", shifted },
};

static void (*chosen)(int worker);
static pthread_barrier_t all_are_bound;

static void *work(void *worker)
{
    chosen((int)(long)worker);
    pthread_barrier_wait(&all_are_bound);
    usleep(60000);
    return NULL;
}

int main(int count, char **words)
{
    int workers = count > 2 ? atoi(words[2]) : 2;
    for (size_t at = 0; count > 1 && at < sizeof faults / sizeof *faults; at++)
        if (!strcmp(faults[at].name, words[1]))
            chosen = faults[at].bind;
    if (!chosen || workers < 1 || workers > MOST)
        return 2;
    look();
    pthread_barrier_init(&all_are_bound, NULL, workers);
    pthread_t *threads = calloc(workers, sizeof *threads);
    for (long worker = 1; worker < workers; worker++)
        if (pthread_create(&threads[worker], NULL, work, (void *)worker))
            return 3;
    work(NULL);
    for (int worker = 1; worker < workers; worker++)
        pthread_join(threads[worker], NULL);
    return 0;
}
