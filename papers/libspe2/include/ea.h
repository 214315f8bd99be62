/* The C library's functions on main memory, by the SPU's C library's names for pointers with '__ea'. */
#ifndef _EA_H
#define _EA_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

typedef unsigned long long size_ea_t;
typedef long long ssize_ea_t;

struct iovec_ea {
    __ea void *iov_base;
    size_ea_t iov_len;
};

#ifdef __cplusplus
extern "C" {
#endif

/* The PPE's heap. 'malloc' is the local store's. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *block);

#ifdef __cplusplus
}
#endif

#define malloc_ea(bytes) ((__ea void *)__libc_malloc(bytes))
#define calloc_ea(count, bytes) ((__ea void *)__libc_calloc(count, bytes))
#define realloc_ea(block, bytes) ((__ea void *)__libc_realloc((void *)(block), bytes))
#define memalign_ea(alignment, bytes) ((__ea void *)__libc_memalign(alignment, bytes))
#define free_ea(block) __libc_free((void *)(block))

static inline __attribute__((unused)) int posix_memalign_ea(__ea void **block, size_ea_t alignment, size_ea_t bytes)
{
    *block = __libc_memalign(alignment, bytes);
    /* ENOMEM. */
    return *block ? 0 : 12;
}

#define memcpy_ea(to, from, bytes) memcpy(to, from, bytes)
#define memmove_ea(to, from, bytes) memmove(to, from, bytes)
#define memset_ea(to, value, bytes) memset(to, value, bytes)
#define memcmp_ea(one, other, bytes) memcmp(one, other, bytes)
#define memchr_ea(in, value, bytes) ((__ea void *)memchr(in, value, bytes))
#define strcpy_ea(to, from) strcpy(to, from)
#define strncpy_ea(to, from, bytes) strncpy(to, from, bytes)
#define strcat_ea(to, from) strcat(to, from)
#define strncat_ea(to, from, bytes) strncat(to, from, bytes)
#define strcmp_ea(one, other) strcmp(one, other)
#define strncmp_ea(one, other, bytes) strncmp(one, other, bytes)
#define strchr_ea(in, value) ((__ea char *)strchr(in, value))
#define strrchr_ea(in, value) ((__ea char *)strrchr(in, value))
#define strstr_ea(in, text) ((__ea char *)strstr(in, text))
#define strpbrk_ea(in, letters) ((__ea char *)strpbrk(in, letters))
#define strspn_ea(in, letters) strspn(in, letters)
#define strcspn_ea(in, letters) strcspn(in, letters)
#define strlen_ea(text) strlen(text)

#define read_ea(file, to, bytes) read(file, to, bytes)
#define pread_ea(file, to, bytes, at) pread(file, to, bytes, at)
#define readv_ea(file, parts, count) readv(file, (const struct iovec *)(parts), count)
#define write_ea(file, from, bytes) write(file, from, bytes)
#define pwrite_ea(file, from, bytes, at) pwrite(file, from, bytes, at)
#define writev_ea(file, parts, count) writev(file, (const struct iovec *)(parts), count)
/* Below 4 GiB, as the rest of the PPE's memory. */
#define mmap_ea(start, bytes, protection, flags, file, at) \
    ((__ea void *)mmap((void *)(start), bytes, protection, (flags) | MAP_32BIT, file, at))
#define munmap_ea(start, bytes) munmap((void *)(start), bytes)
#define msync_ea(start, bytes, flags) msync((void *)(start), bytes, flags)

#endif
