/* Aligned memory, bounds and small helpers, on both processors. */
#ifndef LIBMISC_H
#define LIBMISC_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "free_align.h"
#include "malloc_align.h"

/* Zeroed memory for `count` things at a multiple of 2 to the power of log2_align. */
static inline __attribute__((unused)) void *calloc_align(size_t count, size_t size, unsigned int log2_align)
{
    size_t bytes;
    void *found = __builtin_mul_overflow(count, size, &bytes) ? 0 : malloc_align(bytes, log2_align);
    return found ? memset(found, 0, bytes) : 0;
}

/* Memory of another size with the same content, as far as it fits. */
static inline __attribute__((unused)) void *realloc_align(void *pointer, size_t size, unsigned int log2_align)
{
    void *grown = realloc(pointer, size), *found;
    if (!grown || ((uintptr_t)grown & (((uintptr_t)1 << log2_align) - 1)) == 0)
        return grown;
    found = malloc_align(size, log2_align);
    if (found)
        memcpy(found, grown, size), free(grown);
    return found;
}

#define _calloc_align(count, size, log2_align) calloc_align(count, size, log2_align)
#define _realloc_align(pointer, size, log2_align) realloc_align(pointer, size, log2_align)

/* Bounds. */
static inline __attribute__((unused)) float clamp_0_to_1(float value)
{
    return value < 0 ? 0 : value > 1 ? 1 : value;
}
static inline __attribute__((unused)) float clamp_minus1_to_1(float value)
{
    return value < -1 ? -1 : value > 1 ? 1 : value;
}

#ifdef __PPU__
/* Copies between main memory and a local store by its effective address. */
static inline __attribute__((unused)) size_t copy_to_ls(unsigned long long to, const void *from, size_t bytes)
{
    memcpy((void *)(uintptr_t)to, from, bytes);
    return bytes;
}
static inline __attribute__((unused)) size_t copy_from_ls(void *to, unsigned long long from, size_t bytes)
{
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return bytes;
}
#endif

#endif
