/* What a PPE program reads of its processor: programs take the time base's frequency from /proc/cpuinfo. They find the
 * Cell's there, with the frequency at which this library counts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CPUINFO "/proc/cpuinfo"
/* As Linux has them on a Cell Broadband Engine. */
#define PROCESSOR(number)                                     \
    "processor\t: " number "\n"                               \
    "cpu\t\t: Cell Broadband Engine, altivec supported\n"     \
    "clock\t\t: 3192.000000MHz\n"                             \
    "revision\t: 16.0 (pvr 0070 1000)\n\n"
static const char text[] = PROCESSOR("0") PROCESSOR("1") "timebase\t: 79800000\nplatform\t: Cell\n";

/* A file with that text, which is gone with the process. */
static const char *instead(const char *path)
{
    static char name[48];
    if (!path || strcmp(path, CPUINFO) != 0)
        return path;
    if (!name[0]) {
        int file = memfd_create("cpuinfo", MFD_CLOEXEC);
        if (file < 0 || write(file, text, sizeof text - 1) != sizeof text - 1)
            return path;
        snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)getpid(), file);
    }
    return name;
}

/* A command with that file in the place of /proc/cpuinfo; free it. */
static char *instead_in(const char *command)
{
    const char *from = command, *found, *path = instead(CPUINFO);
    size_t count = 0;
    for (found = strstr(command, CPUINFO); found; found = strstr(found + 1, CPUINFO))
        count++;
    char *made = malloc(strlen(command) + count * strlen(path) + 1), *to = made;
    if (!made)
        return NULL;
    while ((found = strstr(from, CPUINFO))) {
        memcpy(to, from, found - from);
        to = stpcpy(to + (found - from), path);
        from = found + strlen(CPUINFO);
    }
    strcpy(to, from);
    return made;
}

/* Streams of C++ open files by these names too, so that they stand in front of the C library's. */
static FILE *open_stream(const char *real, const char *path, const char *mode)
{
    FILE *(*open_it)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, real);
    return open_it ? open_it(instead(path), mode) : NULL;
}

FILE *fopen(const char *path, const char *mode) { return open_stream("fopen", path, mode); }

FILE *fopen64(const char *path, const char *mode) { return open_stream("fopen64", path, mode); }

int __real_open(const char *path, int flags, ...);
int __real_open64(const char *path, int flags, ...);
FILE *__real_popen(const char *command, const char *mode);
int __real_system(const char *command);

int __wrap_open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, int) : 0;
    va_end(more);
    return __real_open(instead(path), flags, mode);
}

int __wrap_open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, int) : 0;
    va_end(more);
    return __real_open64(instead(path), flags, mode);
}

FILE *__wrap_popen(const char *command, const char *mode)
{
    char *other = instead_in(command);
    FILE *stream = __real_popen(other ? other : command, mode);
    free(other);
    return stream;
}

int __wrap_system(const char *command)
{
    char *other = command ? instead_in(command) : NULL;
    int result = __real_system(other ? other : command);
    free(other);
    return result;
}
