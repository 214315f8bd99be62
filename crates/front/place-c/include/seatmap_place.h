/* seatmap_place.h - where threads should sit, for C and C++.
 *
 * Made of the Rust sources by cbindgen; do not edit.
 *
 * The rules for all functions:
 *
 * - What a function gives, through its last argument or as new options, is the caller's until it is handed to the free
 *   function of its type. Nothing else is to be freed.
 * - A handle is NULL, or was given by this library and has not been freed. Functions that return a seatmap_status refuse
 *   NULL, the others say what they return for it.
 * - Texts end with a zero byte and are UTF-8, paths excepted. Texts and arrays that go in are copied, those that come out
 *   belong to what they were asked of.
 * - Machines, patterns and answers never change: threads may share them, as long as none frees them. Options may be used
 *   by one thread at a time. There is no other state but the last error, and each thread has its own.
 * - No function ends the program or looks at its environment, but for seatmap_channels_seats and
 *   seatmap_channels_seats_over, which say so; only a defect prints, on stderr. The library cannot survive memory that
 *   runs out.
 */


#ifndef SEATMAP_PLACE_H
#define SEATMAP_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The major version of this header.
 */
#define SEATMAP_PLACE_VERSION_MAJOR 0

/**
 * The minor version of this header. Before 1.0 another minor version may break programs, and is
 * another library to the dynamic linker.
 */
#define SEATMAP_PLACE_VERSION_MINOR 1

/**
 * The result of a call. Zero is success, so that calls can be joined with ||.
 */
typedef enum {
  /**
   * Success.
   */
  SEATMAP_STATUS_OK = 0,
  /**
   * An argument is NULL, out of range, or not a known name or pattern.
   */
  SEATMAP_STATUS_BAD_ARGUMENT = 1,
  /**
   * A file cannot be read or understood; the message has line and column.
   */
  SEATMAP_STATUS_BAD_FILE = 2,
  /**
   * The request cannot be met on this machine.
   */
  SEATMAP_STATUS_NOT_POSSIBLE = 3,
  /**
   * A mistake in the library. The handles are still valid.
   */
  SEATMAP_STATUS_DEFECT = 4,
} seatmap_status;

/**
 * The objective that a placement minimises.
 */
typedef enum {
  /**
   * The sum of bytes x round-trip nanoseconds.
   */
  SEATMAP_OBJECTIVE_DISTANCE = 0,
  /**
   * The bytes through the most loaded link between caches, NUMA nodes or packages.
   */
  SEATMAP_OBJECTIVE_CONGESTION = 1,
} seatmap_objective;

/**
 * A usual placement, without a search.
 */
typedef enum {
  /**
   * Tasks in order on CPUs in the order of their numbers.
   */
  SEATMAP_BASELINE_OS = 0,
  /**
   * Tasks in order, each CPU as near to the last as the topology allows.
   */
  SEATMAP_BASELINE_COMPACT = 1,
  /**
   * Tasks in order, each CPU as far from the others as the topology allows.
   */
  SEATMAP_BASELINE_SCATTER = 2,
  /**
   * The mean of 1000 random placements.
   */
  SEATMAP_BASELINE_RANDOM_MEAN = 3,
  /**
   * The best of 1000 random placements.
   */
  SEATMAP_BASELINE_RANDOM_BEST = 4,
} seatmap_baseline;

/**
 * A placement with its cost and origin. It never changes, so threads may share it.
 */
typedef struct seatmap_answer seatmap_answer;

/**
 * A machine: its CPUs and their distances. It never changes, so threads may share it.
 */
typedef struct seatmap_machine seatmap_machine;

/**
 * A pattern: the traffic from each task to the others. It never changes, so threads may share it.
 */
typedef struct seatmap_pattern seatmap_pattern;

/**
 * Options of a placement. Only one thread at a time may use them; after a call they can be changed
 * and used again.
 */
typedef struct seatmap_options seatmap_options;

/**
 * CPUs for threads, and lines for their channels. It never changes, so threads may share it.
 */
typedef struct seatmap_seats seatmap_seats;

/**
 * The traffic from one task to another.
 */
typedef struct {
  /**
   * The sender, counted from 0.
   */
  uint32_t from;
  /**
   * The receiver, another task.
   */
  uint32_t to;
  /**
   * Bytes, or anything in proportion to them; 0 or more.
   */
  double bytes;
} seatmap_edge;

/**
 * A channel between two threads of the program, which are counted from 0.
 */
typedef struct {
  /**
   * The number of one thread.
   */
  uint32_t first;
  /**
   * The number of the other thread.
   */
  uint32_t second;
} seatmap_channel;

/**
 * The attributes for creating a thread.
 */
typedef struct {
  /**
   * The CPU to pin it to, by the operating system's number.
   */
  uint32_t cpu;
  /**
   * Whether it matters which line the channel uses; false if the machine's homes of lines are
   * unknown.
   */
  bool has_line;
  /**
   * The line for its channel, or 0 if it does not matter. Lines have 64 bytes, and count from
   * the start of the given memory; without memory, from the start of any page, as far as homes
   * repeat from page to page.
   */
  uint32_t line;
} seatmap_thread_attributes;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the loaded library, such as "0.1.0". Static text, never NULL.
 */
const char *seatmap_place_version(void);

/**
 * The error of this thread's last call that returned a seatmap_status, as one line; empty if that
 * call succeeded.
 *
 * Never NULL. The text belongs to the library and is valid until this thread's next such call. Any
 * thread may call it, and each sees its own.
 */
const char *seatmap_last_error(void);

/**
 * Opens a bundled machine by its name, such as "graviton3"; `seatmap machines` lists them.
 *
 * Free *machine with seatmap_machine_free; on failure it is NULL.
 *
 * Fails with SEATMAP_STATUS_BAD_ARGUMENT if no machine has this name.
 */
seatmap_status seatmap_machine_bundled(const char *name, seatmap_machine **machine);

/**
 * Reads a machine from a file: a profile from `seatmap measure -o`, a hand-written description, or
 * a file for `seatmap import` (CSV of core-to-core-latency, MCTOP, hwloc XML). Those commands also
 * warn of oddities; this call does not.
 *
 * Free *machine with seatmap_machine_free; on failure it is NULL.
 *
 * Fails with SEATMAP_STATUS_BAD_FILE if the file cannot be read or understood.
 */
seatmap_status seatmap_machine_read(const char *path, seatmap_machine **machine);

/**
 * Makes a machine from distances alone.
 *
 * distance_ns holds cpus x cpus cells, row by row: the time for a cache line from one CPU to the
 * other and back, in nanoseconds. The matrix is symmetric, and its diagonal is ignored; NAN is an
 * unknown distance. os holds the operating system's number of each row's CPU, each once; NULL
 * numbers them from 0. Both are copied.
 *
 * Free *machine with seatmap_machine_free; on failure it is NULL.
 *
 * Fails with SEATMAP_STATUS_BAD_ARGUMENT if the distances are not such a matrix.
 */
seatmap_status seatmap_machine_from_distances(size_t cpus,
                                              const uint32_t *os,
                                              const double *distance_ns,
                                              seatmap_machine **machine);

/**
 * The number of a machine's CPUs; 0 for NULL.
 */
size_t seatmap_machine_cpus(const seatmap_machine *machine);

/**
 * Frees a machine; NULL is fine. Its answers remain valid.
 */
void seatmap_machine_free(seatmap_machine *machine);

/**
 * Makes the pattern that a text such as "stencil2d:8x8" describes; `seatmap pattern list` lists
 * them.
 *
 * Free *pattern with seatmap_pattern_free; on failure it is NULL.
 *
 * Fails with SEATMAP_STATUS_BAD_ARGUMENT if the text describes none; the message gives the syntax.
 */
seatmap_status seatmap_pattern_generate(const char *text, seatmap_pattern **pattern);

/**
 * Reads a pattern from a file of any format of `seatmap pattern show` (seatmap-pattern/1, CSV
 * matrices and lists of edges, MatrixMarket, QAPLIB). That command also warns of oddities; this
 * call does not.
 *
 * Free *pattern with seatmap_pattern_free; on failure it is NULL.
 *
 * Fails with SEATMAP_STATUS_BAD_FILE if the file cannot be read or understood.
 */
seatmap_status seatmap_pattern_read(const char *path, seatmap_pattern **pattern);

/**
 * Makes a pattern with this many tasks and these edges, at most one for each sender and receiver.
 * The edges are copied; NULL is fine if count is 0.
 *
 * Free *pattern with seatmap_pattern_free; on failure it is NULL.
 *
 * Fails with SEATMAP_STATUS_BAD_ARGUMENT if tasks and edges do not fit together; the message names
 * the edge.
 */
seatmap_status seatmap_pattern_from_edges(size_t tasks,
                                          const seatmap_edge *edges,
                                          size_t count,
                                          seatmap_pattern **pattern);

/**
 * The number of a pattern's tasks; 0 for NULL.
 */
size_t seatmap_pattern_tasks(const seatmap_pattern *pattern);

/**
 * Frees a pattern; NULL is fine. Its answers remain valid.
 */
void seatmap_pattern_free(seatmap_pattern *pattern);

/**
 * Default options: by distance, on all CPUs, for one second, in one thread. Never NULL. Free them
 * with seatmap_options_free.
 */
seatmap_options *seatmap_options_new(void);

/**
 * Sets the objective: one of seatmap_objective.
 */
seatmap_status seatmap_options_set_objective(seatmap_options *options, int objective);

/**
 * Sets the CPUs that may be used, by the operating system's numbers, each once; they are copied.
 * Default: all of the machine.
 */
seatmap_status seatmap_options_set_cpus(seatmap_options *options,
                                        const uint32_t *cpus,
                                        size_t count);

/**
 * Puts a task, counted from 0, on a CPU, by the operating system's number. Call it once for each
 * such task; seatmap_place checks that tasks and CPUs exist and fit.
 */
seatmap_status seatmap_options_fix(seatmap_options *options, size_t task, uint32_t cpu);

/**
 * Sets whether each core takes at most one task. Default: false.
 */
seatmap_status seatmap_options_set_avoid_smt(seatmap_options *options, bool avoid_smt);

/**
 * Sets the length of the search in seconds, from 0 to 1e6. A search ends earlier if its answer is
 * proven optimal. Default: 1.
 */
seatmap_status seatmap_options_set_seconds(seatmap_options *options, double seconds);

/**
 * Ends the search after this many kicks out of local optima in place of a time, so that every run
 * gives the same answer. The last call of seconds or kicks counts.
 */
seatmap_status seatmap_options_set_kicks(seatmap_options *options, uint64_t kicks);

/**
 * Sets the number of parallel searches, one thread each, 1 to 1024. Default: 1.
 */
seatmap_status seatmap_options_set_threads(seatmap_options *options, uint32_t threads);

/**
 * Sets the seed of random choices. Default: 1.
 */
seatmap_status seatmap_options_set_seed(seatmap_options *options, uint64_t seed);

/**
 * Frees options; NULL is fine.
 */
void seatmap_options_free(seatmap_options *options);

/**
 * Places the tasks of a pattern on a machine. options may be NULL: by distance, on all CPUs, for
 * one second.
 *
 * Free *answer with seatmap_answer_free; on failure it is NULL. An answer does not depend on its
 * inputs, which may be freed. Threads of the call have ended when it returns.
 *
 * Fails with SEATMAP_STATUS_NOT_POSSIBLE if machine and options do not allow such a placement.
 */
seatmap_status seatmap_place(const seatmap_machine *machine,
                             const seatmap_pattern *pattern,
                             const seatmap_options *options,
                             seatmap_answer **answer);

/**
 * The number of placed tasks: the length of seatmap_answer_placement; 0 for NULL.
 */
size_t seatmap_answer_tasks(const seatmap_answer *answer);

/**
 * The CPU of each task, by the operating system's number. The array lives as long as the answer;
 * NULL for NULL.
 */
const uint32_t *seatmap_answer_placement(const seatmap_answer *answer);

/**
 * The cost of the placement: bytes x nanoseconds for distance, bytes for congestion; NAN for NULL.
 */
double seatmap_answer_cost(const seatmap_answer *answer);

/**
 * A lower bound of all placements' costs, in the unit of the cost; NAN for NULL.
 */
double seatmap_answer_lower_bound(const seatmap_answer *answer);

/**
 * Whether it is proven that no placement costs less; false for NULL.
 */
bool seatmap_answer_optimal(const seatmap_answer *answer);

/**
 * The cost of a baseline (one of seatmap_baseline), in the unit of the cost; NAN for NULL and for
 * other values.
 */
double seatmap_answer_baseline(const seatmap_answer *answer, int which);

/**
 * How the placement was found. The text lives as long as the answer; NULL for NULL.
 */
const char *seatmap_answer_method(const seatmap_answer *answer);

/**
 * The placement as a plan (seatmap-plan/1, JSON in one line), which `seatmap run --plan` and
 * `seatmap export` read. The text lives as long as the answer; NULL for NULL.
 */
const char *seatmap_answer_plan_json(const seatmap_answer *answer);

/**
 * Frees an answer with its array and texts; NULL is fine.
 */
void seatmap_answer_free(seatmap_answer *answer);

/**
 * Finds CPUs for the threads of count channels: next to the homes of the channels' lines if the
 * machine's homes are known, else by distance. sections is 0, or the number of slices of a ring or
 * mesh over which the groups of threads are distributed; it must divide the machine's cores.
 *
 * If machine is NULL, it is this host as `seatmap measure` stored it below $XDG_STATE_HOME or
 * ~/.local/state, limited to the CPUs that the process may use.
 *
 * On success, free *seats with seatmap_seats_free; on failure it is NULL.
 *
 * If there are fewer CPUs than threads, threads share CPUs; with sections that is an error.
 *
 * Fails with SEATMAP_STATUS_NOT_POSSIBLE if the host has not been measured, is not the measured
 * computer, or has fewer lines than channels.
 */
seatmap_status seatmap_channels_seats(const seatmap_machine *machine,
                                      const seatmap_channel *channels,
                                      size_t count,
                                      size_t sections,
                                      seatmap_seats **seats);

/**
 * As seatmap_channels_seats, next to lines of the given memory, which the channels will use. The
 * line in each side's attributes is counted from the start of the memory, which must be a multiple
 * of 64 bytes.
 *
 * If the homes of lines are known, pinned threads first find the home of each line, two at a time
 * on CPUs that the process may use, while the calling thread waits. That takes a fraction of a
 * millisecond per line, and fails after 1 s and 4 ms per line. No other thread may use the memory
 * meanwhile; its contents do not change. If the homes are not known, nothing is measured.
 *
 * machine may be NULL, or a profile of this host from another file.
 *
 * Fails with SEATMAP_STATUS_BAD_ARGUMENT if the memory begins inside a line. Fails with
 * SEATMAP_STATUS_NOT_POSSIBLE as seatmap_channels_seats does, if other programs keep CPUs busy,
 * and if fewer homes were found than there are channels.
 */
seatmap_status seatmap_channels_seats_over(const seatmap_machine *machine,
                                           const seatmap_channel *channels,
                                           size_t count,
                                           size_t sections,
                                           void *memory,
                                           size_t size_bytes,
                                           seatmap_seats **seats);

/**
 * Gives the attributes for creating the first (side 0) or second (side 1) thread of a channel,
 * counted from 0.
 *
 * Fails with SEATMAP_STATUS_BAD_ARGUMENT if there is no such channel or side.
 */
seatmap_status seatmap_seats_side(const seatmap_seats *seats,
                                  size_t channel,
                                  size_t side,
                                  seatmap_thread_attributes *attributes);

/**
 * Frees seats; NULL is fine.
 */
void seatmap_seats_free(seatmap_seats *seats);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SEATMAP_PLACE_H */
