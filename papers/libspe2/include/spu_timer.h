/* The SPU's clock by its decrementer. Interval timers need interrupts, which SPUs here do not have. */
#ifndef SPU_TIMER_H
#define SPU_TIMER_H

#include <stdint.h>
#include "spu_mfcio.h"

/* Unstopped starts of the clock, and the ticks before its last start. */
static unsigned int __spu_clock_users __attribute__((unused));
static uint64_t __spu_clock_ticks __attribute__((unused));
static unsigned int __spu_clock_from __attribute__((unused));

/* Ticks of the time base since the clock was first started. A whole turn of the decrementer must not pass between two
 * reads: 53 seconds. */
static inline __attribute__((unused)) uint64_t spu_clock_read(void)
{
    if (__spu_clock_users > 0) {
        unsigned int now = spu_read_decrementer();
        __spu_clock_ticks += __spu_clock_from - now;
        __spu_clock_from = now;
    }
    return __spu_clock_ticks;
}

static inline __attribute__((unused)) void spu_clock_start(void)
{
    if (__spu_clock_users++ > 0)
        return;
    __spu_clock_ticks = 0;
    __spu_clock_from = ~0u;
    spu_write_decrementer(~0u);
}

#define SPU_CLOCK_ERR_NOT_RUNNING (-2)
/* 0, or an error if the clock was not running. */
static inline __attribute__((unused)) int spu_clock_stop(void)
{
    if (__spu_clock_users == 0)
        return SPU_CLOCK_ERR_NOT_RUNNING;
    (void)spu_clock_read();
    __spu_clock_users--;
    return 0;
}

/* Handlers of interrupts: taken and never called. */
typedef unsigned int (*spu_slih_func)(unsigned int);
#define spu_slih_register(mask, handler) ((void)(mask), (void)(handler))
static inline __attribute__((unused)) unsigned int spu_clock_slih(unsigned int events)
{
    return events & ~MFC_DECREMENTER_EVENT;
}

#endif
