/* The libraries' headers on both sides: synchronisation through main memory, a cache in the store, mathematics, the
 * clock, and the PPE's instructions and registers. */
#include "check.h"
#include <libmisc.h>
#include <libsync.h>
#include <libvector.h>
#include <math.h>
#include <simdmath.h>
#include <vec_literal.h>

#define SPES 3
#define ROUNDS 200
#define ITEMS 4096

struct shared {
    unsigned int counter[32], mutex[32], plain[32], cond[32], ready[32], done[32], lock[32];
    float items[ITEMS] __attribute__((aligned(512)));
} __attribute__((aligned(128)));

/* Both sides' functions of vectors. */
static void mathematics(void)
{
    vec_float4 x = {0.25f, 1.0f, 2.25f, 16.0f}, whole, sine, cosine, v = {3, 4, 12, 99};
    vec_double2 y = {0.5, -2.75}, wholes;
    vec_int4 power;
    for (int i = 0; i < 4; i++) {
        CHECK(sqrtf4(x)[i] == sqrtf(x[i]) && rsqrtf4(x)[i] == 1 / sqrtf(x[i]) && recipf4(x)[i] == 1 / x[i]);
        CHECK(sinf4(x)[i] == sinf(x[i]) && cosf4(x)[i] == cosf(x[i]) && expf4(x)[i] == expf(x[i]));
        CHECK(logf4(x)[i] == logf(x[i]) && powf4(x, x)[i] == powf(x[i], x[i]) && _tanf4(x)[i] == tanf(x[i]));
        CHECK(floorf4(-x)[i] == floorf(-x[i]) && ceilf4(x)[i] == ceilf(x[i]) && truncf4(-x)[i] == truncf(-x[i]));
        CHECK(fabsf4(-x)[i] == x[i] && divf4(x, x)[i] == 1 && copysignf4(x, -x)[i] == -x[i]);
        CHECK(isgreaterf4(x, recipf4(x))[i] == (i > 1 ? ~0u : 0u) && isnanf4(x)[i] == 0 && isfinitef4(x)[i] == ~0u);
    }
    sincosf4(x, &sine, &cosine);
    CHECK(sine[2] == sinf(2.25f) && cosine[0] == cosf(0.25f));
    CHECK(modff4(x, &whole)[2] == 0.25f && whole[2] == 2 && frexpf4(x, &power)[3] == 0.5f && power[3] == 5);
    CHECK(ldexpf4(x, power)[3] == 512 && iroundf4(x)[0] == 0 && irintf4(-x)[2] == -2);
    for (int i = 0; i < 2; i++)
        CHECK(fabsd2(y)[i] == fabs(y[i]) && expd2(y)[i] == exp(y[i]) && sqrtd2(y * y)[i] == fabs(y[i]));
    CHECK(modfd2(y, &wholes)[1] == -0.75 && wholes[1] == -2 && signbitd2(y)[1] == ~0ull && llroundd2(y)[1] == -3);
    CHECK(absi4((vec_int4){-3, 3, 0, -9})[3] == 9 && divi4((vec_int4){7, -7, 7, 1}, (vec_int4){2, 2, 0, -1}).quot[1] == -3);
    CHECK(length_vec3(v) == 13 && dot_product3(v, v) == 169 && fabsf(length_vec3(normalize3(v)) - 1) < 1e-6f);
    CHECK(cross_product3(VEC_LITERAL(vec_float4, 1, 0, 0, 0), VEC_LITERAL(vec_float4, 0, 1, 0, 0))[2] == 1);
    CHECK(VEC_SPLAT_U16(7)[7] == 7 && VEC_SPLAT_F32(0.5f)[3] == 0.5f);
}

#ifdef __SPU__
#include <spu_timer.h>

#define CACHE_NAME items
#define CACHED_TYPE float
#define CACHELINE_LOG2SIZE 9
#define CACHE_LOG2NSETS 2
#include <cache-api.h>

#define CACHE_NAME words
#define CACHED_TYPE unsigned int
#define CACHE_TYPE CACHE_TYPE_RO
#include <cache-api.h>

/* Halves its third of the items, through a cache that holds less than those. */
static void cached(unsigned long long ea, unsigned int number)
{
    for (unsigned int at = number * 1024; at < (number + 1) * 1024; at++)
        cache_wr(items, ea + 4ull * at, cache_rd(items, ea + 4ull * at) / 2);
    float *kept = cache_rw(items, ea + 4096ull * number);
    cache_lock(items, kept);
    for (unsigned int at = 0; at < 1024; at += 128)
        (void)cache_rd(items, ea + 4ull * (number * 1024 + at));
    CHECK(kept == cache_rw(items, ea + 4096ull * number));
    cache_unlock(items, kept);
    cache_flush(items);
    CHECK(cache_rd(words, ea) == cache_rd(words, ea));
}

int main(unsigned long long spe, unsigned long long argp, unsigned long long envp)
{
    unsigned long long sh = argp;
    unsigned int number = (unsigned int)envp;
    (void)spe;
#define EA(member) (sh + __builtin_offsetof(struct shared, member))
    spu_clock_start();
    unsigned long long began = spu_clock_read();
    for (int round = 0; round < ROUNDS; round++) {
        atomic_inc(EA(counter));
        CHECK(atomic_add_return(2, EA(counter)) >= 0);
        atomic_dec(EA(counter));
        mutex_lock(EA(mutex));
        /* A word that no atomic command protects, but the mutex does. */
        static volatile unsigned int line[32] __attribute__((aligned(128)));
        mfc_get(line, EA(plain), 128, 1, 0, 0);
        mfc_write_tag_mask(2);
        mfc_read_tag_status_all();
        line[0]++;
        mfc_put(line, EA(plain), 128, 1, 0, 0);
        mfc_read_tag_status_all();
        mutex_unlock(EA(mutex));
        read_lock(EA(lock));
        read_unlock(EA(lock));
        write_lock(EA(lock));
        write_unlock(EA(lock));
    }
    CHECK(spu_clock_read() > began && spu_clock_stop() == 0 && spu_clock_stop() < 0);
    cached(EA(items), number);
    mutex_lock(EA(mutex));
    while (atomic_read(EA(ready)) == 0)
        cond_wait(EA(cond), EA(mutex));
    mutex_unlock(EA(mutex));
    complete(EA(done));
    void *room = malloc_align(100, 7);
    CHECK(((uintptr_t)room & 127) == 0);
    free_align(room);
    mathematics();
    return failed;
}
#else
#include <altivec.h>
#include <cbe_mfc.h>
#include <ppu_intrinsics.h>

static struct shared shared;
static spe_program_handle_t *program_handle = &work;

struct one {
    spe_context_ptr_t spe;
    pthread_t thread;
    unsigned long number;
    int result;
    spe_stop_info_t info;
};

static void *run_one(void *pointer)
{
    struct one *one = pointer;
    unsigned int entry = SPE_DEFAULT_ENTRY;
    one->result = spe_context_run(one->spe, &entry, 0, &shared, (void *)one->number, &one->info);
    return NULL;
}

static void instructions(void)
{
    unsigned int word = 5;
    unsigned long long wide = 6;
    unsigned char bytes[4] = {1, 2, 3, 4};
    CHECK(__lwarx(&word) == 5 && __stwcx(&word, 7) == 1 && word == 7 && __stwcx(&word, 8) == 0 && word == 7);
    CHECK(__ldarx(&wide) == 6);
    wide = 9;
    CHECK(__stdcx(&wide, 10) == 0 && wide == 9);
    CHECK(__lwbrx(bytes) == 0x01020304 && __cntlzw(1) == 31 && __cntlzd(0) == 64);
    CHECK(__rlwinm(0x12345678, 8, 24, 31) == 0x12 && __rlwimi(0xffffffff, 0, 0, 8, 15) == 0xff00ffff);
    CHECK(__rlwinm(0xf000000f, 0, 28, 3) == 0xf000000f && __rldicl(0x1234ull << 48, 16, 48) == 0x1234);
    CHECK(__rldicr(~0ull, 0, 7) == 0xffull << 56 && __mulhwu(0x80000000u, 4) == 2 && __mulhw(-1, 2) == -1);
    CHECK(__fsel(-1.0, 2.0, 3.0) == 3 && __fmadds(2, 3, 4) == 10 && __fcfid(__fctid(2.5)) == 2 && __fcfid(__fctidz(-1.5)) == -1);
    CHECK(__mftb() <= __mftb());
    __sync(), __lwsync(), __eieio(), __isync();
    unsigned long before, between = __mftb(), after;
    unsigned int low;
    __asm__ volatile("mftb %0" : "=r"(before));
    __asm__ volatile("sync\n\tlwsync\n\teieio\n\tisync" ::: "memory");
    __asm__ volatile("mftb %0" : "=r"(after));
    __asm__ volatile("mftb %0" : "=r"(low));
    CHECK(between <= before && before <= after && low - (unsigned int)after < 79800000u);
}

/* The PPE's vectors. */
static void vectors(void)
{
    static float numbers[8] __attribute__((aligned(16))) = {1, 2, 3, 4, 5, 6, 7, 8};
    vector float a = vec_ld(0, numbers), b = vec_ld(16, numbers), c = vec_madd(a, b, a);
    vector unsigned char pattern = {4, 5, 6, 7, 20, 21, 22, 23, 0, 1, 2, 3, 16, 17, 18, 19};
    vector signed int whole = vec_cts(b, 1);
    CHECK(vec_extract(c, 3) == 36 && vec_all_eq(vec_sub(vec_add(a, b), b), a) && vec_any_gt(c, b));
    c = vec_perm(a, b, pattern);
    CHECK(c[0] == 2 && c[1] == 6 && c[2] == 1 && c[3] == 5);
    c = vec_mergeh(a, b), a = vec_mergel(a, b);
    CHECK(c[0] == 1 && c[1] == 5 && c[3] == 6 && a[0] == 3 && a[1] == 7);
    c = vec_sld(c, b, 4);
    CHECK(c[0] == 5 && c[2] == 6 && c[3] == 5 && whole[3] == 16 && vec_ctf(whole, 1)[3] == 8);
    CHECK(vec_splat(b, 2)[0] == 7 && vec_min(b, c)[3] == 5 && vec_max(b, c)[2] == 7 && vec_abs(vec_sub(a, b))[0] == 2);
    CHECK(vec_sel(b, c, vec_cmpgt(b, c))[3] == 5 && vec_splat_s32(-3)[2] == -3 && vec_sl(whole, vec_splat_u32(2))[0] == 40);
    vec_st(c, 16, numbers);
    CHECK(numbers[4] == 5 && numbers[7] == 5);
}

/* The registers by their addresses, without a call. */
static void registers(void)
{
    spe_context_ptr_t spe = spe_context_create(SPE_MAP_PS | SPE_CFG_SIGNOTIFY1_OR, NULL);
    spe_spu_control_area_t *control = spe_ps_area_get(spe, SPE_CONTROL_AREA);
    spe_sig_notify_1_area_t *signal = spe_ps_area_get(spe, SPE_SIG_NOTIFY_1_AREA);
    spe_sig_notify_2_area_t *other = spe_ps_area_get(spe, SPE_SIG_NOTIFY_2_AREA);
    spe_mfc_command_area_t *mfc = spe_ps_area_get(spe, SPE_MFC_COMMAND_AREA);
    spe_mssync_area_t *mssync = spe_ps_area_get(spe, SPE_MSSYNC_AREA);
    static char from[256] __attribute__((aligned(128))) = "by a register";
    CHECK(_spe_in_mbox_status(control) == 4);
    _spe_in_mbox_write(control, 1);
    ((volatile spe_spu_control_area_t *)control)->SPU_In_Mbox = 2;
    CHECK(_spe_in_mbox_status(control) == 2 && spe_in_mbox_status(spe) == 2 && _spe_out_mbox_status(control) == 0);
    _spe_sig_notify_1_write(signal, 1);
    _spe_sig_notify_1_write(signal, 4);
    _spe_sig_notify_2_write(other, 1);
    _spe_sig_notify_2_write(other, 4);
    /* A simulated Cell shows the PPE no signals. */
    const char *machine = getenv("SEATMAP_SPE");
    if (!machine || strcmp(machine, "host") == 0)
        CHECK(_spe_sig_notify_1_read(signal) == 5 && _spe_sig_notify_2_read(other) == 4);
    _spe_mssync_start(mssync);
    CHECK(_spe_mssync_status(mssync) == 0);
    CHECK(_spe_mfc_command(mfc, 0x400, (unsigned long)from, 256, 3, MFC_GET_CMD) == 0);
    CHECK(_spe_mfc_tag_status(mfc, 1 << 3) == 1 << 3);
    CHECK(strcmp((char *)spe_ls_area_get(spe) + 0x400, from) == 0);
    CHECK(_spe_mfc_command(mfc, 0x400, (unsigned long)from, 24, 3, MFC_GET_CMD) != 0);
    CHECK(spe_context_destroy(spe) == 0);
}

int main(void)
{
    struct one ones[SPES];
    unsigned long me = (unsigned long)&shared;
    for (int i = 0; i < ITEMS; i++)
        shared.items[i] = (float)i;
    cond_init((unsigned long)shared.cond), init_completion((unsigned long)shared.done);
    mutex_init((mutex_ea_t)(unsigned long)shared.mutex);
    CHECK(me >> 32 == 0);
    for (unsigned long i = 0; i < SPES; i++) {
        ones[i].spe = spe_context_create(0, NULL), ones[i].number = i;
        CHECK(spe_program_load(ones[i].spe, program_handle) == 0);
        CHECK(pthread_create(&ones[i].thread, NULL, run_one, &ones[i]) == 0);
    }
    for (int round = 0; round < ROUNDS; round++) {
        atomic_add(2, (unsigned long)shared.counter);
        mutex_lock((unsigned long)shared.mutex);
        shared.plain[0]++;
        mutex_unlock((unsigned long)shared.mutex);
    }
    mutex_lock((unsigned long)shared.mutex);
    atomic_set((unsigned long)shared.ready, 1);
    cond_broadcast((unsigned long)shared.cond);
    mutex_unlock((unsigned long)shared.mutex);
    for (int i = 0; i < SPES; i++)
        wait_for_completion((unsigned long)shared.done);
    for (int i = 0; i < SPES; i++) {
        pthread_join(ones[i].thread, NULL);
        CHECK(ones[i].result == 0 && ones[i].info.result.spe_exit_code == 0 && spe_context_destroy(ones[i].spe) == 0);
    }
    CHECK(shared.counter[0] == 2 * ROUNDS * (SPES + 1) && shared.plain[0] == ROUNDS * (SPES + 1));
    for (int i = 0; i < ITEMS; i++)
        CHECK(shared.items[i] == (i < SPES * 1024 ? (float)i / 2 : (float)i));
    CHECK(!mutex_trylock((unsigned long)shared.mutex) == 0 && !mutex_trylock((unsigned long)shared.mutex));
    CHECK(atomic_dec_if_positive((unsigned long)shared.mutex) == 0 && atomic_dec_if_positive((unsigned long)shared.mutex) == -1);
    mathematics(), instructions(), vectors(), registers();
    return failed;
}
#endif
