/* A machine and a pattern that the program knows itself, placed the same way on every run. */
#include <seatmap_place.h>
#include <stdio.h>

/* Two pairs of CPUs far from each other: 8 and 10, 9 and 11. */
static const uint32_t cpus[4] = {8, 9, 10, 11};
static const double distance_ns[16] = {
    0,   240, 60,  240,
    240, 0,   240, 60,
    60,  240, 0,   240,
    240, 60,  240, 0,
};

/* A pipeline of four stages whose ends hand over most. */
static const seatmap_edge edges[3] = {{0, 1, 4096}, {1, 2, 64}, {2, 3, 4096}};

/* Zero where all is well: every call is made until one fails. */
static int place(const seatmap_machine *machine, const seatmap_pattern *pattern, seatmap_answer **answer)
{
    seatmap_options *options = seatmap_options_new();
    int failed = seatmap_options_set_kicks(options, 100)
        || seatmap_options_set_seed(options, 7)
        || seatmap_options_fix(options, 0, 11)
        || seatmap_place(machine, pattern, options, answer);
    seatmap_options_free(options);
    return failed;
}

static void print(const seatmap_answer *answer)
{
    const uint32_t *cpu_of = seatmap_answer_placement(answer);
    for (size_t task = 0; task < seatmap_answer_tasks(answer); task++)
        printf("task %zu on CPU %u\n", task, (unsigned)cpu_of[task]);
    printf("cost %.0f%s, at least %.0f, unplaced %.0f\n", seatmap_answer_cost(answer),
           seatmap_answer_optimal(answer) ? " (optimal)" : "", seatmap_answer_lower_bound(answer),
           seatmap_answer_baseline(answer, SEATMAP_BASELINE_OS));
}

int main(void)
{
    seatmap_machine *machine = NULL;
    seatmap_pattern *pattern = NULL;
    seatmap_answer *answer = NULL;
    int failed = seatmap_machine_from_distances(4, cpus, distance_ns, &machine)
        || seatmap_pattern_from_edges(4, edges, 3, &pattern)
        || place(machine, pattern, &answer);
    if (failed)
        fprintf(stderr, "%s\n", seatmap_last_error());
    else
        print(answer);
    seatmap_answer_free(answer);
    seatmap_pattern_free(pattern);
    seatmap_machine_free(machine);
    return failed;
}
