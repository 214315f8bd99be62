/* Seats the tasks of a stencil on a machine that is not here. */
#include <seatmap_place.h>
#include <stdio.h>

int main(void)
{
    seatmap_machine *machine = NULL;
    seatmap_pattern *pattern = NULL;
    seatmap_answer *answer = NULL;
    int failed = seatmap_machine_bundled("xeon-e5-2680-2s", &machine)
        || seatmap_pattern_generate("stencil2d:4x4", &pattern)
        || seatmap_place(machine, pattern, NULL, &answer);
    if (failed)
        fprintf(stderr, "%s\n", seatmap_last_error());
    else
        printf("cost %.0f, at least %.0f, unplaced %.0f\n", seatmap_answer_cost(answer),
               seatmap_answer_lower_bound(answer), seatmap_answer_baseline(answer, SEATMAP_BASELINE_OS));
    for (size_t task = 0; task < seatmap_answer_tasks(answer); task++)
        printf("task %zu on CPU %u\n", task, (unsigned)seatmap_answer_placement(answer)[task]);
    seatmap_answer_free(answer);
    seatmap_pattern_free(pattern);
    seatmap_machine_free(machine);
    return failed;
}
