/* Aligned memory and small helpers, on both processors. */
#ifndef LIBMISC_H
#define LIBMISC_H

#include <stddef.h>
#include <stdlib.h>

/* Memory at a multiple of 2 to the power of log2_align. */
static inline void *malloc_align(size_t size, unsigned int log2_align)
{
    void *found = 0;
    size_t align = (size_t)1 << (log2_align < 4 ? 4 : log2_align);
    return posix_memalign(&found, align, size) == 0 ? found : 0;
}

static inline void *_malloc_align(size_t size, unsigned int log2_align)
{
    return malloc_align(size, log2_align);
}

static inline void free_align(void *pointer)
{
    free(pointer);
}

static inline void _free_align(void *pointer)
{
    free(pointer);
}

#endif
