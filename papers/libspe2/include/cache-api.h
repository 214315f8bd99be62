/* A cache in the local store that a program looks up itself. Each inclusion makes one:
 *
 *     #define CACHE_NAME items          its name, for cache_rd(items, address) and the others
 *     #define CACHED_TYPE float         what it holds
 *     #define CACHE_TYPE CACHE_TYPE_RW  or CACHE_TYPE_RO, if nothing is written
 *     #define CACHELINE_LOG2SIZE 7      bytes of a line, 2^7 (4 to 12)
 *     #define CACHE_LOG2NWAY 2          lines of a set
 *     #define CACHE_LOG2NSETS 6         sets
 *     #include <cache-api.h>
 *
 * The last four may be left out. CACHE_STATS counts hits and misses for cache_pr_stats. */
#include <stdio.h>
#include "spu_mfcio.h"

#ifndef CACHE_API_H
#define CACHE_API_H

#define CACHE_TYPE_RO 0
#define CACHE_TYPE_RW 1
#define __CACHE_JOIN(name, what) __CACHE_JOINED(name, what)
#define __CACHE_JOINED(name, what) __cache_##name##_##what

/* The value at an effective address; a new one there. */
#define cache_rd(name, ea) (*__CACHE_JOIN(name, at)((unsigned long long)(ea), 0))
#define cache_wr(name, ea, value) ((void)(*__CACHE_JOIN(name, at)((unsigned long long)(ea), 1) = (value)))
/* Writes every changed line back. */
#define cache_flush(name) __CACHE_JOIN(name, flush)()
/* Where a value is in the local store, until another call replaces its line, unless that is locked. */
#define cache_rw(name, ea) __CACHE_JOIN(name, at)((unsigned long long)(ea), 1)
#define cache_touch(name, ea) __CACHE_JOIN(name, at)((unsigned long long)(ea), 1)
#define cache_wait(name, pointer) ((void)(pointer))
#define cache_lock(name, pointer) __CACHE_JOIN(name, lock)((pointer), 1)
#define cache_unlock(name, pointer) __CACHE_JOIN(name, lock)((pointer), 0)
#define cache_pr_stats(name) __CACHE_JOIN(name, say)()

/* One line: its address, whether it is there, was changed, may be replaced. */
struct __cache_line {
    unsigned long long ea;
    unsigned char is_there, is_changed, is_locked, reserved[5];
};

/* Transfers a line with a tag that disturbs no reserved one, and waits. */
static inline __attribute__((unused)) void __cache_transfer(volatile void *ls, unsigned long long ea,
                                                            unsigned int bytes, unsigned int command)
{
    unsigned int mask = mfc_read_tag_mask();
    spu_mfcdma64(ls, mfc_ea2h(ea), mfc_ea2l(ea), bytes, 31, command);
    mfc_write_tag_mask(1u << 31);
    (void)mfc_read_tag_status_all();
    mfc_write_tag_mask(mask);
}

#endif

#if !defined(CACHE_NAME) || !defined(CACHED_TYPE)
#error "cache-api.h needs CACHE_NAME and CACHED_TYPE"
#endif
#ifndef CACHE_TYPE
#define CACHE_TYPE CACHE_TYPE_RW
#endif
#ifndef CACHELINE_LOG2SIZE
#define CACHELINE_LOG2SIZE 7
#endif
#ifndef CACHE_LOG2NWAY
#define CACHE_LOG2NWAY 2
#endif
#ifndef CACHE_LOG2NSETS
#define CACHE_LOG2NSETS 6
#endif

/* Sizes, by names that another inclusion does not change. */
enum {
    __CACHE_JOIN(CACHE_NAME, line_bytes) = 1 << CACHELINE_LOG2SIZE,
    __CACHE_JOIN(CACHE_NAME, ways) = 1 << CACHE_LOG2NWAY,
    __CACHE_JOIN(CACHE_NAME, sets) = 1 << CACHE_LOG2NSETS,
    __CACHE_JOIN(CACHE_NAME, is_written) = CACHE_TYPE
};
static volatile unsigned char __CACHE_JOIN(CACHE_NAME, data)[1 << CACHE_LOG2NSETS][1 << CACHE_LOG2NWAY]
                                                            [1 << CACHELINE_LOG2SIZE] __attribute__((aligned(128)));
static struct __cache_line __CACHE_JOIN(CACHE_NAME, lines)[1 << CACHE_LOG2NSETS][1 << CACHE_LOG2NWAY];
static unsigned int __CACHE_JOIN(CACHE_NAME, next)[1 << CACHE_LOG2NSETS];
static unsigned long long __CACHE_JOIN(CACHE_NAME, hits) __attribute__((unused));
static unsigned long long __CACHE_JOIN(CACHE_NAME, misses) __attribute__((unused));

/* Writes a line back if it was changed. */
static __attribute__((unused)) void __CACHE_JOIN(CACHE_NAME, clean)(unsigned int set, unsigned int way)
{
    struct __cache_line *line = &__CACHE_JOIN(CACHE_NAME, lines)[set][way];
    if (line->is_there && line->is_changed)
        __cache_transfer(__CACHE_JOIN(CACHE_NAME, data)[set][way], line->ea, __CACHE_JOIN(CACHE_NAME, line_bytes),
                         MFC_PUT_CMD);
    line->is_changed = 0;
}

/* The replaced way of a set: the next in turn that is not locked. */
static __attribute__((unused)) unsigned int __CACHE_JOIN(CACHE_NAME, replace)(unsigned int set, unsigned long long ea)
{
    unsigned int tries = 0, way;
    struct __cache_line *line;
    do
        way = __CACHE_JOIN(CACHE_NAME, next)[set]++ % __CACHE_JOIN(CACHE_NAME, ways);
    while (__CACHE_JOIN(CACHE_NAME, lines)[set][way].is_locked && ++tries < __CACHE_JOIN(CACHE_NAME, ways));
    line = &__CACHE_JOIN(CACHE_NAME, lines)[set][way];
    __CACHE_JOIN(CACHE_NAME, clean)(set, way);
    __cache_transfer(__CACHE_JOIN(CACHE_NAME, data)[set][way], ea, __CACHE_JOIN(CACHE_NAME, line_bytes), MFC_GET_CMD);
    line->ea = ea, line->is_there = 1, line->is_locked = 0;
    return way;
}

/* Where the value at an address is; fetches a missing line. */
static __attribute__((unused)) CACHED_TYPE *__CACHE_JOIN(CACHE_NAME, at)(unsigned long long ea, int writes)
{
    unsigned long long first = ea & ~(unsigned long long)(__CACHE_JOIN(CACHE_NAME, line_bytes) - 1);
    unsigned int set = (unsigned int)(first / __CACHE_JOIN(CACHE_NAME, line_bytes)) % __CACHE_JOIN(CACHE_NAME, sets);
    unsigned int way = 0;
    struct __cache_line *lines = __CACHE_JOIN(CACHE_NAME, lines)[set];
    while (way < __CACHE_JOIN(CACHE_NAME, ways) && !(lines[way].is_there && lines[way].ea == first))
        way++;
    if (way < __CACHE_JOIN(CACHE_NAME, ways))
        __CACHE_JOIN(CACHE_NAME, hits)++;
    else {
        __CACHE_JOIN(CACHE_NAME, misses)++;
        way = __CACHE_JOIN(CACHE_NAME, replace)(set, first);
    }
    lines[way].is_changed |= writes && __CACHE_JOIN(CACHE_NAME, is_written);
    return (CACHED_TYPE *)(__CACHE_JOIN(CACHE_NAME, data)[set][way] + (ea - first));
}

static __attribute__((unused)) void __CACHE_JOIN(CACHE_NAME, flush)(void)
{
    for (unsigned int set = 0; set < __CACHE_JOIN(CACHE_NAME, sets); set++)
        for (unsigned int way = 0; way < __CACHE_JOIN(CACHE_NAME, ways); way++)
            __CACHE_JOIN(CACHE_NAME, clean)(set, way);
}

static __attribute__((unused)) void __CACHE_JOIN(CACHE_NAME, lock)(const volatile void *pointer, int locks)
{
    unsigned long long offset = (unsigned long long)(const volatile unsigned char *)pointer
                                - (unsigned long long)(uintptr_t)__CACHE_JOIN(CACHE_NAME, data);
    unsigned int line = (unsigned int)(offset / __CACHE_JOIN(CACHE_NAME, line_bytes));
    __CACHE_JOIN(CACHE_NAME, lines)[line / __CACHE_JOIN(CACHE_NAME, ways)][line % __CACHE_JOIN(CACHE_NAME, ways)]
        .is_locked = (unsigned char)locks;
}

static __attribute__((unused)) void __CACHE_JOIN(CACHE_NAME, say)(void)
{
    printf("cache: %llu hits, %llu misses\n", __CACHE_JOIN(CACHE_NAME, hits), __CACHE_JOIN(CACHE_NAME, misses));
}

#undef CACHE_NAME
#undef CACHED_TYPE
#undef CACHE_TYPE
#undef CACHELINE_LOG2SIZE
#undef CACHE_LOG2NWAY
#undef CACHE_LOG2NSETS
