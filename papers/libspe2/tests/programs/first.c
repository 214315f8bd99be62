/* Version 1 of the library: threads, groups and their events. */
#ifdef __SPU__
#include "check.h"

int main(unsigned long long spe, unsigned long long argp)
{
    static int words[4] __attribute__((aligned(128)));
    (void)spe;
    mfc_get(words, argp, sizeof words, 1, 0, 0);
    mfc_write_tag_mask(1 << 1);
    mfc_read_tag_status_all();
    words[0] += spu_read_in_mbox() + spu_read_signal1();
    mfc_put(words, argp, sizeof words, 1, 0, 0);
    mfc_read_tag_status_all();
    spu_write_out_mbox(words[0]);
    spu_write_out_intr_mbox(77);
    if (words[1] == 2)
        spu_stop(0x42);
    return failed + 5;
}
#else
#include "check.h"
#include <libspe.h>

static int words[4] __attribute__((aligned(128)));

static void run(int is_stopped)
{
    struct spe_event event = {.events = SPE_EVENT_MAILBOX};
    speid_t members[MAX_THREADS_PER_GROUP];
    spe_gid_t group = spe_create_group(SCHED_OTHER, 0, 1);
    int status = 0;
    void *data = NULL;
    words[0] = 10;
    words[1] = is_stopped ? 2 : 0;
    speid_t spe = spe_create_thread(group, &work, words, NULL, -1, 0);
    CHECK(spe != NULL && spe_group_max(group) == 16 && spe_get_threads(group, members) == 1);
    CHECK(members[0] == spe && spe_get_group(spe) == group && spe_get_ls(spe) != NULL);
    CHECK(spe_set_app_data(spe, words) == 0 && spe_get_app_data(spe, &data) == 0 && data == words);
    CHECK(spe_read_out_mbox(spe) == 0xffffffff && spe_destroy_group(group) == -1);
    CHECK(spe_write_in_mbox(spe, 7) == 0 && spe_write_signal(spe, SPE_SIG_NOTIFY_REG_1, 100) == 0);
    event.gid = group;
    CHECK(spe_get_event(&event, 1, -1) == 1 && event.revents == SPE_EVENT_MAILBOX && event.data == 77);
    CHECK(spe_stat_out_mbox(spe) == 1 && spe_read_out_mbox(spe) == 117 && words[0] == 117);
    event.events = SPE_EVENT_STOP | SPE_EVENT_THREAD_EXIT;
    CHECK(spe_get_event(&event, 1, -1) == 1 && event.speid == spe);
    CHECK(event.revents == (is_stopped ? SPE_EVENT_STOP : SPE_EVENT_THREAD_EXIT));
    CHECK(spe_wait(spe, &status, 0) == 0);
    if (is_stopped)
        CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == 0x42);
    else
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    CHECK(spe_destroy_group(group) == 0);
}

int main(void)
{
    run(0);
    run(1);
    return failed;
}
#endif
