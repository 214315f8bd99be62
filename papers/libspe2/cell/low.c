/* Keeps a PPE program's memory below 4 GiB, where effective addresses fit 32 bits: its heap and its stacks. The program
 * itself is linked there. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK_BYTES (8u << 20)

int __real_main(int argc, char **argv, char **environment);
/* In threads.c. */
int __seatmap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);

static int main_argc, main_result;
static char **main_argv, **main_environment;

static void *low_stack(size_t bytes)
{
    void *found = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT, -1, 0);
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
    void *stack = low_stack(STACK_BYTES);
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_ARENA_MAX, 1);
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
