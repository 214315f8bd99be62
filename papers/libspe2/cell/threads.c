/* The threads of a PPE program on a simulated Cell. They run one at a time, and where one waits for another, virtual
 * time passes: so the same program takes the same virtual time again. Clocks and sleeps are those of the simulated
 * machine. On this computer every call goes to the C library unchanged. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* What libspe2 has for this file. Times are nanoseconds since the machine's beginning; a negative one means for ever. */
int seatmap_spe_is_simulated(void);
void *seatmap_spe_thread_open(void);
void seatmap_spe_thread_close(void *desk);
void seatmap_spe_thread_born(void *desk, uint64_t thread);
void seatmap_spe_thread_begin(void *desk);
void seatmap_spe_thread_end(uint64_t thread);
int seatmap_spe_thread_lives(uint64_t thread);
int seatmap_spe_park(const void *key, int64_t until);
void seatmap_spe_wake(const void *key, unsigned int most);
void seatmap_spe_sleep(int64_t time);
int64_t seatmap_spe_time(void);
/* On this computer, threads that wait for another one are part of a deadlock. */
void seatmap_spe_created(uint64_t thread);
void seatmap_spe_begin_join(uint64_t thread);
void seatmap_spe_begin_wait(int function);
void seatmap_spe_end_wait(void);
/* In low.c: the program handles signals itself. */
extern int __seatmap_handles_signals;

/* When the simulated machine begins: 2007-01-01. */
#define EPOCH 1167609600ll
#define SECOND 1000000000ll
/* What a thread that gives its turn away lets pass. */
#define YIELD 1000

#define REAL(result, name, ...) result __real_##name(__VA_ARGS__)
REAL(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
REAL(int, pthread_join, pthread_t, void **);
REAL(int, pthread_mutex_lock, pthread_mutex_t *);
REAL(int, pthread_mutex_unlock, pthread_mutex_t *);
REAL(int, pthread_cond_wait, pthread_cond_t *, pthread_mutex_t *);
REAL(int, pthread_cond_timedwait, pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
REAL(int, pthread_cond_signal, pthread_cond_t *);
REAL(int, pthread_cond_broadcast, pthread_cond_t *);
REAL(int, pthread_barrier_init, pthread_barrier_t *, const pthread_barrierattr_t *, unsigned int);
REAL(int, pthread_barrier_wait, pthread_barrier_t *);
REAL(int, pthread_rwlock_rdlock, pthread_rwlock_t *);
REAL(int, pthread_rwlock_wrlock, pthread_rwlock_t *);
REAL(int, pthread_rwlock_unlock, pthread_rwlock_t *);
REAL(int, pthread_spin_lock, pthread_spinlock_t *);
REAL(int, sem_wait, sem_t *);
REAL(int, sem_timedwait, sem_t *, const struct timespec *);
REAL(int, sem_post, sem_t *);
REAL(int, pthread_mutexattr_setpshared, pthread_mutexattr_t *, int);
REAL(int, pthread_condattr_setpshared, pthread_condattr_t *, int);
REAL(int, pthread_barrierattr_setpshared, pthread_barrierattr_t *, int);
REAL(int, pthread_rwlockattr_setpshared, pthread_rwlockattr_t *, int);
REAL(int, sem_init, sem_t *, int, unsigned int);
REAL(sem_t *, sem_open, const char *, int, ...);
REAL(int, sched_yield, void);
REAL(int, nanosleep, const struct timespec *, struct timespec *);
REAL(int, usleep, useconds_t);
REAL(unsigned int, sleep, unsigned int);
REAL(int, gettimeofday, struct timeval *, void *);
REAL(int, clock_gettime, clockid_t, struct timespec *);
REAL(time_t, time, time_t *);

/* Waits for other threads, as seatmap_spe_begin_wait numbers them. */
enum { MUTEX, CONDITION, BARRIER, LOCK, SEMAPHORE };

/* Something is shared with other processes, which may end a wait too. */
static int is_shared;

static void end_wait(void *is_noted)
{
    if (is_noted)
        seatmap_spe_end_wait();
}

/* Notes a wait in which other threads alone can end it; what end_wait is to be given. A handler of a signal may post a
 * semaphore, and nothing else of these. */
static void *begin_wait(int function)
{
    static char noted;
    if (is_shared || (function == SEMAPHORE && __seatmap_handles_signals))
        return 0;
    seatmap_spe_begin_wait(function);
    return &noted;
}

/* A call that may be cancelled, as a wait that is noted. */
#define NOTED_WAIT(function, result, call)              \
    do {                                                \
        pthread_cleanup_push(end_wait, begin_wait(function)); \
        result = call;                                  \
        pthread_cleanup_pop(1);                         \
    } while (0)

#define SHARES(kind)                                                                                 \
    int __wrap_pthread_##kind##attr_setpshared(pthread_##kind##attr_t *attributes, int shared)       \
    {                                                                                                \
        is_shared |= shared == PTHREAD_PROCESS_SHARED;                                               \
        return __real_pthread_##kind##attr_setpshared(attributes, shared);                           \
    }
SHARES(mutex)
SHARES(cond)
SHARES(barrier)
SHARES(rwlock)

int __wrap_sem_init(sem_t *semaphore, int shared, unsigned int value)
{
    is_shared |= shared;
    return __real_sem_init(semaphore, shared, value);
}

sem_t *__wrap_sem_open(const char *name, int flags, ...)
{
    va_list more;
    is_shared = 1;
    if (!(flags & O_CREAT))
        return __real_sem_open(name, flags);
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    unsigned int value = va_arg(more, unsigned int);
    va_end(more);
    return __real_sem_open(name, flags, mode, value);
}

/* Threads that are parked: without any, a wake-up needs no call. */
static int parked;

static int park(const void *key, int64_t until)
{
    __atomic_fetch_add(&parked, 1, __ATOMIC_RELAXED);
    int woken = seatmap_spe_park(key, until);
    __atomic_fetch_sub(&parked, 1, __ATOMIC_RELAXED);
    return woken;
}

static void wake(const void *key, unsigned int most)
{
    if (__atomic_load_n(&parked, __ATOMIC_RELAXED) > 0)
        seatmap_spe_wake(key, most);
}

static int64_t until(const struct timespec *time)
{
    int64_t at = (time->tv_sec - EPOCH) * SECOND + time->tv_nsec;
    return at < 0 ? 0 : at;
}

/* A thread's beginning, and its end, however it comes. */
struct start {
    void *desk;
    void *(*start)(void *);
    void *argument;
};

static void end(void *unused)
{
    (void)unused;
    seatmap_spe_thread_end((uint64_t)pthread_self());
}

static void *begin(void *pointer)
{
    struct start start = *(struct start *)pointer;
    void *result;
    free(pointer);
    seatmap_spe_thread_begin(start.desk);
    pthread_cleanup_push(end, 0);
    result = start.start(start.argument);
    pthread_cleanup_pop(1);
    return result;
}

int __seatmap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    if (!seatmap_spe_is_simulated()) {
        int result = __real_pthread_create(thread, attributes, start, argument);
        if (result == 0)
            seatmap_spe_created((uint64_t)*thread);
        return result;
    }
    struct start *held = malloc(sizeof *held);
    if (!held)
        return EAGAIN;
    *held = (struct start){seatmap_spe_thread_open(), start, argument};
    void *desk = held->desk;
    int result = __real_pthread_create(thread, attributes, begin, held);
    if (result == 0)
        seatmap_spe_thread_born(desk, (uint64_t)*thread);
    else
        seatmap_spe_thread_close(desk), free(held);
    return result;
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
    if (!seatmap_spe_is_simulated()) {
        int status;
        static char noted;
        seatmap_spe_begin_join((uint64_t)thread);
        pthread_cleanup_push(end_wait, &noted);
        status = __real_pthread_join(thread, result);
        pthread_cleanup_pop(1);
        return status;
    }
    while (seatmap_spe_thread_lives((uint64_t)thread))
        park((void *)thread, -1);
    return __real_pthread_join(thread, result);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    int result;
    if (!seatmap_spe_is_simulated()) {
        if ((result = pthread_mutex_trylock(mutex)) == EBUSY)
            NOTED_WAIT(MUTEX, result, __real_pthread_mutex_lock(mutex));
        return result;
    }
    while ((result = pthread_mutex_trylock(mutex)) == EBUSY)
        park(mutex, -1);
    return result;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    int result = __real_pthread_mutex_unlock(mutex);
    wake(mutex, 1);
    return result;
}

static int wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t until)
{
    int result = __wrap_pthread_mutex_unlock(mutex);
    if (result != 0)
        return result;
    int woken = park(condition, until);
    result = __wrap_pthread_mutex_lock(mutex);
    return result != 0 || woken ? result : ETIMEDOUT;
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    int result;
    if (seatmap_spe_is_simulated())
        return wait(condition, mutex, -1);
    NOTED_WAIT(CONDITION, result, __real_pthread_cond_wait(condition, mutex));
    return result;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *time)
{
    return seatmap_spe_is_simulated() ? wait(condition, mutex, until(time))
                                      : __real_pthread_cond_timedwait(condition, mutex, time);
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    wake(condition, 1);
    return __real_pthread_cond_signal(condition);
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition)
{
    wake(condition, ~0u);
    return __real_pthread_cond_broadcast(condition);
}

/* Barriers by address: how many threads each waits for, how many have come, how often it has opened. */
struct barrier {
    pthread_barrier_t *barrier;
    unsigned int count, here, openings;
    struct barrier *next;
};

static struct barrier *barriers;

static struct barrier *of(pthread_barrier_t *barrier)
{
    struct barrier *found = barriers;
    while (found && found->barrier != barrier)
        found = found->next;
    return found;
}

int __wrap_pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes, unsigned int count)
{
    int result = __real_pthread_barrier_init(barrier, attributes, count);
    if (result != 0 || !seatmap_spe_is_simulated())
        return result;
    struct barrier *known = of(barrier);
    if (!known) {
        if (!(known = malloc(sizeof *known)))
            return ENOMEM;
        *known = (struct barrier){.barrier = barrier, .next = barriers};
        barriers = known;
    }
    known->count = count, known->here = 0;
    return 0;
}

int __wrap_pthread_barrier_wait(pthread_barrier_t *barrier)
{
    struct barrier *known = seatmap_spe_is_simulated() ? of(barrier) : 0;
    if (!known) {
        int result;
        NOTED_WAIT(BARRIER, result, __real_pthread_barrier_wait(barrier));
        return result;
    }
    if (++known->here == known->count) {
        known->here = 0, known->openings++;
        wake(known, ~0u);
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    for (unsigned int opening = known->openings; known->openings == opening;)
        park(known, -1);
    return 0;
}

int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    int result;
    if (!seatmap_spe_is_simulated()) {
        if ((result = pthread_rwlock_tryrdlock(lock)) == EBUSY)
            NOTED_WAIT(LOCK, result, __real_pthread_rwlock_rdlock(lock));
        return result;
    }
    while ((result = pthread_rwlock_tryrdlock(lock)) == EBUSY)
        park(lock, -1);
    return result;
}

int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    int result;
    if (!seatmap_spe_is_simulated()) {
        if ((result = pthread_rwlock_trywrlock(lock)) == EBUSY)
            NOTED_WAIT(LOCK, result, __real_pthread_rwlock_wrlock(lock));
        return result;
    }
    while ((result = pthread_rwlock_trywrlock(lock)) == EBUSY)
        park(lock, -1);
    return result;
}

int __wrap_pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    int result = __real_pthread_rwlock_unlock(lock);
    wake(lock, ~0u);
    return result;
}

int __wrap_pthread_spin_lock(pthread_spinlock_t *lock)
{
    int result;
    if (!seatmap_spe_is_simulated())
        return __real_pthread_spin_lock(lock);
    while ((result = pthread_spin_trylock(lock)) == EBUSY)
        seatmap_spe_sleep(YIELD);
    return result;
}

static int take(sem_t *semaphore, int64_t until)
{
    while (sem_trywait(semaphore) != 0) {
        if (errno != EAGAIN)
            return -1;
        if (!park(semaphore, until)) {
            errno = ETIMEDOUT;
            return -1;
        }
    }
    return 0;
}

int __wrap_sem_wait(sem_t *semaphore)
{
    int result;
    if (seatmap_spe_is_simulated())
        return take(semaphore, -1);
    NOTED_WAIT(SEMAPHORE, result, __real_sem_wait(semaphore));
    return result;
}

int __wrap_sem_timedwait(sem_t *semaphore, const struct timespec *time)
{
    return seatmap_spe_is_simulated() ? take(semaphore, until(time)) : __real_sem_timedwait(semaphore, time);
}

int __wrap_sem_post(sem_t *semaphore)
{
    int result = __real_sem_post(semaphore);
    wake(semaphore, 1);
    return result;
}

int __wrap_sched_yield(void)
{
    if (!seatmap_spe_is_simulated())
        return __real_sched_yield();
    seatmap_spe_sleep(YIELD);
    return 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    if (!seatmap_spe_is_simulated() || !time || time->tv_sec < 0)
        return __real_nanosleep(time, left);
    seatmap_spe_sleep(time->tv_sec * SECOND + time->tv_nsec);
    return 0;
}

int __wrap_usleep(useconds_t time)
{
    if (!seatmap_spe_is_simulated())
        return __real_usleep(time);
    seatmap_spe_sleep(time * 1000ll);
    return 0;
}

unsigned int __wrap_sleep(unsigned int time)
{
    if (!seatmap_spe_is_simulated())
        return __real_sleep(time);
    seatmap_spe_sleep(time * SECOND);
    return 0;
}

int __wrap_gettimeofday(struct timeval *time, void *zone)
{
    if (!seatmap_spe_is_simulated() || !time)
        return __real_gettimeofday(time, zone);
    int64_t now = seatmap_spe_time();
    time->tv_sec = EPOCH + now / SECOND;
    time->tv_usec = now % SECOND / 1000;
    return 0;
}

/* The clocks of a process and of a thread stay those of this computer. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    if (!seatmap_spe_is_simulated() || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
        return __real_clock_gettime(clock, time);
    int64_t now = seatmap_spe_time();
    time->tv_sec = EPOCH + now / SECOND;
    time->tv_nsec = now % SECOND;
    return 0;
}

time_t __wrap_time(time_t *time)
{
    if (!seatmap_spe_is_simulated())
        return __real_time(time);
    time_t now = EPOCH + seatmap_spe_time() / SECOND;
    if (time)
        *time = now;
    return now;
}
