/* The cache of effective addresses that the SPU's gcc has behind '__ea'. Here an SPU reads and writes main memory at the
 * address itself, so that the cache is empty and always written back. */
#ifndef _SPU_CACHE_H
#define _SPU_CACHE_H

#ifdef __cplusplus
extern "C" {
#endif

static inline __attribute__((unused)) void *__cache_fetch(__ea void *ea) { return (void *)ea; }

static inline __attribute__((unused)) void *__cache_fetch_dirty(__ea void *ea, int changed_bytes)
{
    (void)changed_bytes;
    return (void *)ea;
}

static inline __attribute__((unused)) void __cache_touch(__ea void *ea) { (void)ea; }

/* Others see what was written. */
static inline __attribute__((unused)) void __cache_flush(void) { __sync_synchronize(); }

static inline __attribute__((unused)) void __cache_evict(__ea void *ea)
{
    (void)ea;
    __sync_synchronize();
}

#ifdef __cplusplus
}
#endif

#define cache_fetch(ea) __cache_fetch(ea)
#define cache_fetch_dirty(ea, changed_bytes) __cache_fetch_dirty(ea, changed_bytes)
#define cache_touch(ea) __cache_touch(ea)
#define cache_evict(ea) __cache_evict(ea)
#define cache_flush() __cache_flush()

#endif
