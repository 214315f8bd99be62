/* Programs from files and in this one: opened, loaded again and in turn, refused. */
#include "check.h"
#include <sys/stat.h>

#ifdef __SPU__
static int runs = 40;

int main(void)
{
    return ++runs + (spu_stat_in_mbox() ? (int)spu_read_in_mbox() : 0);
}
#else
static int ends_with(spe_context_ptr_t spe)
{
    spe_stop_info_t info;
    unsigned int entry = SPE_DEFAULT_ENTRY;
    CHECK(spe_context_run(spe, &entry, 0, NULL, NULL, &info) == 0 && info.stop_reason == SPE_EXIT);
    return info.result.spe_exit_code;
}

static void loads(const char *file)
{
    spe_context_ptr_t spe = spe_context_create(0, NULL);
    spe_program_handle_t *opened = spe_image_open(file), *again = spe_image_open(file);
    unsigned int hundred = 100;
    CHECK(opened != NULL && again != NULL && opened != again);
    CHECK(spe_program_load(spe, opened) == 0 && ends_with(spe) == 41 && ends_with(spe) == 42);
    /* Each load begins with the program's variables as they were built. */
    CHECK(spe_program_load(spe, &work) == 0 && ends_with(spe) == 41);
    CHECK(spe_program_load(spe, opened) == 0 && ends_with(spe) == 41);
    /* A program that was closed goes on where it was loaded. */
    CHECK(spe_image_close(opened) == 0 && ends_with(spe) == 42);
    CHECK(spe_program_load(spe, again) == 0 && spe_image_close(again) == 0 && ends_with(spe) == 41);
    FAILS(spe_image_close(&work), EINVAL);
    FAILS(spe_image_close(NULL), EINVAL);
    /* A message waits for the program that comes. */
    CHECK(spe_in_mbox_write(spe, &hundred, 1, SPE_MBOX_ALL_BLOCKING) == 1);
    CHECK(spe_program_load(spe, &work) == 0 && ends_with(spe) == 141);
    FAILS(spe_program_load(spe, NULL), EINVAL);
    FAILS(spe_program_load(NULL, &work), ESRCH);
    CHECK(spe_context_destroy(spe) == 0);
    FAILS(spe_program_load(spe, &work), ESRCH);
}

/* A file of the program's first bytes, all of them if there are fewer. */
static void shortened(const char *from, const char *to, size_t bytes)
{
    char *data = malloc(bytes);
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    CHECK(data != NULL && in != NULL && out != NULL);
    bytes = fread(data, 1, bytes, in);
    CHECK(fwrite(data, 1, bytes, out) == bytes && fclose(in) == 0 && fclose(out) == 0);
    free(data);
}

static void refusals(const char *file, const char *self)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.short", file);
    IS_NULL(spe_image_open(NULL), EINVAL);
    IS_NULL(spe_image_open(""), ENOENT);
    IS_NULL(spe_image_open("/no/such/program"), ENOENT);
    IS_NULL(spe_image_open("/"), EISDIR);
    IS_NULL(spe_image_open(self), ENOEXEC);
    for (size_t bytes = 0; bytes < 4096; bytes = bytes * 2 + 1) {
        shortened(file, name, bytes);
        CHECK(chmod(name, 0600) == 0);
        IS_NULL(spe_image_open(name), EACCES);
        CHECK(chmod(name, 0700) == 0);
        IS_NULL(spe_image_open(name), ENOEXEC);
    }
    spe_program_handle_t none = {sizeof none, NULL, NULL};
    spe_context_ptr_t spe = spe_context_create(0, NULL);
    FAILS(spe_program_load(spe, &none), EINVAL);
    CHECK(remove(name) == 0 && spe_context_destroy(spe) == 0);
}

int main(int argc, char **argv)
{
    (void)argc;
    loads(argv[1]);
    refusals(argv[1], argv[0]);
    return failed;
}
#endif
