/* The SPE runtime management library, version 1, on that of version 2: a thread for each SPE program.
 *
 * Functions return 0 or a count, or -1 or NULL with errno set. A thread runs until its program ends or stops: 'spe_kill'
 * and affinities fail with ENOSYS. */
#ifndef _libspe_h_
#define _libspe_h_

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "libspe2.h"

typedef void *speid_t;
typedef void *spe_gid_t;

#define SPE_USER_REGS 0x0002
#define SPE_DEF_GRP 0
#define MAX_THREADS_PER_GROUP 16
#define SIGSPE SIGURG

/* Events, which differ from those of version 2 in numbers. */
#define SPE_EVENT_MAILBOX 0x0001
#define SPE_EVENT_STOP 0x0002
#define SPE_EVENT_DMA_ALIGNMENT 0x0008
#define SPE_EVENT_SPE_ERROR 0x0010
#define SPE_EVENT_SPE_DATA_SEGMENT 0x0020
#define SPE_EVENT_SPE_DATA_STORAGE 0x0040
#define SPE_EVENT_SPE_TRAPPED 0x0080
#define SPE_EVENT_THREAD_EXIT 0x0100
#define SPE_EVENT_ERR 0x0200
#define SPE_EVENT_NVAL 0x0400
#define SPE_EVENT_INVALID_DMA_CMD 0x0800

struct spe_event {
    spe_gid_t gid;
    int events, revents;
    speid_t speid;
    unsigned int data;
};

/* A group, and a thread of one: spe_gid_t and speid_t point to them. */
struct __spe_thread;
struct __spe_group {
    int policy, priority, has_events, count;
    struct __spe_thread *threads[MAX_THREADS_PER_GROUP];
};
struct __spe_thread {
    spe_context_ptr_t context;
    struct __spe_group *group;
    pthread_t thread;
    void *argp, *envp, *data;
    unsigned int flags;
    /* As waitpid has it, once the program has ended. */
    int status;
    volatile int has_ended;
    int is_told;
};

#define __SPE1 static __attribute__((unused))

__SPE1 void *__spe_run(void *argument)
{
    struct __spe_thread *thread = (struct __spe_thread *)argument;
    unsigned int entry = SPE_DEFAULT_ENTRY, flags = thread->flags & SPE_USER_REGS ? SPE_RUN_USER_REGS : 0;
    spe_stop_info_t stop;
    int stopped = spe_context_run(thread->context, &entry, flags, thread->argp, thread->envp, &stop);
    if (stopped > 0)
        thread->status = (stop.result.spe_signal_code << 8) | 0x7f;
    else if (stopped == 0)
        thread->status = (stop.result.spe_exit_code & 0xff) << 8;
    else
        thread->status = SIGSEGV;
    thread->has_ended = 1;
    return NULL;
}

__SPE1 spe_gid_t spe_create_group(int policy, int priority, int spe_events)
{
    struct __spe_group *group = (struct __spe_group *)calloc(1, sizeof *group);
    if (group) {
        group->policy = policy;
        group->priority = priority;
        group->has_events = spe_events;
    }
    return group;
}

__SPE1 int spe_destroy_group(spe_gid_t gid)
{
    struct __spe_group *group = (struct __spe_group *)gid;
    if (!group || group->count > 0) {
        errno = group ? EBUSY : ESRCH;
        return -1;
    }
    free(group);
    return 0;
}

__SPE1 int spe_group_max(spe_gid_t gid)
{
    (void)gid;
    return MAX_THREADS_PER_GROUP;
}

__SPE1 int spe_group_defaults(int policy, int priority, int spe_events)
{
    (void)policy;
    (void)priority;
    (void)spe_events;
    return 0;
}

__SPE1 int spe_count_physical_spes(void) { return spe_cpu_info_get(SPE_COUNT_PHYSICAL_SPES, -1); }

__SPE1 int spe_get_priority(spe_gid_t gid) { return gid ? ((struct __spe_group *)gid)->priority : 0; }

__SPE1 int spe_get_policy(spe_gid_t gid) { return gid ? ((struct __spe_group *)gid)->policy : SCHED_OTHER; }

__SPE1 int spe_set_priority(spe_gid_t gid, int priority)
{
    if (gid)
        ((struct __spe_group *)gid)->priority = priority;
    return 0;
}

__SPE1 int spe_get_threads(spe_gid_t gid, speid_t *spe_ids)
{
    struct __spe_group *group = (struct __spe_group *)gid;
    int at;
    if (!group) {
        errno = ESRCH;
        return -1;
    }
    for (at = 0; spe_ids && at < group->count; at++)
        spe_ids[at] = group->threads[at];
    return group->count;
}

__SPE1 speid_t spe_create_thread(spe_gid_t gid, spe_program_handle_t *handle, void *argp, void *envp,
                                 unsigned long mask, int flags)
{
    struct __spe_group *group = (struct __spe_group *)gid;
    struct __spe_thread *thread;
    int kept = SPE_MAP_PS | SPE_CFG_SIGNOTIFY1_OR | SPE_CFG_SIGNOTIFY2_OR;
    (void)mask;
    if (group && group->count == MAX_THREADS_PER_GROUP) {
        errno = ENOMEM;
        return NULL;
    }
    thread = (struct __spe_thread *)calloc(1, sizeof *thread);
    if (!thread)
        return NULL;
    thread->argp = argp;
    thread->envp = envp;
    thread->flags = flags;
    thread->group = group;
    thread->context = spe_context_create((flags & kept) | SPE_MAP_PS, NULL);
    if (!thread->context || spe_program_load(thread->context, handle) ||
        pthread_create(&thread->thread, NULL, __spe_run, thread)) {
        int error = errno;
        if (thread->context)
            spe_context_destroy(thread->context);
        free(thread);
        errno = error;
        return NULL;
    }
    if (group)
        group->threads[group->count++] = thread;
    return thread;
}

/* Waits for a program's end and removes its thread; the status is as of waitpid. */
__SPE1 int spe_wait(speid_t speid, int *status, int options)
{
    struct __spe_thread *thread = (struct __spe_thread *)speid;
    struct __spe_group *group;
    int at;
    if (!thread) {
        errno = ESRCH;
        return -1;
    }
    if ((options & WNOHANG) && !thread->has_ended) {
        errno = EAGAIN;
        return -1;
    }
    pthread_join(thread->thread, NULL);
    if (status)
        *status = thread->status;
    group = thread->group;
    for (at = 0; group && at < group->count; at++)
        if (group->threads[at] == thread)
            group->threads[at--] = group->threads[--group->count];
    spe_context_destroy(thread->context);
    free(thread);
    return 0;
}

/* Events in the groups: waits for the first, for so many milliseconds, or endlessly if negative. */
__SPE1 int spe_get_event(struct spe_event *pevents, int nevents, int timeout)
{
    long waited_us = 0;
    for (;;) {
        int at, member, found = 0;
        for (at = 0; at < nevents; at++) {
            struct spe_event *event = &pevents[at];
            struct __spe_group *group = (struct __spe_group *)event->gid;
            event->revents = group ? 0 : SPE_EVENT_NVAL;
            for (member = 0; group && !event->revents && member < group->count; member++) {
                struct __spe_thread *thread = group->threads[member];
                unsigned int word;
                event->speid = thread;
                if ((event->events & SPE_EVENT_MAILBOX) && spe_out_intr_mbox_status(thread->context) > 0 &&
                    spe_out_intr_mbox_read(thread->context, &word, 1, SPE_MBOX_ANY_NONBLOCKING) == 1) {
                    event->revents = SPE_EVENT_MAILBOX;
                    event->data = word;
                } else if (thread->has_ended && !thread->is_told) {
                    int is_stop = (thread->status & 0xff) == 0x7f;
                    int kind = is_stop ? SPE_EVENT_STOP : SPE_EVENT_THREAD_EXIT;
                    if (event->events & kind) {
                        thread->is_told = 1;
                        event->revents = kind;
                        event->data = is_stop ? thread->status >> 8 : thread->status;
                    }
                }
            }
            found += event->revents != 0;
        }
        if (found || (timeout >= 0 && waited_us >= timeout * 1000l))
            return found;
        usleep(50);
        waited_us += 50;
    }
}

__SPE1 int spe_kill(speid_t speid, int sig)
{
    (void)speid;
    (void)sig;
    errno = ENOSYS;
    return -1;
}

__SPE1 spe_gid_t spe_get_group(speid_t speid) { return ((struct __spe_thread *)speid)->group; }

__SPE1 int spe_get_affinity(speid_t speid, unsigned long *mask)
{
    (void)speid;
    (void)mask;
    errno = ENOSYS;
    return -1;
}

__SPE1 int spe_set_affinity(speid_t speid, unsigned long mask)
{
    (void)speid;
    (void)mask;
    errno = ENOSYS;
    return -1;
}

__SPE1 int spe_set_app_data(speid_t speid, void *data)
{
    ((struct __spe_thread *)speid)->data = data;
    return 0;
}

__SPE1 int spe_get_app_data(speid_t speid, void **data)
{
    *data = ((struct __spe_thread *)speid)->data;
    return 0;
}

#define __SPE1_CONTEXT(speid) (((struct __spe_thread *)(speid))->context)

__SPE1 void *spe_get_ls(speid_t speid) { return spe_ls_area_get(__SPE1_CONTEXT(speid)); }

__SPE1 void *spe_get_ps_area(speid_t speid, enum ps_area area) { return spe_ps_area_get(__SPE1_CONTEXT(speid), area); }

#define spe_open_image(file) spe_image_open(file)
#define spe_close_image(program) spe_image_close(program)

/* Mailboxes and signals. A write waits for room; -1 says that nothing was there to read. */
__SPE1 int spe_write_in_mbox(speid_t speid, unsigned int data)
{
    return spe_in_mbox_write(__SPE1_CONTEXT(speid), &data, 1, SPE_MBOX_ALL_BLOCKING) == 1 ? 0 : -1;
}

__SPE1 int spe_stat_in_mbox(speid_t speid) { return spe_in_mbox_status(__SPE1_CONTEXT(speid)); }

__SPE1 unsigned int spe_read_out_mbox(speid_t speid)
{
    unsigned int word;
    return spe_out_mbox_read(__SPE1_CONTEXT(speid), &word, 1) == 1 ? word : (unsigned int)-1;
}

__SPE1 int spe_stat_out_mbox(speid_t speid) { return spe_out_mbox_status(__SPE1_CONTEXT(speid)); }

__SPE1 int spe_stat_out_intr_mbox(speid_t speid) { return spe_out_intr_mbox_status(__SPE1_CONTEXT(speid)); }

__SPE1 int spe_write_signal(speid_t speid, unsigned int signal_reg, unsigned int data)
{
    return spe_signal_write(__SPE1_CONTEXT(speid), signal_reg, data);
}

/* Transfers by the PPE. */
#define __SPE1_TRANSFER(command)                                                                             \
    __SPE1 int spe_mfc_##command(speid_t spe, unsigned int ls, void *ea, unsigned int size, unsigned short tag, \
                                 unsigned char tid, unsigned char rid)                                       \
    {                                                                                                        \
        return spe_mfcio_##command(__SPE1_CONTEXT(spe), ls, ea, size, tag, tid, rid);                        \
    }
__SPE1_TRANSFER(put)
__SPE1_TRANSFER(putb)
__SPE1_TRANSFER(putf)
__SPE1_TRANSFER(get)
__SPE1_TRANSFER(getb)
__SPE1_TRANSFER(getf)
#undef __SPE1_TRANSFER

#define __SPE1_TAGS(name, behavior)                                                                  \
    __SPE1 int spe_mfc_read_tag_status_##name(speid_t speid, unsigned int mask)                      \
    {                                                                                                \
        unsigned int status = 0;                                                                     \
        return spe_mfcio_tag_status_read(__SPE1_CONTEXT(speid), mask, behavior, &status) ? -1 : (int)status; \
    }
__SPE1_TAGS(all, SPE_TAG_ALL)
__SPE1_TAGS(any, SPE_TAG_ANY)
__SPE1_TAGS(immediate, SPE_TAG_IMMEDIATE)
#undef __SPE1_TAGS

#undef __SPE1
#endif
