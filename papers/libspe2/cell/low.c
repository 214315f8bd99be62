/* Keeps a PPE program's memory below 4 GiB, where effective addresses fit 32 bits: its heap, its stacks, and what it maps
 * itself. The program is linked there. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_BYTES (8u << 20)

int __real_main(int argc, char **argv, char **environment);
/* In threads.c. */
int __seatmap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);

static int main_argc, main_result;
static char **main_argv, **main_environment;

void *__real_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
void *__real_shmat(int segment, const void *address, int flags);

/* MAP_32BIT finds addresses below 2 GiB only. Above them, places are tried in steps. */
#define HIGHEST 0xffff0000ull
#define MIDDLE 0x80000000ull
#define STEP (16ull << 20)

/* Maps memory below 4 GiB; MAP_FAILED where nothing is free there. */
static void *map_low(size_t bytes, int protection, int flags, int file, off_t offset)
{
    void *found = __real_mmap(0, bytes, protection, flags | MAP_32BIT, file, offset);
    for (uint64_t end = HIGHEST; found == MAP_FAILED && bytes < end && end - bytes >= MIDDLE; end -= STEP) {
        void *at = (void *)(uintptr_t)((end - bytes) & ~0xffffull);
        found = __real_mmap(at, bytes, protection, flags | MAP_FIXED_NOREPLACE, file, offset);
        if (found != MAP_FAILED && found != at) {
            /* An old kernel takes the address as a hint. */
            munmap(found, bytes);
            found = MAP_FAILED;
        }
    }
    return found;
}

/* What the program maps at an address of the kernel's choice lies below 4 GiB. */
void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
    int error = errno;
    void *found = address || (flags & MAP_FIXED) ? MAP_FAILED : map_low(bytes, protection, flags, file, offset);
    if (found != MAP_FAILED)
        return found;
    errno = error;
    return __real_mmap(address, bytes, protection, flags, file, offset);
}

void *__wrap_mmap64(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
    return __wrap_mmap(address, bytes, protection, flags, file, offset);
}

/* A segment takes the place of a mapping of its size. */
void *__wrap_shmat(int segment, const void *address, int flags)
{
    struct shmid_ds about;
    if (address || shmctl(segment, IPC_STAT, &about) != 0)
        return __real_shmat(segment, address, flags);
    size_t bytes = (about.shm_segsz + 0xffff) & ~(size_t)0xffff;
    void *place = map_low(bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED)
        return __real_shmat(segment, address, flags);
    void *found = __real_shmat(segment, place, flags | SHM_REMAP);
    if (found == (void *)-1)
        munmap(place, bytes);
    return found;
}

/* The heap grows from behind the program, and ends at the first thing that is mapped there: it takes its addresses
 * before anything is. They become memory when they are used. */
#define HEAP_BYTES (768u << 20)
static void reserve_heap(void)
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TRIM_THRESHOLD, 0x7fffffff);
    for (unsigned int bytes = HEAP_BYTES; bytes >= 1u << 20; bytes /= 2) {
        mallopt(M_TOP_PAD, (int)bytes);
        void *before = sbrk(0);
        /* The compiler leaves out memory that nobody looks at. */
        void *volatile first = malloc(1 << 20);
        free(first);
        if ((char *)sbrk(0) - (char *)before >= bytes)
            break;
    }
    mallopt(M_TOP_PAD, 128 << 10);
}

static void *low_stack(size_t bytes)
{
    void *found = map_low(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return found == MAP_FAILED ? 0 : found;
}

static void run_main(void)
{
    main_result = __real_main(main_argc, main_argv, main_environment);
}

/* Runs main on a low stack. */
int __wrap_main(int argc, char **argv, char **environment)
{
    static ucontext_t here, there;
    reserve_heap();
    void *stack = low_stack(STACK_BYTES);
    if (!stack || getcontext(&there) != 0)
        return __real_main(argc, argv, environment);
    main_argc = argc, main_argv = argv, main_environment = environment;
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = STACK_BYTES;
    there.uc_link = &here;
    makecontext(&there, run_main, 0);
    swapcontext(&here, &there);
    return main_result;
}

/* A thread's start and its low stack, which the next thread takes over when the thread has ended. */
struct thread {
    void *(*start)(void *);
    void *argument;
};

static void *run_thread(void *pointer)
{
    struct thread thread = *(struct thread *)pointer;
    free(pointer);
    return thread.start(thread.argument);
}

/* Gives a thread without attributes of its own a low stack. It is kept for the life of the process. */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    pthread_attr_t own;
    struct thread *held = 0;
    void *stack = attributes ? 0 : low_stack(STACK_BYTES / 8);
    if (!stack || !(held = malloc(sizeof *held)))
        return __seatmap_pthread_create(thread, attributes, start, argument);
    *held = (struct thread){start, argument};
    pthread_attr_init(&own);
    pthread_attr_setstack(&own, stack, STACK_BYTES / 8);
    int result = __seatmap_pthread_create(thread, &own, run_thread, held);
    pthread_attr_destroy(&own);
    if (result != 0)
        free(held), munmap(stack, STACK_BYTES / 8);
    return result;
}

/* The program's handlers for faults: the library has its own, which pass on what is not an SPU program's. */
int seatmap_spe_disposition(int signal, const struct sigaction *new, struct sigaction *old);
int __real_sigaction(int signal, const struct sigaction *new, struct sigaction *old);
void (*__real_signal(int signal, void (*handler)(int)))(int);

/* The program has a handler of its own, which may post a semaphore. */
int __seatmap_handles_signals;

int __wrap_sigaction(int signal, const struct sigaction *new, struct sigaction *old)
{
    if (new && new->sa_handler != SIG_DFL && new->sa_handler != SIG_IGN)
        __seatmap_handles_signals = 1;
    return seatmap_spe_disposition(signal, new, old) ? 0 : __real_sigaction(signal, new, old);
}

void (*__wrap_signal(int signal, void (*handler)(int)))(int)
{
    struct sigaction new = {.sa_handler = handler}, old;
    if (handler != SIG_DFL && handler != SIG_IGN)
        __seatmap_handles_signals = 1;
    return seatmap_spe_disposition(signal, &new, &old) ? old.sa_handler : __real_signal(signal, handler);
}

/* The time base for 'mftb' in assembler: keeps every register that C code may have in use, and leaves the ticks on the
 * caller's stack, from where the macro takes as many bits as its register has. */
unsigned long seatmap_spe_timebase(void);
__asm__(".globl __seatmap_mftb\n"
        "__seatmap_mftb:\n"
        "\tpush %rbp\n\tmov %rsp, %rbp\n"
        "\tpush %rax\n\tpush %rcx\n\tpush %rdx\n\tpush %rsi\n\tpush %rdi\n"
        "\tpush %r8\n\tpush %r9\n\tpush %r10\n\tpush %r11\n"
        "\tsub $512, %rsp\n\tand $-64, %rsp\n"
        "\tfxsave (%rsp)\n"
        "\tcall seatmap_spe_timebase\n"
        "\tmov %rax, 16(%rbp)\n"
        "\tfxrstor (%rsp)\n"
        "\tlea -72(%rbp), %rsp\n"
        "\tpop %r11\n\tpop %r10\n\tpop %r9\n\tpop %r8\n"
        "\tpop %rdi\n\tpop %rsi\n\tpop %rdx\n\tpop %rcx\n\tpop %rax\n"
        "\tpop %rbp\n\tret\n");
