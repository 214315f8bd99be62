/* A schedule: the number of tasks, of rounds, and of steps of work in a round; then a line for each task with its
   messages of one round: +3 sends to task 3, -2 receives from task 2. */
#include <stdio.h>
#include <stdlib.h>

#define MOST 64

static int tasks, rounds, work;
static int count[MOST], with[MOST][4 * MOST], sends[MOST][4 * MOST];

static void read_schedule(const char *path) {
    FILE *file = fopen(path, "r");
    char line[8192];
    if (!file || !fgets(line, sizeof line, file) || sscanf(line, "%d %d %d", &tasks, &rounds, &work) != 3) {
        fprintf(stderr, "%s: not a schedule\n", path);
        exit(2);
    }
    for (int task = 0; task < tasks && fgets(line, sizeof line, file); task++) {
        char *at = line, *end;
        for (;;) {
            while (*at == ' ') at++;
            int is_sent = *at == '+';
            if (*at != '+' && *at != '-') break;
            with[task][count[task]] = (int)strtol(at + 1, &end, 10);
            sends[task][count[task]++] = is_sent;
            at = end;
        }
    }
    fclose(file);
}

static void do_work(void) {
    for (volatile int i = 0; i < work; i++) {}
}
