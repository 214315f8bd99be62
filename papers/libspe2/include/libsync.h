/* Synchronisation of both processors through words of main memory: atomic counters, mutexes, condition variables,
 * completions, and locks for readers and writers. Each word lies in a cache line of 128 bytes of its own at best, at an
 * effective address that is a multiple of four (a condition variable: of eight). All wait by looking. */
#ifndef LIBSYNC_H
#define LIBSYNC_H

#include <stdint.h>

typedef unsigned long long eaddr_t;
typedef unsigned long long atomic_ea_t;
typedef unsigned long long mutex_ea_t;
typedef unsigned long long cond_ea_t;
typedef unsigned long long completion_ea_t;

/* The data at a condition variable's address. */
typedef struct {
    int came;
    int may_go;
} condition_variable_t __attribute__((aligned(128)));

#define __SYNC_INLINE static inline __attribute__((unused))

#ifdef __SPU__
#include "spu_mfcio.h"

/* The line that a program changes: one at a time, in the local store. */
static volatile unsigned char __sync_line[128] __attribute__((aligned(128), unused));

/* Replaces a word if it has the expected value; says whether it did. */
__SYNC_INLINE int __sync_swap(unsigned long long ea, unsigned int expected, unsigned int value)
{
    volatile unsigned int *word = (volatile unsigned int *)(__sync_line + (ea & 124));
    mfc_getllar(__sync_line, ea & ~127ull, 0, 0);
    (void)mfc_read_atomic_status();
    if (*word != expected)
        return 0;
    *word = value;
    mfc_putllc(__sync_line, ea & ~127ull, 0, 0);
    return (mfc_read_atomic_status() & MFC_PUTLLC_STATUS) == 0;
}

__SYNC_INLINE unsigned int __sync_load(unsigned long long ea)
{
    mfc_getllar(__sync_line, ea & ~127ull, 0, 0);
    (void)mfc_read_atomic_status();
    return *(volatile unsigned int *)(__sync_line + (ea & 124));
}
#else
__SYNC_INLINE int __sync_swap(unsigned long long ea, unsigned int expected, unsigned int value)
{
    return __atomic_compare_exchange_n((volatile unsigned int *)(uintptr_t)ea, &expected, value, 0, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

__SYNC_INLINE unsigned int __sync_load(unsigned long long ea)
{
    return __atomic_load_n((volatile unsigned int *)(uintptr_t)ea, __ATOMIC_SEQ_CST);
}
#endif

#ifdef __cplusplus
extern "C" int sched_yield(void) throw();
#else
extern int sched_yield(void);
#endif

/* Another thread may need this processor. */
__SYNC_INLINE void __sync_pause(unsigned int *looks)
{
    if (++*looks % 1024 == 0)
        (void)sched_yield();
    else
        __builtin_ia32_pause();
}

/* Adds to a word; its value before. */
__SYNC_INLINE int __sync_add(unsigned long long ea, int by)
{
    unsigned int before;
    do
        before = __sync_load(ea);
    while (!__sync_swap(ea, before, before + (unsigned int)by));
    return (int)before;
}

/* Atomic counters. */
__SYNC_INLINE void atomic_set(atomic_ea_t ea, int value)
{
    while (!__sync_swap(ea, __sync_load(ea), (unsigned int)value))
        ;
}

__SYNC_INLINE int atomic_read(atomic_ea_t ea)
{
    return (int)__sync_load(ea);
}

#define atomic_add(by, ea) ((void)__sync_add((ea), (by)))
#define atomic_sub(by, ea) ((void)__sync_add((ea), -(by)))
#define atomic_inc(ea) ((void)__sync_add((ea), 1))
#define atomic_dec(ea) ((void)__sync_add((ea), -1))
/* These return the value before. */
#define atomic_add_return(by, ea) __sync_add((ea), (by))
#define atomic_sub_return(by, ea) __sync_add((ea), -(by))
#define atomic_inc_return(ea) __sync_add((ea), 1)
#define atomic_dec_return(ea) __sync_add((ea), -1)
/* Whether it has become zero. */
#define atomic_sub_and_test(by, ea) (__sync_add((ea), -(by)) == (by))
#define atomic_dec_and_test(ea) (__sync_add((ea), -1) == 1)

/* Subtracts one if the value is positive; the value before, less one. */
__SYNC_INLINE int atomic_dec_if_positive(atomic_ea_t ea)
{
    int before;
    do {
        before = (int)__sync_load(ea);
        if (before <= 0)
            return before - 1;
    } while (!__sync_swap(ea, (unsigned int)before, (unsigned int)before - 1));
    return before - 1;
}

/* Mutexes: 0 free, 1 held. */
__SYNC_INLINE void mutex_init(mutex_ea_t lock)
{
    atomic_set(lock, 0);
}

/* 1 if the mutex is the caller's now. */
__SYNC_INLINE int mutex_trylock(mutex_ea_t lock)
{
    return __sync_swap(lock, 0, 1);
}

__SYNC_INLINE void mutex_lock(mutex_ea_t lock)
{
    unsigned int looks = 0;
    while (!mutex_trylock(lock))
        __sync_pause(&looks);
}

__SYNC_INLINE void mutex_unlock(mutex_ea_t lock)
{
    atomic_set(lock, 0);
}

/* Condition variables: the number of waiters that came, and behind it of those that may go. */
__SYNC_INLINE void cond_init(cond_ea_t cond)
{
    atomic_set(cond, 0);
    atomic_set(cond + 4, 0);
}

__SYNC_INLINE void cond_wait(cond_ea_t cond, mutex_ea_t lock)
{
    unsigned int looks = 0, ticket = (unsigned int)__sync_add(cond, 1);
    mutex_unlock(lock);
    while ((int)(__sync_load(cond + 4) - ticket) <= 0)
        __sync_pause(&looks);
    mutex_lock(lock);
}

/* Lets one waiter go, if one is there. */
__SYNC_INLINE void cond_signal(cond_ea_t cond)
{
    unsigned int gone;
    do {
        gone = __sync_load(cond + 4);
        if (gone == __sync_load(cond))
            return;
    } while (!__sync_swap(cond + 4, gone, gone + 1));
}

__SYNC_INLINE void cond_broadcast(cond_ea_t cond)
{
    unsigned int gone, came;
    do
        gone = __sync_load(cond + 4), came = __sync_load(cond);
    while (!__sync_swap(cond + 4, gone, came));
}

/* Completions: how many waiters may go; all, once it is complete for all. */
#define __SYNC_ALL 0x7fffffffu
__SYNC_INLINE void init_completion(completion_ea_t done)
{
    atomic_set(done, 0);
}

__SYNC_INLINE void complete(completion_ea_t done)
{
    unsigned int may;
    do {
        may = __sync_load(done);
        if (may == __SYNC_ALL)
            return;
    } while (!__sync_swap(done, may, may + 1));
}

__SYNC_INLINE void complete_all(completion_ea_t done)
{
    atomic_set(done, (int)__SYNC_ALL);
}

__SYNC_INLINE void wait_for_completion(completion_ea_t done)
{
    unsigned int looks = 0, may;
    for (;;) {
        may = __sync_load(done);
        if (may == __SYNC_ALL || (may > 0 && __sync_swap(done, may, may - 1)))
            return;
        __sync_pause(&looks);
    }
}

/* Locks: how many read, or all ones while one writes. */
#define __SYNC_WRITER 0xffffffffu
__SYNC_INLINE int read_trylock(mutex_ea_t lock)
{
    unsigned int readers = __sync_load(lock);
    return readers != __SYNC_WRITER && __sync_swap(lock, readers, readers + 1);
}

__SYNC_INLINE void read_lock(mutex_ea_t lock)
{
    unsigned int looks = 0;
    while (!read_trylock(lock))
        __sync_pause(&looks);
}

__SYNC_INLINE void read_unlock(mutex_ea_t lock)
{
    (void)__sync_add(lock, -1);
}

__SYNC_INLINE int write_trylock(mutex_ea_t lock)
{
    return __sync_swap(lock, 0, __SYNC_WRITER);
}

__SYNC_INLINE void write_lock(mutex_ea_t lock)
{
    unsigned int looks = 0;
    while (!write_trylock(lock))
        __sync_pause(&looks);
}

__SYNC_INLINE void write_unlock(mutex_ea_t lock)
{
    atomic_set(lock, 0);
}

/* Names of functions compiled in. */
#define _atomic_add(by, ea) atomic_add(by, ea)
#define _atomic_add_return(by, ea) atomic_add_return(by, ea)
#define _atomic_dec(ea) atomic_dec(ea)
#define _atomic_dec_and_test(ea) atomic_dec_and_test(ea)
#define _atomic_dec_if_positive(ea) atomic_dec_if_positive(ea)
#define _atomic_dec_return(ea) atomic_dec_return(ea)
#define _atomic_inc(ea) atomic_inc(ea)
#define _atomic_inc_return(ea) atomic_inc_return(ea)
#define _atomic_read(ea) atomic_read(ea)
#define _atomic_set(ea, value) atomic_set(ea, value)
#define _atomic_sub(by, ea) atomic_sub(by, ea)
#define _atomic_sub_and_test(by, ea) atomic_sub_and_test(by, ea)
#define _atomic_sub_return(by, ea) atomic_sub_return(by, ea)
#define _mutex_init(lock) mutex_init(lock)
#define _mutex_lock(lock) mutex_lock(lock)
#define _mutex_trylock(lock) mutex_trylock(lock)
#define _mutex_unlock(lock) mutex_unlock(lock)
#define _cond_init(cond) cond_init(cond)
#define _cond_wait(cond, lock) cond_wait(cond, lock)
#define _cond_signal(cond) cond_signal(cond)
#define _cond_broadcast(cond) cond_broadcast(cond)
#define _init_completion(done) init_completion(done)
#define _complete(done) complete(done)
#define _complete_all(done) complete_all(done)
#define _wait_for_completion(done) wait_for_completion(done)
#define _read_lock(lock) read_lock(lock)
#define _read_trylock(lock) read_trylock(lock)
#define _read_unlock(lock) read_unlock(lock)
#define _write_lock(lock) write_lock(lock)
#define _write_trylock(lock) write_trylock(lock)
#define _write_unlock(lock) write_unlock(lock)

#endif
