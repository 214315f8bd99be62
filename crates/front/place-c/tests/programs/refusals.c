/* What a caller can get wrong, one line each: the status, and what the library says. */
#include <seatmap_place.h>
#include <math.h>
#include <stdio.h>

static void told(const char *what, seatmap_status status)
{
    printf("%s: %d %s\n", what, (int)status, seatmap_last_error());
}

/* A line in another part's words, which are tested there. */
static void passed_on(const char *what, seatmap_status status)
{
    printf("%s: %d %s\n", what, (int)status, seatmap_last_error()[0] == '\0' ? "without a word" : "and says why");
}

static void machines(void)
{
    seatmap_machine *machine = NULL;
    double distance_ns[4] = {0, 80, 80, 0};
    uint32_t twice[2] = {3, 3};
    told("no name", seatmap_machine_bundled(NULL, &machine));
    passed_on("unknown name", seatmap_machine_bundled("gravitn3", &machine));
    told("name of bytes", seatmap_machine_bundled("\xff", &machine));
    told("nowhere to", seatmap_machine_bundled("graviton3", NULL));
    told("no path", seatmap_machine_read(NULL, &machine));
    told("no file", seatmap_machine_read("absent.json", &machine));
    told("folder", seatmap_machine_read(".", &machine));
    passed_on("bad file", seatmap_machine_read("bad.json", &machine));
    told("no CPUs", seatmap_machine_from_distances(0, NULL, distance_ns, &machine));
    told("no matrix", seatmap_machine_from_distances(2, NULL, NULL, &machine));
    told("minus one CPU", seatmap_machine_from_distances((size_t)-1, NULL, distance_ns, &machine));
    told("same CPU", seatmap_machine_from_distances(2, twice, distance_ns, &machine));
    distance_ns[1] = -1;
    told("negative", seatmap_machine_from_distances(2, NULL, distance_ns, &machine));
    distance_ns[1] = INFINITY;
    told("infinite", seatmap_machine_from_distances(2, NULL, distance_ns, &machine));
    distance_ns[1] = NAN;
    told("half known", seatmap_machine_from_distances(2, NULL, distance_ns, &machine));
    distance_ns[1] = 90;
    told("one way", seatmap_machine_from_distances(2, NULL, distance_ns, &machine));
    printf("machine %s\n", machine == NULL ? "still NULL" : "made");
}

static void patterns(void)
{
    seatmap_pattern *pattern = NULL;
    seatmap_edge edges[2] = {{0, 1, 1}, {0, 2, 1}};
    told("no text", seatmap_pattern_generate(NULL, &pattern));
    passed_on("no generator", seatmap_pattern_generate("rnig:8", &pattern));
    passed_on("bad numbers", seatmap_pattern_generate("stencil2d:8", &pattern));
    passed_on("bad pattern", seatmap_pattern_read("bad.json", &pattern));
    passed_on("no tasks", seatmap_pattern_from_edges(0, NULL, 0, &pattern));
    told("no edges", seatmap_pattern_from_edges(2, NULL, 1, &pattern));
    told("minus one edge", seatmap_pattern_from_edges(2, edges, (size_t)-1, &pattern));
    passed_on("no such task", seatmap_pattern_from_edges(2, edges, 2, &pattern));
    edges[1].to = 1;
    passed_on("same edge", seatmap_pattern_from_edges(2, edges, 2, &pattern));
    edges[1].to = 0;
    passed_on("to itself", seatmap_pattern_from_edges(2, edges, 2, &pattern));
    edges[0].bytes = NAN;
    passed_on("no amount", seatmap_pattern_from_edges(2, edges, 1, &pattern));
    printf("pattern %s\n", pattern == NULL ? "still NULL" : "made");
}

static void options(seatmap_options *options)
{
    uint32_t cpus[2] = {4, 4};
    told("no options", seatmap_options_set_seed(NULL, 1));
    told("objective", seatmap_options_set_objective(options, 7));
    told("CPUs", seatmap_options_set_cpus(options, cpus, 0));
    told("NULL CPUs", seatmap_options_set_cpus(options, NULL, 2));
    told("CPU twice", seatmap_options_set_cpus(options, cpus, 2));
    told("seconds", seatmap_options_set_seconds(options, -1));
    told("no number", seatmap_options_set_seconds(options, NAN));
    told("threads", seatmap_options_set_threads(options, 0));
    told("good", seatmap_options_set_kicks(options, 0));
}

static void answers(seatmap_options *options)
{
    double distance_ns[4] = {0, NAN, NAN, 0};
    seatmap_machine *machine = NULL;
    seatmap_pattern *pattern = NULL;
    seatmap_answer *answer = NULL;
    told("machine", seatmap_machine_from_distances(2, NULL, distance_ns, &machine));
    told("pattern", seatmap_pattern_from_edges(2, NULL, 0, &pattern));
    told("no machine", seatmap_place(NULL, pattern, options, &answer));
    told("no pattern", seatmap_place(machine, NULL, options, &answer));
    told("no answer", seatmap_place(machine, pattern, options, NULL));
    passed_on("unknown distance", seatmap_place(machine, pattern, options, &answer));
    distance_ns[1] = distance_ns[2] = 80;
    seatmap_machine_free(machine);
    told("machine", seatmap_machine_from_distances(2, NULL, distance_ns, &machine));
    told("fix", seatmap_options_fix(options, 9, 0));
    passed_on("no task", seatmap_place(machine, pattern, options, &answer));
    told("cores", seatmap_options_set_avoid_smt(options, true));
    passed_on("unknown cores", seatmap_place(machine, pattern, options, &answer));
    printf("answer %s\n", answer == NULL ? "still NULL" : "made");
    seatmap_pattern_free(pattern);
    seatmap_machine_free(machine);
}

static void channels(void)
{
    double distance_ns[4] = {0, 80, 80, 0};
    const seatmap_channel one = {0, 1};
    uint64_t memory[16] = {0};
    /* One word beyond the line that begins in it. */
    uint64_t *inside = memory + 1 + (64 - (uintptr_t)memory % 64) % 64 / 8;
    seatmap_machine *machine = NULL;
    seatmap_seats *seats = NULL;
    told("machine", seatmap_machine_from_distances(2, NULL, distance_ns, &machine));
    told("no channels", seatmap_channels_seats(machine, NULL, 1, 0, &seats));
    told("no memory", seatmap_channels_seats_over(machine, &one, 1, 0, NULL, 64, &seats));
    told("inside a line", seatmap_channels_seats_over(machine, &one, 1, 0, inside, 8, &seats));
    told("no seats", seatmap_seats_side(seats, 0, 0, NULL));
    printf("seats %s\n", seats == NULL ? "still NULL" : "made");
    seatmap_machine_free(machine);
}

/* NULL is an answer everywhere. */
static void nothing(void)
{
    seatmap_machine_free(NULL);
    seatmap_pattern_free(NULL);
    seatmap_options_free(NULL);
    seatmap_answer_free(NULL);
    seatmap_seats_free(NULL);
    printf("%zu %zu %zu %d\n", seatmap_machine_cpus(NULL), seatmap_pattern_tasks(NULL), seatmap_answer_tasks(NULL),
           (int)seatmap_answer_optimal(NULL));
    printf("%d %d %d\n", isnan(seatmap_answer_cost(NULL)) != 0, isnan(seatmap_answer_lower_bound(NULL)) != 0,
           isnan(seatmap_answer_baseline(NULL, SEATMAP_BASELINE_OS)) != 0);
    printf("%d %d %d\n", seatmap_answer_placement(NULL) == NULL, seatmap_answer_method(NULL) == NULL,
           seatmap_answer_plan_json(NULL) == NULL);
}

int main(void)
{
    seatmap_options *made = seatmap_options_new();
    machines();
    patterns();
    options(made);
    answers(made);
    channels();
    nothing();
    seatmap_options_free(made);
    return 0;
}
