/* Transfers: get, put, lists with stalls, local store to local store, signals by address, atomic lines, proxies. */
#include "check.h"

#define SPES 4
#define ADDS 500

struct control {
    unsigned long long values, counter, neighbor_store, neighbor_signal;
    unsigned int number, padding[23];
} __attribute__((aligned(128)));

#ifdef __SPU__
static struct control control;
static volatile unsigned int data[1024] __attribute__((aligned(128)));
static volatile unsigned int line[32] __attribute__((aligned(128)));
static volatile unsigned int inbox[32] __attribute__((aligned(128)));
static volatile unsigned int word[4] __attribute__((aligned(16)));
static mfc_list_element_t list[4] __attribute__((aligned(8)));

static void wait(unsigned int tag)
{
    mfc_write_tag_mask(1 << tag);
    CHECK(mfc_read_tag_status_all() == 1u << tag);
}

static void lists(void)
{
    for (int i = 0; i < 4; i++) {
        list[i].notify = i == 1;
        list[i].reserved = 0;
        list[i].size = 256;
        list[i].eal = mfc_ea2l(control.values) + (3 - i) * 256;
    }
    memset((void *)data, 0, sizeof data);
    mfc_getl(data, control.values, list, sizeof list, 5, 0, 0);
    mfc_write_tag_mask(1 << 5);
    while (mfc_stat_list_stall_status() == 0)
        ;
    CHECK(mfc_read_tag_status_immediate() == 0 && mfc_stat_list_stall_status() == 1);
    CHECK(data[0] == 192 && data[64] == 128 && data[128] == 0);
    CHECK(mfc_read_list_stall_status() == 1 << 5);
    mfc_write_list_stall_ack(5);
    CHECK(mfc_read_tag_status_all() == 1 << 5 && data[128] == 64 && data[192] == 0 && data[255] == 63);
}

static void add(void)
{
    do {
        mfc_getllar(line, control.counter, 0, 0);
        CHECK(mfc_read_atomic_status() == MFC_GETLLAR_STATUS);
        line[control.number]++;
        line[31]++;
        mfc_putllc(line, control.counter, 0, 0);
    } while (mfc_read_atomic_status() & MFC_PUTLLC_STATUS);
}

int main(unsigned long long spe, unsigned long long argp)
{
    unsigned int tag = mfc_tag_reserve(), other = mfc_tag_reserve();
    (void)spe;
    CHECK(tag != other && mfc_tag_release(other) == 0 && mfc_tag_release(other) == MFC_TAG_INVALID);
    mfc_get(&control, argp, sizeof control, tag, 0, 0);
    wait(tag);
    mfc_get(data, control.values, sizeof data, tag, 0, 0);
    wait(tag);
    for (unsigned int i = 0; i < 1024; i++)
        CHECK(data[i] == i);
    lists();
    for (int i = 0; i < ADDS; i++)
        add();
    /* A message into the neighbor's local store, and then a signal to it. */
    spu_write_out_mbox((unsigned int)(unsigned long)inbox);
    unsigned int there = spu_read_in_mbox();
    data[0] = 1000 + control.number;
    mfc_put(data, control.neighbor_store + there, 128, tag, 0, 0);
    word[3] = 77;
    mfc_sndsigf(&word[3], control.neighbor_signal + 12, tag, 0, 0);
    wait(tag);
    CHECK(spu_read_signal1() == 77 && inbox[0] == 1000 + (control.number + SPES - 1) % SPES);
    return failed;
}
#else
int main(void)
{
    static unsigned int values[1024] __attribute__((aligned(128)));
    static volatile unsigned int counter[32] __attribute__((aligned(128)));
    static struct control controls[SPES];
    struct run runs[SPES] = {{0}};
    unsigned int at[SPES], status = 0, sum = 0;
    for (unsigned int i = 0; i < 1024; i++)
        values[i] = i;
    for (int i = 0; i < SPES; i++)
        runs[i].spe = loaded(SPE_MAP_PS), runs[i].argp = &controls[i];
    for (int i = 0; i < SPES; i++) {
        spe_context_ptr_t next = runs[(i + 1) % SPES].spe;
        controls[i].values = (unsigned long)values, controls[i].counter = (unsigned long)counter;
        controls[i].number = (unsigned int)i;
        controls[i].neighbor_store = (unsigned long)spe_ls_area_get(next);
        controls[i].neighbor_signal = (unsigned long)spe_ps_area_get(next, SPE_SIG_NOTIFY_1_AREA);
        CHECK(controls[i].neighbor_store >> 32 == 0 && controls[i].neighbor_signal >> 32 == 0);
        start(&runs[i]);
    }
    for (int i = 0; i < SPES; i++)
        while (spe_out_mbox_read(runs[i].spe, &at[i], 1) == 0)
            ;
    for (int i = 0; i < SPES; i++)
        CHECK(spe_in_mbox_write(runs[i].spe, &at[(i + 1) % SPES], 1, SPE_MBOX_ALL_BLOCKING) == 1);
    for (int i = 0; i < SPES; i++)
        CHECK(end(&runs[i]) == 0);
    for (int i = 0; i < SPES; i++)
        sum += counter[i] == ADDS;
    CHECK(sum == SPES && counter[31] == SPES * ADDS);

    spe_context_ptr_t spe = loaded(0);
    char *store = spe_ls_area_get(spe);
    IS_NULL(spe_ps_area_get(spe, SPE_CONTROL_AREA), EACCES);
    IS_NULL(spe_ls_area_get(NULL), ESRCH);
    CHECK(spe_ls_size_get(spe) == 256 << 10);
    CHECK(spe_mfcio_get(spe, 0x20000, values, 4096, 3, 0, 0) == 0);
    CHECK(spe_mfcio_tag_status_read(spe, 1 << 3, SPE_TAG_ALL, &status) == 0 && status == 1 << 3);
    CHECK(memcmp(store + 0x20000, values, 4096) == 0);
    memset(values, 0, sizeof values);
    CHECK(spe_mfcio_putb(spe, 0x20000, values, 4096, 3, 0, 0) == 0);
    CHECK(spe_mfcio_tag_status_read(spe, 0, SPE_TAG_ANY, &status) == 0 && status == 1 << 3 && values[1023] == 1023);
    FAILS(spe_mfcio_get(spe, 0x20000, values, 4096, 16, 0, 0), EINVAL);
    FAILS(spe_mfcio_get(spe, 0x20000, values, 4096, 0, 256, 0), EINVAL);
    FAILS(spe_mfcio_get(spe, 0x20000, values, 24, 0, 0, 0), EINVAL);
    FAILS(spe_mfcio_put(spe, 0x3ff00, values, 4096, 0, 0, 0), EIO);
    FAILS(spe_mfcio_tag_status_read(spe, 1 << 20, SPE_TAG_ALL, &status), EINVAL);
    FAILS(spe_mfcio_tag_status_read(spe, 0, 9, &status), EINVAL);
    FAILS(spe_mfcio_tag_status_read(spe, 0, SPE_TAG_ANY, NULL), EINVAL);
    CHECK(spe_mssync_start(spe) == 0 && spe_mssync_status(spe) == 0);
    FAILS(spe_mssync_start(NULL), ESRCH);
    CHECK(spe_context_destroy(spe) == 0);
    return failed;
}
#endif
