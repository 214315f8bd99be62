/* plan MACHINE PATTERN: prints the plan for the machine and the pattern in two files, as seatmap run reads it. */
#include <seatmap_place.h>
#include <stdio.h>

static int plan(const seatmap_machine *machine, const seatmap_pattern *pattern, seatmap_answer **answer)
{
    seatmap_options *options = seatmap_options_new();
    int failed = seatmap_options_set_kicks(options, 50)
        || seatmap_options_set_threads(options, 2)
        || seatmap_place(machine, pattern, options, answer);
    seatmap_options_free(options);
    return failed;
}

int main(int count, char **words)
{
    if (count != 3) {
        fprintf(stderr, "usage: plan MACHINE PATTERN\n");
        return 2;
    }
    seatmap_machine *machine = NULL;
    seatmap_pattern *pattern = NULL;
    seatmap_answer *answer = NULL;
    int failed = seatmap_machine_read(words[1], &machine)
        || seatmap_pattern_read(words[2], &pattern)
        || plan(machine, pattern, &answer);
    if (failed)
        fprintf(stderr, "plan: %s\n", seatmap_last_error());
    else
        puts(seatmap_answer_plan_json(answer));
    seatmap_answer_free(answer);
    seatmap_pattern_free(pattern);
    seatmap_machine_free(machine);
    return failed;
}
