/* Gives memory back that malloc_align made. */
#ifndef FREE_ALIGN_H
#define FREE_ALIGN_H

#include <stdlib.h>

static inline __attribute__((unused)) void free_align(void *pointer)
{
    free(pointer);
}

#define _free_align(pointer) free_align(pointer)

#endif
