/* Threads that share a machine and a pattern, each with errors of its own. */
#include <seatmap_place.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, TURNS = 8 };

static seatmap_machine *machine;
static seatmap_pattern *pattern;

/* Returns NULL where all went as it should. */
static void *work(void *name)
{
    seatmap_options *options = seatmap_options_new();
    seatmap_options_set_kicks(options, 20);
    for (int turn = 0; turn < TURNS; turn++) {
        seatmap_pattern *none = NULL;
        seatmap_answer *answer = NULL;
        if (seatmap_pattern_generate((const char *)name, &none) != SEATMAP_STATUS_BAD_ARGUMENT)
            return name;
        if (strstr(seatmap_last_error(), (const char *)name) == NULL)
            return name;
        if (seatmap_place(machine, pattern, options, &answer) || seatmap_last_error()[0] != '\0')
            return name;
        seatmap_answer_free(answer);
    }
    seatmap_options_free(options);
    return NULL;
}

int main(void)
{
    static char names[THREADS][8] = {"first", "second", "third", "fourth"};
    pthread_t threads[THREADS];
    int failed = seatmap_machine_bundled("ryzen-5950x", &machine) || seatmap_pattern_generate("ring:6", &pattern);
    for (int at = 0; at < THREADS; at++)
        failed |= pthread_create(&threads[at], NULL, work, names[at]);
    for (int at = 0; at < THREADS; at++) {
        void *fault = NULL;
        pthread_join(threads[at], &fault);
        failed |= fault != NULL;
    }
    seatmap_pattern_free(pattern);
    seatmap_machine_free(machine);
    puts(failed ? "wrong" : "right");
    return failed;
}
