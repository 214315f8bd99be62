/* Contexts, gangs and processors: their calls, errors and limits. */
#include "check.h"

#ifdef __SPU__
static int times;

int main(void)
{
    unsigned int more;
    while ((more = spu_read_in_mbox()) != 0)
        times += more;
    return times;
}
#else
/* More contexts than namespaces that a dynamic linker has; on a simulated Cell no more than it has SPEs. */
static int many(void)
{
    const char *machine = getenv("SEATMAP_SPE");
    int spes = spe_cpu_info_get(SPE_COUNT_USABLE_SPES, -1);
    return machine != NULL && strncmp(machine, "cell", 4) == 0 ? spes : 20;
}

static void each_has_its_own_variables(void)
{
    struct run runs[20] = {{0}};
    int contexts = many();
    for (int i = 0; i < contexts; i++)
        runs[i].spe = loaded(0), start(&runs[i]);
    for (int i = 0; i < contexts; i++) {
        unsigned int words[3] = {1, 1 + (unsigned int)i, 0};
        CHECK(spe_in_mbox_write(runs[i].spe, words, 3, SPE_MBOX_ALL_BLOCKING) == 3);
    }
    for (int i = 0; i < contexts; i++)
        CHECK(end(&runs[i]) == 2 + i);
}

static void flags(void)
{
    unsigned int known[] = {0, SPE_CFG_SIGNOTIFY1_OR, SPE_CFG_SIGNOTIFY2_OR, SPE_MAP_PS, SPE_EVENTS_ENABLE,
                            SPE_NOSCHED};
    for (unsigned int i = 0; i < sizeof known / sizeof *known; i++) {
        spe_context_ptr_t spe = spe_context_create(known[i], NULL);
        CHECK(spe != NULL && spe_context_destroy(spe) == 0);
    }
    IS_NULL(spe_context_create(1, NULL), EINVAL);
    IS_NULL(spe_context_create(1u << 31 | SPE_MAP_PS, NULL), EINVAL);
    IS_NULL(spe_context_create(SPE_ISOLATE, NULL), ENOTSUP);
}

static void gangs(void)
{
    spe_gang_context_ptr_t gang = spe_gang_context_create(0), gone = spe_gang_context_create(0);
    CHECK(gang != NULL && gone != NULL && spe_gang_context_destroy(gone) == 0);
    IS_NULL(spe_gang_context_create(1), EINVAL);
    FAILS(spe_gang_context_destroy(gone), ESRCH);
    FAILS(spe_gang_context_destroy(NULL), ESRCH);
    spe_context_ptr_t plain = spe_context_create(0, gang);
    spe_context_ptr_t first = spe_context_create_affinity(0, NULL, gang);
    spe_context_ptr_t second = spe_context_create_affinity(SPE_MAP_PS, first, gang);
    spe_context_ptr_t third = spe_context_create_affinity(0, second, gang);
    CHECK(plain != NULL && first != NULL && second != NULL && third != NULL);
    IS_NULL(spe_context_create(0, gone), ESRCH);
    IS_NULL(spe_context_create_affinity(0, first, NULL), EINVAL);
    IS_NULL(spe_context_create_affinity(0, first, gone), EINVAL);
    IS_NULL(spe_context_create_affinity(1, first, gang), EINVAL);
    /* One context of a gang is near the memory. */
    spe_context_ptr_t near = spe_context_create_affinity(SPE_AFFINITY_MEMORY, third, gang);
    CHECK(near != NULL);
    IS_NULL(spe_context_create_affinity(SPE_AFFINITY_MEMORY, NULL, gang), EEXIST);
    IS_NULL(spe_context_create(SPE_AFFINITY_MEMORY, gang), EEXIST);
    IS_NULL(spe_context_create(SPE_AFFINITY_MEMORY, NULL), EINVAL);
    CHECK(spe_context_destroy(near) == 0);
    CHECK(spe_context_destroy(third) == 0);
    IS_NULL(spe_context_create_affinity(0, third, gang), ESRCH);
    CHECK(spe_context_destroy(first) == 0 && spe_context_destroy(second) == 0 && spe_context_destroy(plain) == 0);
    CHECK(spe_gang_context_destroy(gang) == 0);
}

static void destruction(void)
{
    struct run run = {loaded(0)};
    unsigned int one = 1, zero = 0;
    start(&run);
    CHECK(spe_in_mbox_write(run.spe, &one, 1, SPE_MBOX_ALL_BLOCKING) == 1);
    /* The program took the message, so it runs, and waits for the next one. */
    while (spe_in_mbox_status(run.spe) != 4)
        ;
    FAILS(spe_context_destroy(run.spe), EAGAIN);
    CHECK(spe_in_mbox_write(run.spe, &zero, 1, SPE_MBOX_ALL_BLOCKING) == 1 && end(&run) == 1);
    FAILS(spe_context_destroy(run.spe), ESRCH);
    FAILS(spe_context_destroy(NULL), ESRCH);
    FAILS(spe_ls_size_get(run.spe), ESRCH);
}

static void processors(void)
{
    int nodes = spe_cpu_info_get(SPE_COUNT_PHYSICAL_CPU_NODES, -1), all = 0;
    CHECK(nodes >= 1);
    for (int node = 0; node < nodes; node++) {
        FAILS(spe_cpu_info_get(SPE_COUNT_PHYSICAL_CPU_NODES, node), EINVAL);
        CHECK(spe_cpu_info_get(SPE_COUNT_USABLE_SPES, node) <= spe_cpu_info_get(SPE_COUNT_PHYSICAL_SPES, node));
        all += spe_cpu_info_get(SPE_COUNT_PHYSICAL_SPES, node);
    }
    CHECK(all >= 1 && all == spe_cpu_info_get(SPE_COUNT_PHYSICAL_SPES, -1));
    FAILS(spe_cpu_info_get(SPE_COUNT_PHYSICAL_SPES, nodes), EINVAL);
    FAILS(spe_cpu_info_get(SPE_COUNT_PHYSICAL_SPES, -2), EINVAL);
    FAILS(spe_cpu_info_get(0, -1), EINVAL);
    FAILS(spe_cpu_info_get(4, -1), EINVAL);
}

int main(void)
{
    each_has_its_own_variables();
    flags();
    gangs();
    destruction();
    processors();
    return failed;
}
#endif
