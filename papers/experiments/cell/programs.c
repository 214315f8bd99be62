/* Times whole programs: programs SIZE SPES TIMES RUNS. A run loads the program on every SPE, makes a thread for each,
 * and joins them. Each line has "run" and nanoseconds; the last ones the kernel's account of all runs, and how many
 * results are wrong. */
#include "timed.h"
#include <math.h>
#include <libmisc.h>
#ifdef MATRIX
#include "matrix.h"
#else
#include "black_scholes.h"
#endif

extern spe_program_handle_t work;

static struct worker workers[MOST_SPES];
static struct order orders[MOST_SPES];

#ifdef MATRIX
static float *a, *b, *c;
static unsigned int blocks;

static size_t place(unsigned int row, unsigned int column)
{
    return ((size_t)(row / BLOCK) * blocks + column / BLOCK) * BLOCK * BLOCK + row % BLOCK * BLOCK + column % BLOCK;
}

static void prepare(unsigned int size, unsigned int spes, unsigned int times)
{
    size_t bytes = (size_t)size * size * sizeof(float);
    blocks = size / BLOCK;
    a = malloc_align(bytes, 7), b = malloc_align(bytes, 7), c = malloc_align(bytes, 7);
    must(size % BLOCK == 0 && a && b && c, "malloc_align");
    for (size_t at = 0; at < (size_t)size * size; at++)
        a[at] = (float)(at % 7) - 3, b[at] = (float)(at % 5) - 2, c[at] = 0;
    for (unsigned int at = 0; at < spes; at++)
        orders[at] = (struct order){(unsigned long)a, (unsigned long)b, (unsigned long)c, blocks, at, spes, times, {0}};
}

static int wrong(unsigned int size)
{
    int count = 0;
    for (unsigned int row = 0; row < size; row += 17)
        for (unsigned int column = 0; column < size; column += 13) {
            double sum = 0;
            for (unsigned int at = 0; at < size; at++)
                sum += (double)a[place(row, at)] * b[place(at, column)];
            count += fabs(sum - c[place(row, column)]) > 1e-3 * size;
        }
    return count;
}
#else
static struct options *options;

static void prepare(unsigned int count, unsigned int spes, unsigned int times)
{
    options = malloc_align(count * sizeof *options, 7);
    must(options != NULL, "malloc_align");
    for (unsigned int at = 0; at < count * OPTIONS; at++) {
        struct options *block = &options[at / OPTIONS];
        block->spot[at % OPTIONS] = 80 + (float)(at % 41), block->strike[at % OPTIONS] = 90 + (float)(at % 23);
        block->years[at % OPTIONS] = 0.25f + (float)(at % 8) / 4;
    }
    for (unsigned int at = 0; at < spes; at++)
        orders[at] = (struct order){(unsigned long)options, count, at, spes, times, 0.03f, 0.25f};
}

static double normal(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

static int wrong(unsigned int count)
{
    int found = 0;
    for (unsigned int at = 0; at < count * OPTIONS; at++) {
        struct options *block = &options[at / OPTIONS];
        unsigned int in = at % OPTIONS;
        double spread = 0.25 * sqrt(block->years[in]);
        double d1 = (log(block->spot[in] / block->strike[in]) + (0.03 + 0.25 * 0.25 / 2) * block->years[in]) / spread;
        double paid = block->strike[in] * exp(-0.03 * block->years[in]);
        double exact = block->spot[in] * normal(d1) - paid * normal(d1 - spread);
        found += fabs(block->call[in] - exact) > 1e-3 * exact + 1e-3;
    }
    return found;
}
#endif

static void run(int spes)
{
    for (int at = 0; at < spes; at++) {
        must(spe_program_load(workers[at].spe, &work) == 0, "spe_program_load");
        workers[at].argp = &orders[at];
        start(&workers[at]);
    }
    for (int at = 0; at < spes; at++)
        join(&workers[at]);
}

int main(int argc, char **argv)
{
    unsigned int number[4] = {0};
    for (int at = 1; at < argc && at <= 4; at++)
        number[at - 1] = (unsigned int)strtoul(argv[at], NULL, 10);
    unsigned int size = number[0], spes = number[1], times = number[2], runs = number[3];
    if (size < 1 || spes < 1 || spes > MOST_SPES || times < 1 || runs < 1)
        return 2;
    prepare(size, spes, times);
    for (unsigned int at = 0; at < spes; at++)
        must((workers[at].spe = spe_context_create(0, NULL)) != NULL, "spe_context_create");
    /* The first run touches all memory, and is not timed. */
    run((int)spes);
    struct account before = account();
    for (unsigned int at = 0; at < runs; at++) {
        double began = now_ns();
        run((int)spes);
        printf("run %.0f\n", now_ns() - began);
    }
    struct account after = account();
    printf("user_us %.0f\nkernel_us %.0f\n", after.user_us - before.user_us, after.kernel_us - before.kernel_us);
    printf("voluntary %ld\ninvoluntary %ld\nfaults %ld\n", after.voluntary - before.voluntary,
           after.involuntary - before.involuntary, after.faults - before.faults);
    printf("wrong %d\n", wrong(size));
    return 0;
}
