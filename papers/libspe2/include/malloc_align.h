/* Memory at a multiple of a power of two. */
#ifndef MALLOC_ALIGN_H
#define MALLOC_ALIGN_H

#include <stddef.h>
#include <stdlib.h>

/* Memory at a multiple of 2 to the power of log2_align. */
static inline __attribute__((unused)) void *malloc_align(size_t size, unsigned int log2_align)
{
    void *found = 0;
    size_t align = (size_t)1 << (log2_align < 4 ? 4 : log2_align);
    return posix_memalign(&found, align, size) == 0 ? found : 0;
}

#define _malloc_align(size, log2_align) malloc_align(size, log2_align)

#endif
