/* What MPI costs between the nodes of a cluster. Seatmap compiles this with the site's mpicc, hands it to every rank,
 * and reads what rank 0 prints: a line of JSON for the library, each pair, each collective, and the end.
 *
 *     probe RANK FILE
 *
 * RANK is the number that the launcher gave. FILE has words: the milliseconds for the trips of one size, the number of
 * ranks that count and these, the number of pairs and these, as places among the ranks that count. Ranks that wait
 * sleep: on a computer with more ranks than CPUs they would disturb those that are measured. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_TRIPS = 1000, FEWEST_TRIPS = 5, TRIP_SIZES = 4, COLLECTIVE_SIZES = 3, PER_TRIP = 6, ONE_MIB = 1 << 20 };

static const int trip_sizes[TRIP_SIZES] = {8, 1 << 10, 64 << 10, ONE_MIB};
static const int collective_sizes[COLLECTIVE_SIZES] = {8, 1 << 10, 64 << 10};
/* No buffer of a collective is larger. */
static const double most_bytes = 64 << 20;

static MPI_Comm all;
static int own, count;
static double limit_s;

static void pause_briefly(void) {
    struct timespec pause = {0, 200000};
    nanosleep(&pause, NULL);
}

static void sleep_until_done(MPI_Request *request) {
    int done = 0;
    for (;;) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done) return;
        pause_briefly();
    }
}

static void meet(void) {
    MPI_Request request;
    MPI_Ibarrier(all, &request);
    sleep_until_done(&request);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of some times, its 95 % interval by order statistics (half the count plus and less its root), the tenth
 * and the ninetieth percentile, in nanoseconds, and the count. */
static void summary(double *seconds, int trips, double *into) {
    qsort(seconds, trips, sizeof *seconds, ascending);
    int half = 0;
    while ((half + 1) * (half + 1) <= trips) half++;
    int low = trips / 2 - half, high = trips / 2 + half;
    int places[5] = {trips / 2, low > 0 ? low : 0, high < trips ? high : trips - 1, trips / 10, trips - 1 - trips / 10};
    for (int at = 0; at < 5; at++)
        into[at] = 1e9 * seconds[places[at]];
    into[5] = trips;
}

static int times_within(double limit, double one) {
    double fitting = one > 0 ? limit / one : MOST_TRIPS;
    return fitting < FEWEST_TRIPS ? FEWEST_TRIPS : fitting > MOST_TRIPS ? MOST_TRIPS : (int)fitting;
}

static double trip(char *buffer, int size, int with, int is_first) {
    double begun = MPI_Wtime();
    if (is_first) {
        MPI_Send(buffer, size, MPI_CHAR, with, 0, all);
        MPI_Recv(buffer, size, MPI_CHAR, with, 0, all, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(buffer, size, MPI_CHAR, with, 0, all, MPI_STATUS_IGNORE);
        MPI_Send(buffer, size, MPI_CHAR, with, 0, all);
    }
    return MPI_Wtime() - begun;
}

static void trips(char *buffer, int size, int with, int is_first, double *into) {
    static double seconds[MOST_TRIPS];
    double shortest = 1e9;
    for (int at = 0; at < FEWEST_TRIPS; at++) {
        double one = trip(buffer, size, with, is_first);
        if (one < shortest) shortest = one;
    }
    int many = times_within(limit_s, shortest);
    if (is_first) MPI_Send(&many, 1, MPI_INT, with, 1, all);
    else MPI_Recv(&many, 1, MPI_INT, with, 1, all, MPI_STATUS_IGNORE);
    for (int at = 0; at < many; at++)
        seconds[at] = trip(buffer, size, with, is_first);
    summary(seconds, many, into);
}

/* The rate of messages of a MiB in Mbit/s, known to the sender. */
static double stream(char *buffer, int with, int is_sender, double trip_ns) {
    int many = times_within(4 * limit_s, trip_ns / 2e9);
    if (is_sender) MPI_Send(&many, 1, MPI_INT, with, 2, all);
    else MPI_Recv(&many, 1, MPI_INT, with, 2, all, MPI_STATUS_IGNORE);
    char taken = 0;
    double begun = MPI_Wtime();
    for (int at = 0; at < many; at++) {
        if (is_sender) MPI_Send(buffer, ONE_MIB, MPI_CHAR, with, 3, all);
        else MPI_Recv(buffer, ONE_MIB, MPI_CHAR, with, 3, all, MPI_STATUS_IGNORE);
    }
    if (is_sender) MPI_Recv(&taken, 1, MPI_CHAR, with, 4, all, MPI_STATUS_IGNORE);
    else MPI_Send(&taken, 1, MPI_CHAR, with, 4, all);
    return 8e-6 * ONE_MIB * many / (MPI_Wtime() - begun);
}

enum { FIGURES = TRIP_SIZES * PER_TRIP + 2 };

/* Measures a pair, of which this is one. The first of it has the figures. */
static void measure(char *buffer, int with, int is_first, double *figures) {
    for (int at = 0; at < TRIP_SIZES; at++)
        trips(buffer, trip_sizes[at], with, is_first, figures + at * PER_TRIP);
    double largest_ns = figures[(TRIP_SIZES - 1) * PER_TRIP];
    double there = stream(buffer, with, is_first, largest_ns), back = stream(buffer, with, !is_first, largest_ns);
    /* The sender back knows that rate; the other's clock ran over the same messages. */
    figures[TRIP_SIZES * PER_TRIP] = there;
    figures[TRIP_SIZES * PER_TRIP + 1] = back;
}

static void print_pair(int a, int b, const double *figures) {
    printf("{\"nodes\":[%d,%d],\"trips\":[", a, b);
    for (int at = 0; at < TRIP_SIZES; at++) {
        const double *one = figures + at * PER_TRIP;
        printf("%s{\"size_bytes\":%d,\"median_ns\":%.1f,\"ci95_ns\":[%.1f,%.1f],\"p10_ns\":%.1f,\"p90_ns\":%.1f,\"count\":%.0f}",
               at ? "," : "", trip_sizes[at], one[0], one[1], one[2], one[3], one[4], one[5]);
    }
    printf("],\"rate_mbps\":[%.3f,%.3f]}\n", figures[TRIP_SIZES * PER_TRIP], figures[TRIP_SIZES * PER_TRIP + 1]);
    fflush(stdout);
}

static void pairs(FILE *plan, char *buffer) {
    int many = 0, a, b;
    if (fscanf(plan, "%d", &many) != 1) return;
    while (many-- > 0 && fscanf(plan, "%d %d", &a, &b) == 2) {
        double figures[FIGURES];
        meet();
        if (own == a || own == b) measure(buffer, own == a ? b : a, own == a, figures);
        if (own == a && a != 0) MPI_Send(figures, FIGURES, MPI_DOUBLE, 0, 5, all);
        if (own == 0 && a != 0) {
            MPI_Request request;
            MPI_Irecv(figures, FIGURES, MPI_DOUBLE, a, 5, all, &request);
            sleep_until_done(&request);
        }
        if (own == 0) print_pair(a, b, figures);
    }
}

static void operate(int operation, int size, char *out, char *in) {
    switch (operation) {
    case 0: MPI_Barrier(all); break;
    case 1: MPI_Bcast(out, size, MPI_CHAR, 0, all); break;
    case 2: MPI_Allreduce(out, in, size / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, all); break;
    default: MPI_Alltoall(out, size, MPI_CHAR, in, size, MPI_CHAR, all);
    }
}

/* The time of the slowest rank. */
static double once(int operation, int size, char *out, char *in) {
    MPI_Barrier(all);
    double begun = MPI_Wtime();
    operate(operation, size, out, in);
    double taken = MPI_Wtime() - begun, slowest = 0;
    MPI_Allreduce(&taken, &slowest, 1, MPI_DOUBLE, MPI_MAX, all);
    return slowest;
}

static void collective(int operation, int size) {
    static const char *names[] = {"barrier", "broadcast", "allreduce", "alltoall"};
    static double seconds[MOST_TRIPS];
    size_t bytes = (size_t)size * (operation == 3 ? count : 1) + 8;
    char *out = calloc(1, bytes), *in = calloc(1, bytes);
    int is_possible = out && in && bytes <= most_bytes, possible;
    MPI_Allreduce(&is_possible, &possible, 1, MPI_INT, MPI_MIN, all);
    if (possible) {
        double shortest = 1e9, figures[PER_TRIP];
        for (int at = 0; at < FEWEST_TRIPS; at++) {
            double one = once(operation, size, out, in);
            if (one < shortest) shortest = one;
        }
        int many = times_within(4 * limit_s, shortest);
        MPI_Bcast(&many, 1, MPI_INT, 0, all);
        for (int at = 0; at < many; at++)
            seconds[at] = once(operation, size, out, in);
        summary(seconds, many, figures);
        if (own == 0)
            printf("{\"collective\":\"%s\",\"size_bytes\":%d,\"median_ns\":%.1f,\"p10_ns\":%.1f,\"p90_ns\":%.1f,\"count\":%.0f}\n",
                   names[operation], size, figures[0], figures[3], figures[4], figures[5]);
    }
    free(out);
    free(in);
}

static void print_library(void) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    printf("{\"library\":\"");
    for (int at = 0; at < length && text[at] != '\n' && text[at] != ','; at++)
        if (text[at] >= ' ' && text[at] != '"' && text[at] != '\\') putchar(text[at] == '\t' ? ' ' : text[at]);
    printf("\"}\n");
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, launched = argc > 1 ? atoi(argv[1]) : -1, ms = 0, next;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    FILE *plan = argc > 2 ? fopen(argv[2], "r") : NULL;
    int place = MPI_UNDEFINED, largest = 0;
    if (plan && fscanf(plan, "%d %d", &ms, &count) == 2)
        for (int at = 0; at < count && fscanf(plan, "%d", &next) == 1; at++) {
            if (next == rank) place = at;
            if (next > largest) largest = next;
        }
    if (rank != launched || largest >= size) {
        /* Each rank is a job of its own: this MPI does not understand the launcher. */
        if (launched == 0) printf("{\"error\":\"rank %d of the launcher is rank %d of %d in MPI\"}\n", launched, rank, size);
        MPI_Finalize();
        return 3;
    }
    limit_s = ms / 1e3;
    MPI_Comm_split(MPI_COMM_WORLD, place == MPI_UNDEFINED ? MPI_UNDEFINED : 0, place == MPI_UNDEFINED ? 0 : place, &all);
    if (place != MPI_UNDEFINED) {
        own = place;
        char *buffer = calloc(1, ONE_MIB);
        if (own == 0) print_library();
        pairs(plan, buffer);
        collective(0, 0);
        for (int operation = 1; operation < 4; operation++)
            for (int at = 0; at < COLLECTIVE_SIZES; at++)
                collective(operation, collective_sizes[at]);
        if (own == 0) printf("{\"end\":true}\n");
        free(buffer);
    }
    /* Ranks that do not count wait asleep for the others. */
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    sleep_until_done(&request);
    MPI_Finalize();
    return 0;
}
