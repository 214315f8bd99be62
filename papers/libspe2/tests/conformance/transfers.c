/* Transfers that the PPE asks for, their tags, and multisource synchronisation. */
#include "check.h"

#define ROOM (32 << 10)

#ifdef __SPU__
static unsigned char room[ROOM] __attribute__((aligned(128)));

int main(void)
{
    unsigned int sum = 0, bytes;
    spu_write_out_mbox((unsigned int)(unsigned long)room);
    while ((bytes = spu_read_in_mbox()) != 0) {
        for (unsigned int i = sum = 0; i < bytes; i++)
            sum += room[i], room[i] ^= 0xff;
        spu_write_out_mbox(sum);
    }
    return 0;
}
#else
typedef int transfer(spe_context_ptr_t, unsigned int, void *, unsigned int, unsigned int, unsigned int, unsigned int);
static transfer *const gets[] = {spe_mfcio_get, spe_mfcio_getb, spe_mfcio_getf};
static transfer *const puts_[] = {spe_mfcio_put, spe_mfcio_putb, spe_mfcio_putf};
static unsigned char data[ROOM] __attribute__((aligned(128)));

static unsigned int next(spe_context_ptr_t spe)
{
    unsigned int word = 0;
    while (spe_out_mbox_read(spe, &word, 1) == 0)
        ;
    return word;
}

static void complete(spe_context_ptr_t spe, unsigned int tag)
{
    unsigned int status = 0;
    CHECK(spe_mfcio_tag_status_read(spe, 1u << tag, SPE_TAG_ALL, &status) == 0 && status == 1u << tag);
}

/* To a running program and back: every size, every command, every tag. */
static void there_and_back(void)
{
    static const unsigned int sizes[] = {1, 2, 4, 8, 16, 48, 128, 4096, 16384};
    struct run run = {.spe = loaded(0)};
    spe_context_ptr_t spe = run.spe;
    unsigned int zero = 0;
    start(&run);
    unsigned int at = next(spe);
    for (unsigned int i = 0; i < 9 * 3; i++) {
        unsigned int bytes = sizes[i % 9], tag = i % 16, sum = 0;
        for (unsigned int byte = 0; byte < bytes; byte++)
            sum += data[byte] = (unsigned char)(byte * 7 + i);
        CHECK(gets[i / 9](spe, at, data, bytes, tag, 0, 0) == 0);
        complete(spe, tag);
        CHECK(spe_in_mbox_write(spe, &bytes, 1, SPE_MBOX_ALL_BLOCKING) == 1 && next(spe) == sum);
        CHECK(puts_[i / 9](spe, at, data, bytes, tag, 255, 255) == 0);
        complete(spe, tag);
        for (unsigned int byte = 0; byte < bytes; byte++)
            CHECK(data[byte] == (unsigned char)~(byte * 7 + i));
    }
    CHECK(spe_in_mbox_write(spe, &zero, 1, SPE_MBOX_ALL_BLOCKING) == 1 && end(&run) == 0);
}

static void tags(spe_context_ptr_t spe)
{
    unsigned int status = 99;
    CHECK(spe_mfcio_get(spe, 0x20000, data, 16384, 2, 0, 0) == 0);
    CHECK(spe_mfcio_getf(spe, 0x24000, data, 16384, 9, 0, 0) == 0);
    CHECK(spe_mfcio_tag_status_read(spe, 1 << 2 | 1 << 9, SPE_TAG_ANY, &status) == 0);
    CHECK(status != 0 && (status & ~(1u << 2 | 1 << 9)) == 0);
    CHECK(spe_mfcio_tag_status_read(spe, 1 << 2 | 1 << 9, SPE_TAG_ALL, &status) == 0 && status == (1 << 2 | 1 << 9));
    CHECK(spe_mfcio_putb(spe, 0x20000, data, 16, 3, 0, 0) == 0);
    /* A look may come too early, and finds it complete at last. */
    do
        CHECK(spe_mfcio_tag_status_read(spe, 1 << 3, SPE_TAG_IMMEDIATE, &status) == 0);
    while (status == 0);
    CHECK(status == 1 << 3);
    FAILS(spe_mfcio_tag_status_read(spe, 1 << 16, SPE_TAG_ALL, &status), EINVAL);
    FAILS(spe_mfcio_tag_status_read(spe, 1, 0, &status), EINVAL);
    FAILS(spe_mfcio_tag_status_read(spe, 1, 4, &status), EINVAL);
    FAILS(spe_mfcio_tag_status_read(spe, 1, SPE_TAG_ALL, NULL), EINVAL);
    FAILS(spe_mfcio_tag_status_read(NULL, 1, SPE_TAG_ALL, &status), ESRCH);
}

static void refusals(spe_context_ptr_t spe)
{
    transfer *const all[] = {spe_mfcio_get,  spe_mfcio_getb, spe_mfcio_getf,
                             spe_mfcio_put,  spe_mfcio_putb, spe_mfcio_putf};
    for (int i = 0; i < 6; i++) {
        FAILS(all[i](NULL, 0x20000, data, 16, 0, 0, 0), ESRCH);
        FAILS(all[i](spe, 0x20000, data, 16, 16, 0, 0), EINVAL);
        FAILS(all[i](spe, 0x20000, data, 16, 0, 256, 0), EINVAL);
        FAILS(all[i](spe, 0x20000, data, 16, 0, 0, 256), EINVAL);
        FAILS(all[i](spe, 0x20000, data, 16400, 0, 0, 0), EINVAL);
        FAILS(all[i](spe, 0x20000, data, 24, 0, 0, 0), EINVAL);
        FAILS(all[i](spe, 0x20008, data, 16, 0, 0, 0), EINVAL);
        FAILS(all[i](spe, 0x20001, data, 1, 0, 0, 0), EINVAL);
        FAILS(all[i](spe, 0x3fff0, data, 32, 0, 0, 0), EIO);
        FAILS(all[i](spe, 0x40000, data, 16, 0, 0, 0), EIO);
    }
    FAILS(spe_mfcio_get(spe, 0x20000, data, 3, 0, 0, 0), EINVAL);
    FAILS(spe_mfcio_getb(spe, 0x20000, data, 3, 0, 0, 0), EINVAL);
    FAILS(spe_mfcio_getf(spe, 0x20000, data, 3, 0, 0, 0), EINVAL);
    FAILS(spe_mfcio_put(spe, 0x20000, data, 3, 0, 0, 0), EINVAL);
    FAILS(spe_mfcio_putb(spe, 0x20000, data, 3, 0, 0, 0), EINVAL);
    FAILS(spe_mfcio_putf(spe, 0x20000, data, 3, 0, 0, 0), EINVAL);
}

static void synchronisation(spe_context_ptr_t spe)
{
    memset(data, 5, 128);
    CHECK(spe_mfcio_get(spe, 0x20000, data, 128, 1, 0, 0) == 0);
    CHECK(spe_mssync_start(spe) == 0);
    while (spe_mssync_status(spe) != 0)
        ;
    complete(spe, 1);
    CHECK(memcmp((char *)spe_ls_area_get(spe) + 0x20000, data, 128) == 0);
    FAILS(spe_mssync_start(NULL), ESRCH);
    FAILS(spe_mssync_status(NULL), ESRCH);
}

int main(void)
{
    spe_context_ptr_t spe = loaded(0);
    there_and_back();
    tags(spe);
    refusals(spe);
    synchronisation(spe);
    CHECK(spe_context_destroy(spe) == 0);
    return failed;
}
#endif
