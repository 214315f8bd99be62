/* The part of every SPU program that is not its own: start, end, heap in the local store, tags. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include "seatmap_spu.h"
#include "vec_types.h"

struct seatmap_spu_link __seatmap_spu __attribute__((visibility("default")));

/* The program counts its work in register r15, by the image's own code. */
#ifdef SEATMAP_COUNTS
const unsigned char __seatmap_counts __attribute__((visibility("default"), used)) = 1;
#define BEGIN_COUNT() __asm__ volatile("xorl %r15d, %r15d")
#else
#define BEGIN_COUNT() ((void)0)
#endif

int main();
/* Functions for the program's end, in the order in which they were registered: those of atexit have no argument. */
struct ending {
    void (*function)(void *);
    void *argument;
};
static struct ending endings[64];
static unsigned int ending_count;

/* The entries of the image's own dynamic section that the runtime reads: addresses are offsets into the store. */
struct dynamic {
    uint64_t kind, value;
};
#define FINI_ARRAY 26
#define FINI_ARRAY_BYTES 28
extern const struct dynamic _DYNAMIC[] __attribute__((visibility("hidden"), weak));

static void end(unsigned int code)
{
    /* A resumed program that has ended ends again. */
    for (;;)
        __seatmap_spu.hooks->stop(__seatmap_spu.spu, code, 0);
}

void _exit(int code)
{
    end(0x2000 | (code & 0xff));
    __builtin_unreachable();
}

static uint64_t dynamic(uint64_t kind)
{
    for (const struct dynamic *entry = _DYNAMIC; entry && entry->kind != 0; entry++)
        if (entry->kind == kind)
            return entry->value;
    return 0;
}

/* Destructors: those of objects, the last first, and then those of functions with this attribute. */
void exit(int code)
{
    while (ending_count > 0) {
        struct ending last = endings[--ending_count];
        last.function(last.argument);
    }
    void (**destructors)(void) = (void (**)(void))(uintptr_t)(__seatmap_spu.store + dynamic(FINI_ARRAY));
    for (uint64_t left = dynamic(FINI_ARRAY_BYTES) / sizeof *destructors; left > 0; left--)
        destructors[left - 1]();
    _exit(code);
}

void abort(void)
{
    end(~0u);
    __builtin_unreachable();
}

void __assert_fail(const char *text, const char *file, unsigned int line, const char *function)
{
    extern int printf(const char *, ...);
    printf("%s:%u: %s: assertion '%s' failed\n", file, line, function, text);
    abort();
}

int __cxa_atexit(void (*function)(void *), void *argument, void *library)
{
    (void)library;
    if (ending_count == sizeof endings / sizeof *endings)
        return -1;
    endings[ending_count++] = (struct ending){function, argument};
    return 0;
}

int atexit(void (*function)(void))
{
    /* A function that takes no argument may get one: it looks at none. */
    return __cxa_atexit((void (*)(void *))function, 0, 0);
}

/* The program's first function. A new run of the same program constructs its objects and calls main once more, with the
 * other variables as they are. */
__attribute__((visibility("default"))) void __seatmap_spu_start(uint64_t spe, uint64_t argp, uint64_t envp,
                                                                const vec_uint4 *registers)
{
    /* Numbers and vectors reach a function in registers of their own: a main takes those that it has. */
    int (*whole)(uint64_t, uint64_t, uint64_t, vec_uint4, vec_uint4, vec_uint4) = (void *)main;
    vec_uint4 first = registers[0], second = registers[1], third = registers[2];
    BEGIN_COUNT();
    ending_count = 0;
    for (uint64_t at = 0; at < __seatmap_spu.constructor_count; at++)
        __seatmap_spu.constructors[at]();
    exit(whole(spe, argp, envp, first, second, third));
}

/* A call that the PPE answers: the word holds the operation and the local address of its data. */
int __send_to_ppe(unsigned int code, unsigned int opcode, void *data)
{
    static unsigned int word __attribute__((aligned(16)));
    word = opcode << 24 | ((unsigned int)(uintptr_t)data & 0xffffff);
    __asm__ volatile("" ::: "memory");
    __seatmap_spu.hooks->stop(__seatmap_spu.spu, code, (unsigned int)(uintptr_t)&word);
    __asm__ volatile("" ::: "memory");
    return 0;
}

static unsigned int tags;

/* Reserves tags that follow one another; the first, or MFC_TAG_INVALID. */
unsigned int __seatmap_tag_reserve(unsigned int number)
{
    if (number < 1 || number > 32)
        return ~0u;
    uint64_t wanted = ((uint64_t)1 << number) - 1;
    for (unsigned int first = 0; first + number <= 32; first++)
        if ((tags & (wanted << first)) == 0) {
            tags |= (unsigned int)(wanted << first);
            return first;
        }
    return ~0u;
}

unsigned int __seatmap_tag_release(unsigned int tag, unsigned int number)
{
    if (tag > 31 || number < 1 || number > 32 - tag)
        return ~0u;
    unsigned int given = (unsigned int)((((uint64_t)1 << number) - 1) << tag);
    if ((tags & given) != given)
        return ~0u;
    tags &= ~given;
    return 0;
}

/* The heap: blocks in the order of their addresses, each with a header in front. First fit, merged when freed. */
struct block {
    size_t bytes;
    struct block *next;
    uint64_t is_free;
    uint64_t reserved;
};

/* Bytes between the heap and the stack pointer that stay free. */
#define STACK_RESERVE 4096

static struct block *first;
static uint64_t heap_end;

static struct block *extend(struct block *last, size_t bytes)
{
    if (heap_end == 0)
        heap_end = (__seatmap_spu.store + __seatmap_spu.heap + 127) & ~(uint64_t)127;
    uint64_t stack = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    if (bytes > __seatmap_spu.store_bytes || heap_end + sizeof(struct block) + bytes + STACK_RESERVE > stack)
        return 0;
    struct block *block = (struct block *)(uintptr_t)heap_end;
    heap_end += sizeof *block + bytes;
    *block = (struct block){bytes, 0, 1, 0};
    if (last)
        last->next = block;
    else
        first = block;
    return block;
}

/* Cuts what is left of a block off, where another one fits there. */
static void *take(struct block *block, size_t bytes)
{
    if (block->bytes >= bytes + 2 * sizeof *block) {
        struct block *rest = (struct block *)((char *)(block + 1) + bytes);
        *rest = (struct block){block->bytes - bytes - sizeof *block, block->next, 1, 0};
        block->bytes = bytes;
        block->next = rest;
    }
    block->is_free = 0;
    return block + 1;
}

void *malloc(size_t bytes)
{
    struct block *last = 0;
    if (bytes > __seatmap_spu.store_bytes) {
        errno = ENOMEM;
        return 0;
    }
    bytes = (bytes + 31) / 32 * 32 + (bytes == 0) * 32;
    for (struct block *block = first; block; last = block, block = block->next)
        if (block->is_free && block->bytes >= bytes)
            return take(block, bytes);
    struct block *block = extend(last, bytes);
    if (!block) {
        errno = ENOMEM;
        return 0;
    }
    return take(block, bytes);
}

/* The end of the heap, moved if there is room. */
void *sbrk(long bytes)
{
    if (heap_end == 0)
        heap_end = (__seatmap_spu.store + __seatmap_spu.heap + 127) & ~(uint64_t)127;
    uint64_t before = heap_end, stack = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    if (bytes != 0 && heap_end + (uint64_t)bytes + STACK_RESERVE > stack) {
        errno = ENOMEM;
        return (void *)-1;
    }
    heap_end += (uint64_t)bytes;
    return (void *)(uintptr_t)before;
}

static struct block *of(void *pointer)
{
    for (struct block *block = first; block; block = block->next)
        if ((char *)pointer > (char *)block && (char *)pointer <= (char *)(block + 1) + block->bytes - 1)
            return block;
    return 0;
}

void free(void *pointer)
{
    struct block *block = pointer ? of(pointer) : 0;
    if (!block)
        return;
    block->is_free = 1;
    for (block = first; block; block = block->next)
        while (block->is_free && block->next && block->next->is_free) {
            block->bytes += sizeof *block + block->next->bytes;
            block->next = block->next->next;
        }
}

void *calloc(size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return 0;
    }
    void *found = malloc(all);
    return found ? memset(found, 0, all) : 0;
}

void *realloc(void *pointer, size_t bytes)
{
    struct block *block = pointer ? of(pointer) : 0;
    if (!block)
        return malloc(bytes);
    size_t had = block->bytes - (size_t)((char *)pointer - (char *)(block + 1));
    if (had >= bytes)
        return pointer;
    void *found = malloc(bytes);
    if (found) {
        memcpy(found, pointer, had);
        free(pointer);
    }
    return found;
}

int posix_memalign(void **found, size_t align, size_t bytes)
{
    if (align < sizeof(void *) || (align & (align - 1)) != 0)
        return EINVAL;
    char *start = align <= __seatmap_spu.store_bytes && bytes <= __seatmap_spu.store_bytes ? malloc(bytes + align) : 0;
    if (!start)
        return ENOMEM;
    *found = (void *)(((uintptr_t)start + align - 1) & ~(uintptr_t)(align - 1));
    return 0;
}

void *memalign(size_t align, size_t bytes)
{
    void *found = 0;
    return posix_memalign(&found, align < sizeof(void *) ? sizeof(void *) : align, bytes) == 0 ? found : 0;
}

void *aligned_alloc(size_t align, size_t bytes)
{
    return memalign(align, bytes);
}

/* The C library's own sort and search would keep something in the register that counts, and call the program. */
static void swap(char *one, char *other, size_t bytes)
{
    for (size_t at = 0; at < bytes; at++) {
        char held = one[at];
        one[at] = other[at];
        other[at] = held;
    }
}

/* Heap sort: in place, without recursion. */
void qsort(void *array, size_t count, size_t bytes, int (*compare)(const void *, const void *))
{
    char *items = array;
    for (size_t start = count / 2, end = count; end > 1;) {
        if (start > 0)
            start--;
        else
            swap(items, items + --end * bytes, bytes);
        for (size_t parent = start, child; (child = 2 * parent + 1) < end; parent = child) {
            child += child + 1 < end && compare(items + child * bytes, items + (child + 1) * bytes) < 0;
            if (compare(items + parent * bytes, items + child * bytes) >= 0)
                break;
            swap(items + parent * bytes, items + child * bytes, bytes);
        }
    }
}

void *bsearch(const void *key, const void *array, size_t count, size_t bytes,
              int (*compare)(const void *, const void *))
{
    const char *items = array;
    while (count > 0) {
        const char *middle = items + count / 2 * bytes;
        int order = compare(key, middle);
        if (order == 0)
            return (void *)middle;
        if (order > 0)
            items = middle + bytes;
        count = order > 0 ? count - count / 2 - 1 : count / 2;
    }
    return 0;
}

/* C++: new and delete of objects and arrays, and what its start-up asks for. */
void *_Znwm(size_t bytes)
{
    void *found = malloc(bytes);
    if (!found)
        abort();
    return found;
}

void *_Znam(size_t bytes)
{
    return _Znwm(bytes);
}

void _ZdlPv(void *pointer)
{
    free(pointer);
}

void _ZdaPv(void *pointer)
{
    free(pointer);
}

void _ZdlPvm(void *pointer, size_t bytes)
{
    (void)bytes;
    free(pointer);
}

void _ZdaPvm(void *pointer, size_t bytes)
{
    (void)bytes;
    free(pointer);
}

/* new (std::nothrow), and new of types with an alignment of their own. */
void *_ZnwmRKSt9nothrow_t(size_t bytes, const void *nothrow)
{
    (void)nothrow;
    return malloc(bytes);
}

void *_ZnamRKSt9nothrow_t(size_t bytes, const void *nothrow)
{
    (void)nothrow;
    return malloc(bytes);
}

void *_ZnwmSt11align_val_t(size_t bytes, size_t align)
{
    void *found = memalign(align, bytes);
    if (!found)
        abort();
    return found;
}

void *_ZnamSt11align_val_t(size_t bytes, size_t align)
{
    return _ZnwmSt11align_val_t(bytes, align);
}

void _ZdlPvSt11align_val_t(void *pointer, size_t align)
{
    (void)align;
    free(pointer);
}

void _ZdlPvmSt11align_val_t(void *pointer, size_t bytes, size_t align)
{
    (void)bytes, (void)align;
    free(pointer);
}

void __cxa_pure_virtual(void)
{
    abort();
}

void *__dso_handle __attribute__((visibility("hidden")));
