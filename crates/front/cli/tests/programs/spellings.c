/* Opens files by every call and by many spellings of their paths, and prints those without a text.
 *
 *     spellings FOLDER FILE TEXT [FILE TEXT]...
 *
 * Links are created in FOLDER. In FILE, PID, TID and CHILD stand for the process, its second thread, and its child.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* As in <linux/openat2.h>, which old systems lack. */
struct how {
    uint64_t flags, mode, resolve;
};
#define SYS_OPENAT2 437
#define IN_ROOT 0x10

static const char *file, *text;
static int tries, wrong;

static void judge(int descriptor, const char *call, const char *spelling, const char *path)
{
    static char found[1 << 20];
    size_t length = 0;
    ssize_t count;
    if (descriptor < 0 && errno == ENOSYS)
        return;
    while (descriptor >= 0 && (count = read(descriptor, found + length, sizeof found - 1 - length)) > 0)
        length += count;
    found[length] = 0;
    tries++;
    if (!strstr(found, text)) {
        wrong++;
        printf("%s, %s: %s\n", call, spelling, path);
    }
    if (descriptor >= 0)
        close(descriptor);
}

static void try(const char *spelling, int folder, const char *path)
{
    struct how how = {.flags = O_RDONLY};
#ifdef SYS_open
    if (folder == AT_FDCWD)
        judge(syscall(SYS_open, path, O_RDONLY), "open", spelling, path);
#endif
    judge(syscall(SYS_openat, folder, path, O_RDONLY), "openat", spelling, path);
    judge(syscall(SYS_OPENAT2, folder, path, &how, sizeof how), "openat2", spelling, path);
}

static char *joined(const char *a, const char *b, const char *c)
{
    char *all = malloc(strlen(a) + strlen(b) + strlen(c) + 1);
    return strcat(strcat(strcpy(all, a), b), c);
}

/* The path with these words in place of each slash. */
static char *with_slashes(const char *path, const char *slash)
{
    char *all = calloc(strlen(path), strlen(slash) + 1);
    for (; *path; path++)
        strncat(all, *path == '/' ? slash : path, *path == '/' ? strlen(slash) : 1);
    return all;
}

static void try_all(const char *links)
{
    char *folder = strdup(file);
    char *name = strrchr(folder, '/') + 1;
    name[-1] = 0;
    const char *last = strrchr(folder, '/') + 1;
    /* Above the folder of a thread is its process. */
    int has_up = !strstr(file, "thread-self");
    const char *own[] = {"/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/"};
    char number[16];

    try("as it is", AT_FDCWD, file);
    try("two slashes", AT_FDCWD, with_slashes(file, "//"));
    try("dots", AT_FDCWD, with_slashes(file, "/./"));
    if (has_up)
        try("up and down", AT_FDCWD, joined(joined(folder, "/../", last), "/", name));
    try("below the root", AT_FDCWD, joined("/proc/self/root", file, ""));

    int root = open("/", O_PATH), above = open(folder, O_PATH), itself = open(file, O_PATH);
    try("from the root", root, file + 1);
    try("from its folder", above, name);
    if (has_up)
        try("from its folder up", above, joined("../", last, joined("/", name, "")));
    struct how how = {.flags = O_RDONLY, .resolve = IN_ROOT};
    judge(syscall(SYS_OPENAT2, root, file, &how, sizeof how), "openat2", "in the root", file);
    for (int at = 0; at < 3; at++) {
        snprintf(number, sizeof number, "%d", itself);
        try("its descriptor", AT_FDCWD, joined(own[at], number, ""));
        snprintf(number, sizeof number, "%d", above);
        try("its folder's descriptor", AT_FDCWD, joined(own[at], number, joined("/", name, "")));
    }

    char *to_file = joined(links, "/file", ""), *to_folder = joined(links, "/folder", "");
    if (symlink(file, to_file) || symlink(folder, to_folder) || chdir(folder)) {
        perror(file);
        exit(2);
    }
    try("link", AT_FDCWD, to_file);
    try("link to its folder", AT_FDCWD, joined(to_folder, "/", name));
    try("in its folder", AT_FDCWD, name);
    if (has_up)
        try("in its folder up", AT_FDCWD, joined("../", last, joined("/", name, "")));
    try("working folder", AT_FDCWD, joined("/proc/self/cwd/", name, ""));
    if (chdir("/") || unlink(to_file) || unlink(to_folder)) {
        perror(links);
        exit(2);
    }
    close(root);
    close(above);
    close(itself);
}

static int tid;
static pthread_barrier_t begun;

static void *second(void *nothing)
{
    tid = syscall(SYS_gettid);
    pthread_barrier_wait(&begun);
    pause();
    return nothing;
}

int main(int count, char **words)
{
    pthread_t thread;
    pthread_barrier_init(&begun, 0, 2);
    pthread_create(&thread, 0, second, 0);
    pthread_barrier_wait(&begun);
    int child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
        return 0;
    }
    for (int at = 2; at + 1 < count; at += 2) {
        const struct {
            const char *word;
            int number;
        } known[] = {{"PID", getpid()}, {"TID", tid}, {"CHILD", child}};
        char *path = words[at];
        for (int k = 0; k < 3; k++) {
            char number[16], *place;
            snprintf(number, sizeof number, "%d", known[k].number);
            while ((place = strstr(path, known[k].word))) {
                *place = 0;
                path = joined(path, number, place + strlen(known[k].word));
            }
        }
        file = path;
        text = words[at + 1];
        try_all(words[1]);
    }
    kill(child, SIGKILL);
    waitpid(child, 0, 0);
    printf("%d tries, %d wrong\n", tries, wrong);
    return wrong > 0;
}
