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
 * The major version that this header belongs to.
 */
#define SEATMAP_PLACE_VERSION_MAJOR 0

/**
 * The minor version that this header belongs to. Before 1.0 another one may break programs, and is
 * another library to the dynamic linker.
 */
#define SEATMAP_PLACE_VERSION_MINOR 1

/**
 * How a call ended. Zero is success, so that calls can be joined with ||.
 */
typedef enum {
  /**
   * Done.
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
   * A mistake in the library. The handles are still good.
   */
  SEATMAP_STATUS_DEFECT = 4,
} seatmap_status;

/**
 * The objective that judges a placement.
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
 * A placement that people would use without a search.
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
   * The best of them.
   */
  SEATMAP_BASELINE_RANDOM_BEST = 4,
} seatmap_baseline;

/**
 * A placement with what is known about it. It never changes, so threads may share it.
 */
typedef struct seatmap_answer seatmap_answer;

/**
 * A machine: its CPUs and how far apart they are. It never changes, so threads may share it.
 */
typedef struct seatmap_machine seatmap_machine;

/**
 * A pattern: the traffic from each task to the others. It never changes, so threads may share it.
 */
typedef struct seatmap_pattern seatmap_pattern;

/**
 * How to place. One thread at a time may use it; after the call it can be used again, changed or
 * not.
 */
typedef struct seatmap_options seatmap_options;

/**
 * Where threads should sit, and which lines their channels should use. It never changes, so
 * threads may share it.
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
 * The attributes that a thread is created with.
 */
typedef struct {
  /**
   * The CPU to pin it to, by the operating system's number.
   */
  uint32_t cpu;
  /**
   * Whether it matters which line the channel uses; false where the machine does not tell homes
   * of lines apart.
   */
  bool has_line;
  /**
   * The line that its channel should use, 0 where it does not matter. It is a number of lines of
   * 64 bytes into the memory that was handed in; without memory, into any memory that begins
   * with a page, as far as homes repeat from page to page.
   */
  uint32_t line;
} seatmap_thread_attributes;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library that is loaded, such as "0.1.0". Static text, never NULL.
 */
const char *seatmap_place_version(void);

/**
 * The error of this thread's last call that returned a seatmap_status, as one line; empty if that
 * call succeeded.
 *
 * Never NULL. The text belongs to the library and holds until this thread's next such call. Any
 * thread may call it, and each sees its own.
 */
const char *seatmap_last_error(void);

/**
 * A machine that comes with Seatmap, by its name, such as "graviton3"; `seatmap machines` lists
 * them.
 *
 * On success *machine is the caller's, for seatmap_machine_free; else it is NULL.
 *
 * Fails with SEATMAP_STATUS_BAD_ARGUMENT where no machine has this name.
 */
seatmap_status seatmap_machine_bundled(const char *name, seatmap_machine **machine);

/**
 * The machine that a file describes: a profile that `seatmap measure -o` wrote, a hand-written
 * description, or what `seatmap import` reads (CSV of core-to-core-latency, MCTOP, hwloc XML).
 * Those commands also warn of oddities in the file; this call does not.
 *
 * On success *machine is the caller's, for seatmap_machine_free; else it is NULL.
 *
 * Fails with SEATMAP_STATUS_BAD_FILE where the file cannot be read or understood.
 */
seatmap_status seatmap_machine_read(const char *path, seatmap_machine **machine);

/**
 * A machine described by its distances alone.
 *
 * distance_ns holds cpus x cpus cells, row by row: the time that a cache line takes from one CPU
 * to the other and back, in nanoseconds. The matrix is symmetric, and its diagonal is not read;
 * NAN is a distance that is not known. os holds the operating system's number of each row's CPU,
 * each once; NULL numbers them from 0. Both are copied.
 *
 * On success *machine is the caller's, for seatmap_machine_free; else it is NULL.
 *
 * Fails with SEATMAP_STATUS_BAD_ARGUMENT where the distances are not such a matrix.
 */
seatmap_status seatmap_machine_from_distances(size_t cpus,
                                              const uint32_t *os,
                                              const double *distance_ns,
                                              seatmap_machine **machine);

/**
 * How many CPUs a machine has; 0 for NULL.
 */
size_t seatmap_machine_cpus(const seatmap_machine *machine);

/**
 * Frees a machine; NULL is fine. Answers found for it stay good.
 */
void seatmap_machine_free(seatmap_machine *machine);

/**
 * The pattern that a text such as "stencil2d:8x8" describes; `seatmap pattern list` lists them.
 *
 * On success *pattern is the caller's, for seatmap_pattern_free; else it is NULL.
 *
 * Fails with SEATMAP_STATUS_BAD_ARGUMENT where the text describes none; the message says how it is
 * written.
 */
seatmap_status seatmap_pattern_generate(const char *text, seatmap_pattern **pattern);

/**
 * The pattern in a file of any format that `seatmap pattern show` reads (seatmap-pattern/1, CSV
 * matrices and lists of edges, MatrixMarket, QAPLIB). That command also warns of oddities in the
 * file; this call does not.
 *
 * On success *pattern is the caller's, for seatmap_pattern_free; else it is NULL.
 *
 * Fails with SEATMAP_STATUS_BAD_FILE where the file cannot be read or understood.
 */
seatmap_status seatmap_pattern_read(const char *path, seatmap_pattern **pattern);

/**
 * The pattern with this many tasks and these edges, at most one for each sender and receiver. The
 * edges are copied; NULL is fine where count is 0.
 *
 * On success *pattern is the caller's, for seatmap_pattern_free; else it is NULL.
 *
 * Fails with SEATMAP_STATUS_BAD_ARGUMENT where tasks and edges do not fit together; the message
 * names the edge.
 */
seatmap_status seatmap_pattern_from_edges(size_t tasks,
                                          const seatmap_edge *edges,
                                          size_t count,
                                          seatmap_pattern **pattern);

/**
 * How many tasks a pattern has; 0 for NULL.
 */
size_t seatmap_pattern_tasks(const seatmap_pattern *pattern);

/**
 * Frees a pattern; NULL is fine. Answers found for it stay good.
 */
void seatmap_pattern_free(seatmap_pattern *pattern);

/**
 * The usual way to place, to be changed: by distance, on all CPUs, for a second, in one thread.
 * Never NULL; it is the caller's, for seatmap_options_free.
 */
seatmap_options *seatmap_options_new(void);

/**
 * The objective that judges placements: one of seatmap_objective.
 */
seatmap_status seatmap_options_set_objective(seatmap_options *options, int objective);

/**
 * The CPUs that may be used, by the operating system's numbers, each once; they are copied. All of
 * the machine unless set.
 */
seatmap_status seatmap_options_set_cpus(seatmap_options *options,
                                        const uint32_t *cpus,
                                        size_t count);

/**
 * Puts a task, counted from 0, on a CPU, by the operating system's number. Call it once for each
 * such task; whether they exist, and leave room for each other, turns out in seatmap_place.
 */
seatmap_status seatmap_options_fix(seatmap_options *options, size_t task, uint32_t cpu);

/**
 * Whether a core takes one task at most. Not unless set.
 */
seatmap_status seatmap_options_set_avoid_smt(seatmap_options *options, bool avoid_smt);

/**
 * How long to search, in seconds from 0 to 1e6; a search ends sooner where its answer is proven. 1
 * unless set.
 */
seatmap_status seatmap_options_set_seconds(seatmap_options *options, double seconds);

/**
 * Ends the search after this many kicks out of local optima, and not by the clock, so that every
 * run gives the same answer. Of seconds and kicks, the one that was set last counts.
 */
seatmap_status seatmap_options_set_kicks(seatmap_options *options, uint64_t kicks);

/**
 * How many searches run side by side, each in a thread, 1 to 1024. 1 unless set.
 */
seatmap_status seatmap_options_set_threads(seatmap_options *options, uint32_t threads);

/**
 * Where random choices start. 1 unless set.
 */
seatmap_status seatmap_options_set_seed(seatmap_options *options, uint64_t seed);

/**
 * Frees options; NULL is fine.
 */
void seatmap_options_free(seatmap_options *options);

/**
 * Finds where the tasks of a pattern should sit on a machine. options may be NULL: by distance, on
 * all CPUs, for a second.
 *
 * On success *answer is the caller's, for seatmap_answer_free; else it is NULL. An answer needs
 * nothing that it was made from. Threads that the call starts have ended when it returns.
 *
 * Fails with SEATMAP_STATUS_NOT_POSSIBLE where machine and options do not allow such a placement.
 */
seatmap_status seatmap_place(const seatmap_machine *machine,
                             const seatmap_pattern *pattern,
                             const seatmap_options *options,
                             seatmap_answer **answer);

/**
 * How many tasks were placed: the length of seatmap_answer_placement; 0 for NULL.
 */
size_t seatmap_answer_tasks(const seatmap_answer *answer);

/**
 * The CPU of each task, by the operating system's number. The array is the answer's and lives as
 * long; NULL for NULL.
 */
const uint32_t *seatmap_answer_placement(const seatmap_answer *answer);

/**
 * The cost of the placement: bytes x nanoseconds for distance, bytes for congestion; NAN for NULL.
 */
double seatmap_answer_cost(const seatmap_answer *answer);

/**
 * A lower bound that no placement can undercut, in the unit of the cost; NAN for NULL.
 */
double seatmap_answer_lower_bound(const seatmap_answer *answer);

/**
 * Whether it is proven that no placement costs less; false for NULL.
 */
bool seatmap_answer_optimal(const seatmap_answer *answer);

/**
 * The cost of a baseline, which is one of seatmap_baseline, in the unit of the cost; NAN for NULL
 * and for anything else.
 */
double seatmap_answer_baseline(const seatmap_answer *answer, int which);

/**
 * How the placement was found, in words for people. The text is the answer's and lives as long;
 * NULL for NULL.
 */
const char *seatmap_answer_method(const seatmap_answer *answer);

/**
 * The placement as a plan (seatmap-plan/1, JSON in one line), which `seatmap run --plan` and
 * `seatmap export` read. The text is the answer's and lives as long; NULL for NULL.
 */
const char *seatmap_answer_plan_json(const seatmap_answer *answer);

/**
 * Frees an answer, with the array and texts that it gave out; NULL is fine.
 */
void seatmap_answer_free(seatmap_answer *answer);

/**
 * Finds seats for the threads of count channels: next to the homes of the channels' lines where
 * the machine tells homes apart, else by distance. sections is 0, or the number of slices of a
 * ring or mesh that the groups of threads are distributed over, which must divide its cores.
 *
 * machine may be NULL: this host, as `seatmap measure` stored it below $XDG_STATE_HOME or
 * ~/.local/state, and those of its CPUs that the process may use.
 *
 * On success *seats is the caller's, for seatmap_seats_free; else it is NULL.
 *
 * Threads share CPUs where there are fewer of these; with sections that is refused.
 *
 * Fails with SEATMAP_STATUS_NOT_POSSIBLE where the host has not been measured, or is not the
 * computer that was measured, or has fewer lines than channels.
 */
seatmap_status seatmap_channels_seats(const seatmap_machine *machine,
                                      const seatmap_channel *channels,
                                      size_t count,
                                      size_t sections,
                                      seatmap_seats **seats);

/**
 * As seatmap_channels_seats, next to lines of this memory, in which the channels will live: the
 * line of each side's attributes is counted from its start, which must be a multiple of 64 bytes.
 *
 * Where the host's profile tells homes of lines apart, threads that are pinned for the time being
 * first find the home of each line, two at a time on CPUs that the process may use; the calling
 * thread waits and stays where it is. That takes a fraction of a millisecond a line, and is given
 * up after 1 s and 4 ms a line. No other thread may use the memory meanwhile; its contents stay as
 * they are. Where lines are alike nothing is measured.
 *
 * machine may be NULL, or a profile of this host that is kept elsewhere.
 *
 * Fails with SEATMAP_STATUS_BAD_ARGUMENT for memory that begins inside a line, and with
 * SEATMAP_STATUS_NOT_POSSIBLE as seatmap_channels_seats does, for CPUs that something else keeps
 * busy, and for fewer lines whose homes could be told than channels.
 */
seatmap_status seatmap_channels_seats_over(const seatmap_machine *machine,
                                           const seatmap_channel *channels,
                                           size_t count,
                                           size_t sections,
                                           void *memory,
                                           size_t size_bytes,
                                           seatmap_seats **seats);

/**
 * The attributes for creating the first (side 0) or second (side 1) thread of a channel, counted
 * from 0.
 *
 * Fails with SEATMAP_STATUS_BAD_ARGUMENT where there is no such channel or side.
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
