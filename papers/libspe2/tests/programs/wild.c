/* Loads and stores of an SPU program outside of its local store begin again at its beginning, as on the Cell. What this
 * computer cannot execute stops the context, and the program of the PPE never notices. */
#include "check.h"
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>

enum { WRAPS, NULLS, TRAPS, DIVIDES, JUMPS, RECURSES };

#ifdef __SPU__
static volatile unsigned int number __attribute__((aligned(16))) = 7;
static const volatile unsigned int constant = 5;

static unsigned int offset(const volatile void *pointer)
{
    return (unsigned int)(uintptr_t)pointer;
}

__attribute__((noinline, noclone)) static void *at(unsigned int address)
{
    __asm__ volatile("" : "+r"(address));
    return (void *)(uintptr_t)address;
}

static void wraps(void)
{
    /* The address in 32 bits, one store further, at the upper end, and with bits that no pointer has. */
    volatile unsigned int *low = at(offset(&number)), *next = at(offset(&number) + (256 << 10));
    volatile unsigned int *high = at(offset(&number) - (256 << 10));
    volatile unsigned int *none = (volatile unsigned int *)((uintptr_t)&number | 0x123400000000000ull);
    CHECK(*low == 7 && *next == 7 && *high == 7 && *none == 7);
    *low += 1;
    CHECK(number == 8);
    next[0]++, *high = *high * 2, *none -= 3;
    CHECK(number == 15);
    /* All widths, signs, vectors, floats, atomics. */
    static unsigned char bytes[64] __attribute__((aligned(16))) = {0x80, 1, 2, 3, 4, 5, 6, 7};
    unsigned char *few = at(offset(bytes));
    CHECK((signed char)few[0] == -128 && *(short *)(few + 2) == 0x302 && *(long long *)few == 0x706050403020180ll);
    vec_uint4 v = *(vec_uint4 *)few;
    CHECK(spu_extract(v, 1) == 0x7060504);
    *(vec_uint4 *)(few + 16) = spu_add(v, 1);
    CHECK(*(unsigned int *)(bytes + 20) == 0x7060505);
    *(double *)(few + 32) = 1.5;
    CHECK(*(double *)(bytes + 32) == 1.5 && *(float *)(few + 36) == 1.9375f);
    CHECK(__sync_fetch_and_add((int *)(few + 48), 3) == 0 && bytes[48] == 3);
    /* Texts, also by the C library's own functions. */
    memcpy(few + 8, bytes, 8), memset(few + 56, 9, 8);
    CHECK(memcmp(bytes, bytes + 8, 8) == 0 && bytes[63] == 9 && strlen((char *)at(offset("seven"))) == 5);
    void *to = few + 40;
    const void *from = bytes;
    unsigned long count = 8;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
    CHECK(count == 0 && to == few + 48 && bytes[40] == 0x80 && bytes[47] == 7);
    to = bytes + 40, from = few + 1, count = 7;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
    CHECK(count == 0 && from == few + 8 && bytes[40] == 1);
    /* A quadword's address loses its last four bits. */
    vec_uint4 *crooked = (vec_uint4 *)(bytes + 4), first;
    __asm__ volatile("movaps %1, %0" : "=x"(first) : "m"(*crooked));
    CHECK(spu_extract(first, 1) == 0x7060504);
    /* An SPU may store where its constants are. */
    *(volatile unsigned int *)&constant = 6;
    CHECK(constant == 6);
    /* A chain of pointers that is its own register. */
    static void *chain;
    chain = &chain;
    void **link = at(offset(&chain));
    for (int turn = 0; turn < 3; turn++)
        link = *link;
    CHECK(link == &chain);
}

static void nulls(void)
{
    volatile unsigned int *null = (volatile unsigned int *)0;
    __asm__ volatile("" : : : "memory");
    unsigned int word = *(volatile unsigned int *)__seatmap_spu.store;
    CHECK(*null == word && *(volatile unsigned char *)1 == (word >> 8 & 255));
    unsigned int loaded;
    __asm__ volatile("movl 0x0, %0" : "=r"(loaded));
    CHECK(loaded == word);
    __asm__ volatile("movl $77, 0x3ffc0" : : : "memory");
    CHECK(*(volatile unsigned int *)(__seatmap_spu.store + 0x3ffc0) == 77);
    __asm__ volatile("addl $1, 0x3ffc0\n\tmovl 0x3ffc0, %%ebx\n\tmovl %%ebx, %0" : "=r"(loaded) : : "rbx", "memory");
    CHECK(loaded == 78);
}

__attribute__((noinline, noclone)) static void trap(void)
{
    __asm__ volatile("ud2");
}

__attribute__((noinline, noclone)) static int divide(int a, int b)
{
    return a / b;
}

__attribute__((noinline, noclone)) static int recurse(int depth)
{
    volatile char room[1024];
    room[depth & 1023] = (char)depth;
    return recurse(depth + 1) + room[depth & 511];
}

int main(unsigned long long spe, unsigned long long argp)
{
    volatile int zero = 0;
    (void)spe;
    switch (argp) {
    case WRAPS:
        wraps();
        return failed;
    case NULLS:
        nulls();
        return failed;
    case TRAPS:
        trap();
        return 0;
    case DIVIDES:
        return divide(7, zero);
    case JUMPS:
        ((void (*)(void))at(0x123450))();
        return 0;
    default:
        return recurse(zero);
    }
}
#else
static volatile sig_atomic_t seen;

static void handler(int number)
{
    seen = number;
    _Exit(9);
}

/* One that lets the fault come again. */
static void returns(int number)
{
    seen = number;
}

static int run(unsigned long what, spe_stop_info_t *info)
{
    spe_context_ptr_t spe = loaded(0);
    unsigned int entry = SPE_DEFAULT_ENTRY;
    memset(info, 0, sizeof *info);
    errno = 0;
    int result = spe_context_run(spe, &entry, 0, (void *)what, NULL, info);
    CHECK(spe_context_destroy(spe) == 0);
    return result;
}

static void all(void)
{
    spe_stop_info_t info;
    for (unsigned long what = WRAPS; what <= NULLS; what++)
        CHECK(run(what, &info) == 0 && info.stop_reason == SPE_EXIT && info.result.spe_exit_code == 0);
    static const unsigned int states[] = {SPE_SPU_INVALID_INSTR, SPE_SPU_HALT, SPE_SPU_INVALID_INSTR, SPE_SPU_HALT};
    for (unsigned long what = TRAPS; what <= RECURSES; what++) {
        CHECK(run(what, &info) == -1 && errno == EFAULT && info.stop_reason == SPE_RUNTIME_ERROR);
        CHECK((unsigned int)info.result.spe_runtime_error == states[what - TRAPS]);
    }
}

int main(void)
{
    all();
    struct sigaction action = {.sa_handler = handler}, before;
    CHECK(signal(SIGSEGV, handler) == SIG_DFL && signal(SIGBUS, handler) == SIG_DFL);
    CHECK(sigaction(SIGILL, &action, &before) == 0 && before.sa_handler == SIG_DFL);
    CHECK(sigaction(SIGFPE, &action, NULL) == 0 && sigaction(SIGILL, NULL, &before) == 0);
    CHECK(before.sa_handler == handler);
    all();
    /* A handler that a library sets, past the functions that the compiler knows. */
    void *(*other)(int, void (*)(int)) = (void *(*)(int, void (*)(int)))dlsym(dlopen(NULL, RTLD_NOW), "signal");
    CHECK(other != NULL);
    other(SIGSEGV, returns), other(SIGILL, returns), other(SIGFPE, returns);
    all();
    CHECK(seen == 0);
    return failed;
}
#endif
