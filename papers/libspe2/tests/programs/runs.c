/* Runs: stop codes, resuming, two runs, calls that the PPE answers, halts and bad transfers. */
#include "check.h"

enum { EXIT_5, STOP_AND_GO, CALL, HALT, BAD_SIZE, BAD_ADDRESS, BAD_CHANNEL, HEAP, WAIT };

#ifdef __SPU__
static char place[64] __attribute__((aligned(128)));
static int runs;

int main(unsigned long long spe, unsigned long long argp, unsigned long long envp)
{
    static int data[2] __attribute__((aligned(16)));
    runs++;
    (void)spe;
    switch (argp) {
    case EXIT_5:
        exit(5 + (int)envp);
    case STOP_AND_GO:
        spu_stop(0x123);
        spu_stopd(spu_splats(1u), spu_splats(2u), spu_splats(3u));
        return runs;
    case CALL:
        data[0] = 20;
        __send_to_ppe(0x2110, 7, data);
        return data[1];
    case HALT:
        spu_halt();
        return 0;
    case BAD_SIZE:
        mfc_get(place, 4096, 24, 3, 0, 0);
        return 0;
    case BAD_ADDRESS:
        mfc_put(place, 0x40, 64, 4, 0, 0);
        return 0;
    case BAD_CHANNEL:
        spu_writech(99, 1);
        return 0;
    case HEAP: {
        char *large = malloc(200 << 10), *two = malloc(64 << 10), *three = malloc(64 << 10);
        CHECK(large == NULL || two == NULL);
        free(two);
        free(three);
        free(large);
        void *aligned = memalign(4096, 100);
        CHECK((unsigned long)aligned % 4096 == 0 && (unsigned int)(unsigned long)aligned < 256 << 10);
        free(aligned);
        for (int i = 0; i < 10000; i++) {
            char *again = malloc(100 << 10);
            CHECK(again != NULL);
            free(again);
        }
        return failed;
    }
    default:
        return (int)spu_read_in_mbox();
    }
}
#else
static int answer(void *store, unsigned int at)
{
    unsigned int word = *(unsigned int *)((char *)store + at);
    int *data = (int *)((char *)store + (word & 0xffffff));
    CHECK(word >> 24 == 7 && data[0] == 20);
    data[1] = data[0] + 1;
    return 0;
}

static int refuse(void *store, unsigned int at)
{
    (void)store, (void)at;
    return 1;
}

static int run(spe_context_ptr_t spe, unsigned int *entry, unsigned int flags, long what, spe_stop_info_t *info)
{
    memset(info, 0, sizeof *info);
    return spe_context_run(spe, entry, flags, (void *)what, NULL, info);
}

static void stops(spe_context_ptr_t spe)
{
    spe_stop_info_t info;
    unsigned int entry = SPE_DEFAULT_ENTRY;
    CHECK(run(spe, &entry, 0, STOP_AND_GO, &info) == 0x123 && entry != SPE_DEFAULT_ENTRY);
    CHECK(info.stop_reason == SPE_STOP_AND_SIGNAL && info.result.spe_signal_code == 0x123);
    CHECK(info.spu_status == (0x123 << 16 | SPE_SPU_STOPPED_BY_STOP));
    CHECK(run(spe, &entry, 0, 0, &info) == 0x3fff);
    CHECK(run(spe, &entry, 0, 0, &info) == 0 && info.stop_reason == SPE_EXIT && info.result.spe_exit_code == 1);
    entry = SPE_DEFAULT_ENTRY;
    CHECK(run(spe, &entry, 0, STOP_AND_GO, &info) == 0x123);
    /* A run from the start gives up what was stopped; the program's variables stay. */
    entry = SPE_DEFAULT_ENTRY;
    CHECK(run(spe, &entry, 0, STOP_AND_GO, &info) == 0x123 && run(spe, &entry, 0, 0, &info) == 0x3fff);
    CHECK(run(spe, &entry, 0, 0, &info) == 0 && info.result.spe_exit_code == 3);
    CHECK(spe_program_load(spe, &work) == 0);
    entry = SPE_DEFAULT_ENTRY;
    CHECK(run(spe, &entry, 0, STOP_AND_GO, &info) == 0x123 && run(spe, &entry, 0, 0, &info) == 0x3fff);
    CHECK(run(spe, &entry, 0, 0, &info) == 0 && info.result.spe_exit_code == 1);
}

static void faults(spe_context_ptr_t spe)
{
    struct {
        int what, reason, code, number;
    } faults[] = {{HALT, SPE_RUNTIME_ERROR, SPE_SPU_HALT, EFAULT},
                  {BAD_SIZE, SPE_RUNTIME_EXCEPTION, SPE_DMA_ALIGNMENT, EIO},
                  {BAD_ADDRESS, SPE_RUNTIME_EXCEPTION, SPE_DMA_SEGMENTATION, EIO},
                  {BAD_CHANNEL, SPE_RUNTIME_ERROR, SPE_SPU_INVALID_CHANNEL, EFAULT}};
    for (unsigned int i = 0; i < sizeof faults / sizeof *faults; i++) {
        spe_stop_info_t info, again;
        unsigned int entry = SPE_DEFAULT_ENTRY;
        FAILS(run(spe, &entry, 0, faults[i].what, &info), faults[i].number);
        CHECK((int)info.stop_reason == faults[i].reason && info.result.spe_runtime_error == faults[i].code);
        CHECK(spe_stop_info_read(spe, &again) == 0 && memcmp(&info, &again, sizeof info) == 0);
        FAILS(spe_stop_info_read(spe, &again), EAGAIN);
    }
}

static void calls(spe_context_ptr_t spe)
{
    spe_stop_info_t info;
    unsigned int entry = SPE_DEFAULT_ENTRY;
    FAILS(spe_callback_handler_register(NULL, 16, SPE_CALLBACK_NEW), EINVAL);
    FAILS(spe_callback_handler_register(answer, 256, SPE_CALLBACK_NEW), EINVAL);
    FAILS(spe_callback_handler_register(answer, 16, 3), EINVAL);
    FAILS(spe_callback_handler_register(answer, 1, SPE_CALLBACK_NEW), EACCES);
    FAILS(spe_callback_handler_register(answer, 16, SPE_CALLBACK_UPDATE), ESRCH);
    IS_NULL(spe_callback_handler_query(16), ESRCH);
    IS_NULL(spe_callback_handler_query(256), EINVAL);
    CHECK(run(spe, &entry, SPE_NO_CALLBACKS, CALL, &info) == 0x2110);
    entry = SPE_DEFAULT_ENTRY;
    FAILS(run(spe, &entry, 0, CALL, &info), EFAULT);
    CHECK(info.stop_reason == SPE_CALLBACK_ERROR);
    CHECK(spe_callback_handler_register(refuse, 16, SPE_CALLBACK_NEW) == 0);
    entry = SPE_DEFAULT_ENTRY;
    FAILS(run(spe, &entry, 0, CALL, &info), EFAULT);
    FAILS(spe_callback_handler_register(answer, 16, SPE_CALLBACK_NEW), EACCES);
    CHECK(spe_callback_handler_register(answer, 16, SPE_CALLBACK_UPDATE) == 0);
    CHECK(spe_callback_handler_query(16) == (void *)answer);
    entry = SPE_DEFAULT_ENTRY;
    CHECK(run(spe, &entry, 0, CALL, &info) == 0 && info.result.spe_exit_code == 21);
    CHECK(spe_callback_handler_deregister(16) == 0);
    FAILS(spe_callback_handler_deregister(16), ESRCH);
    FAILS(spe_callback_handler_deregister(1), EACCES);
}

int main(int argc, char **argv)
{
    spe_stop_info_t info;
    unsigned int entry = SPE_DEFAULT_ENTRY, five = 5;
    spe_context_ptr_t spe = spe_context_create(SPE_EVENTS_ENABLE, NULL), plain = loaded(0);
    FAILS(run(NULL, &entry, 0, 0, &info), ESRCH);
    FAILS(run(spe, &entry, 0, 0, &info), EINVAL);
    FAILS(run(spe, NULL, 0, 0, &info), EINVAL);
    FAILS(spe_program_load(spe, NULL), EINVAL);
    FAILS(spe_program_load(NULL, &work), ESRCH);
    CHECK(spe_program_load(spe, &work) == 0);
    CHECK(run(spe, &entry, 4, EXIT_5, &info) == 0 && spe_stop_info_read(spe, &info) == 0);
    entry = SPE_DEFAULT_ENTRY;
    CHECK(run(spe, &entry, 0, EXIT_5, &info) == 0 && info.result.spe_exit_code == 5);
    unsigned long long registers[6] = {0, 0, EXIT_5, 0, 3, 0};
    entry = SPE_DEFAULT_ENTRY;
    CHECK(spe_context_run(spe, &entry, SPE_RUN_USER_REGS, registers, NULL, &info) == 0);
    CHECK(info.result.spe_exit_code == 8);
    CHECK(spe_stop_info_read(spe, &info) == 0 && spe_stop_info_read(spe, &info) == 0);
    FAILS(spe_stop_info_read(plain, &info), ENOTSUP);
    entry = SPE_DEFAULT_ENTRY;
    CHECK(run(spe, &entry, 0, HEAP, &info) == 0 && info.result.spe_exit_code == 0);
    CHECK(spe_stop_info_read(spe, &info) == 0);
    faults(spe);
    stops(plain);
    calls(plain);
    struct run waiting = {plain, (void *)WAIT};
    start(&waiting);
    while (spe_in_mbox_status(plain) == 4)
        if (spe_in_mbox_write(plain, &five, 1, SPE_MBOX_ANY_NONBLOCKING) != 1)
            CHECK(0);
    CHECK(end(&waiting) == 5);
    IS_NULL(spe_image_open("/no/such/program"), ENOENT);
    IS_NULL(spe_image_open(argv[0]), ENOEXEC);
    IS_NULL(spe_image_open(NULL), EINVAL);
    FAILS(spe_image_close(&work), EINVAL);
    spe_program_handle_t *image = spe_image_open(argc > 1 ? argv[1] : "");
    CHECK(image != NULL && spe_program_load(spe, image) == 0 && spe_image_close(image) == 0);
    entry = SPE_DEFAULT_ENTRY;
    CHECK(run(spe, &entry, 0, EXIT_5, &info) == 0 && info.result.spe_exit_code == 5);
    CHECK(spe_context_destroy(spe) == 0);
    FAILS(spe_context_destroy(spe), ESRCH);
    FAILS(spe_context_destroy(NULL), ESRCH);
    IS_NULL(spe_context_create(1, NULL), EINVAL);
    IS_NULL(spe_context_create_affinity(0, NULL, NULL), EINVAL);
    spe_gang_context_ptr_t gang = spe_gang_context_create(0);
    spe_context_ptr_t first = spe_context_create_affinity(0, NULL, gang);
    spe_context_ptr_t second = spe_context_create_affinity(0, first, gang);
    CHECK(first && second && spe_context_destroy(first) == 0 && spe_context_destroy(second) == 0);
    CHECK(spe_gang_context_destroy(gang) == 0);
    FAILS(spe_gang_context_destroy(gang), ESRCH);
    CHECK(spe_cpu_info_get(SPE_COUNT_PHYSICAL_CPU_NODES, -1) >= 1 && spe_cpu_info_get(SPE_COUNT_USABLE_SPES, 0) > 0);
    FAILS(spe_cpu_info_get(SPE_COUNT_USABLE_SPES, 7), EINVAL);
    FAILS(spe_cpu_info_get(9, -1), EINVAL);
    return failed;
}
#endif
