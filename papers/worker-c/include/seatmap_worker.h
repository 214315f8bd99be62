/* seatmap_worker.h - pinned workers with local stores, for C and C++.
 *
 * Made of the Rust sources by cbindgen; do not edit.
 *
 * The calls are libspe2's in sense: a context is a worker, it is loaded with a program and run, and its mailboxes, signals
 * and local store are reached from outside and from within. What Linux answers with a thread is answered here by a worker
 * that waits for it.
 *
 * The rules for all functions:
 *
 * - What is created is the caller's until it is handed to the destroy function of its type. A context may be destroyed
 *   before or after its runtime. Nothing else is to be freed.
 * - A handle is NULL, or was given by this library and has not been destroyed. Functions that return a
 *   seatmap_worker_status refuse NULL, the others say what they return for it.
 * - Threads may share a runtime. A context may be used by one thread at a time. A seatmap_inside is its program's while
 *   that runs, on the worker's thread.
 * - A channel may be used by one thread at a time; its descriptor is its own from its creation on, also where that fails.
 * - A program returns its stop code; it may neither end its thread nor throw.
 * - There is no other state but the last error, and each thread has its own. No function ends the program or looks at its
 *   environment; only a defect prints, on stderr. The library cannot survive memory that runs out, or a fork.
 */


#ifndef SEATMAP_WORKER_H
#define SEATMAP_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The major version of this header.
 */
#define SEATMAP_WORKER_VERSION_MAJOR 0

/**
 * The minor version of this header. Before 1.0 another one may break programs, and is another
 * library to the dynamic linker.
 */
#define SEATMAP_WORKER_VERSION_MINOR 1

/**
 * The first signal register gathers bits (OR) instead of keeping the last value; libspe2's
 * SPE_CFG_SIGNOTIFY1_OR.
 */
#define SEATMAP_SIGNOTIFY1_OR 16

/**
 * The second signal register gathers bits (OR) instead of keeping the last value; libspe2's
 * SPE_CFG_SIGNOTIFY2_OR.
 */
#define SEATMAP_SIGNOTIFY2_OR 32

/**
 * The outcome of a call. Zero is success, so that calls can be joined with ||.
 */
typedef enum {
  /**
   * Success.
   */
  SEATMAP_WORKER_STATUS_OK = 0,
  /**
   * An argument is NULL or out of range.
   */
  SEATMAP_WORKER_STATUS_BAD_ARGUMENT = 1,
  /**
   * A CPU or memory is not available.
   */
  SEATMAP_WORKER_STATUS_NOT_POSSIBLE = 2,
  /**
   * All workers are in contexts.
   */
  SEATMAP_WORKER_STATUS_BUSY = 3,
  /**
   * The call does not fit the context's state: it has no program, has not been started, or still
   * runs.
   */
  SEATMAP_WORKER_STATUS_BAD_STATE = 4,
  /**
   * A bug in the library. The handles are still valid.
   */
  SEATMAP_WORKER_STATUS_DEFECT = 5,
  /**
   * The other end of a channel reported an error about a file, or has exited.
   */
  SEATMAP_WORKER_STATUS_CHANNEL = 6,
} seatmap_worker_status;

/**
 * How a call waits that writes or reads several messages, as in libspe2.
 */
typedef enum {
  /**
   * Waits until all messages are written or read.
   */
  SEATMAP_MBOX_ALL_BLOCKING = 1,
  /**
   * Waits for one, and then transfers as many as possible without waiting.
   */
  SEATMAP_MBOX_ANY_BLOCKING = 2,
  /**
   * Does not wait.
   */
  SEATMAP_MBOX_ANY_NONBLOCKING = 3,
} seatmap_mbox;

/**
 * How a file is opened.
 */
typedef enum {
  /**
   * Read an existing file.
   */
  SEATMAP_OPENING_READ = 0,
  /**
   * Write an existing file, or the console.
   */
  SEATMAP_OPENING_WRITE = 1,
  /**
   * Create or empty a file, to write and read it.
   */
  SEATMAP_OPENING_CREATE = 2,
} seatmap_opening;

/**
 * How workers, and the threads that wait for them, wait.
 */
typedef enum {
  /**
   * They spin: the fastest, but the CPU is never free.
   */
  SEATMAP_POLLING_SPIN = 0,
  /**
   * They spin for spin_us, then sleep until woken.
   */
  SEATMAP_POLLING_ADAPTIVE = 1,
  /**
   * They sleep at once, for workers on a shared CPU.
   */
  SEATMAP_POLLING_SLEEP = 2,
} seatmap_polling;

/**
 * A connection to a process outside the cell, which reads and writes files and a console.
 */
typedef struct seatmap_channel seatmap_channel;

/**
 * Workers, each on its CPU, until they and all their contexts are destroyed.
 */
typedef struct seatmap_runtime seatmap_runtime;

/**
 * A worker borrowed by a program. Its local store is overwritten with zeros when the context is
 * created and when it is destroyed.
 */
typedef struct seatmap_context seatmap_context;

/**
 * A worker from within: its local store, mailboxes and signals, and transfers to and from memory.
 */
typedef struct seatmap_inside seatmap_inside;

/**
 * The options of new workers.
 */
typedef struct {
  /**
   * The size of each local store in bytes; 0 for 256 KiB, as on a Cell.
   */
  size_t store_bytes;
  /**
   * One of seatmap_polling.
   */
  int polling;
  /**
   * The time to poll before sleeping, in microseconds, for SEATMAP_POLLING_ADAPTIVE.
   */
  uint32_t spin_us;
  /**
   * SEATMAP_SIGNOTIFY1_OR and SEATMAP_SIGNOTIFY2_OR, or 0.
   */
  uint32_t flags;
} seatmap_runtime_options;

/**
 * A program for a worker. It receives the worker from within, its argument, and its data, and
 * returns its stop code.
 */
typedef uint32_t (*seatmap_program)(seatmap_inside *inside, uint64_t argument, void *data);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the loaded library, such as "0.1.0". Static text, never NULL.
 */
const char *seatmap_worker_version(void);

/**
 * The error of this thread's last call that returned a seatmap_worker_status, as one line; empty
 * if that call succeeded.
 *
 * Never NULL. The text belongs to the library and is valid until this thread's next such call.
 * Each thread has its own.
 */
const char *seatmap_worker_last_error(void);

/**
 * Creates a worker on each CPU, by the operating system's numbers, each once. NULL options mean
 * stores of 256 KiB, workers that spin, and signals that keep the last value.
 */
seatmap_worker_status seatmap_runtime_create(const uint32_t *cpus,
                                             size_t count,
                                             const seatmap_runtime_options *options,
                                             seatmap_runtime **runtime);

/**
 * The number of workers; 0 for NULL.
 */
size_t seatmap_runtime_workers(const seatmap_runtime *runtime);

/**
 * Ends the workers outside of contexts, and each other one when its context is destroyed; NULL is
 * allowed.
 */
void seatmap_runtime_destroy(seatmap_runtime *runtime);

/**
 * The CPUs that this process may use, ascending: writes up to `room` of them to `cpus`, and their
 * number to `count`.
 */
seatmap_worker_status seatmap_allowed_cpus(uint32_t *cpus, size_t room, size_t *count);

/**
 * Borrows a worker and overwrites its local store with zeros, as spe_context_create. Fails with
 * SEATMAP_WORKER_STATUS_BUSY if all workers are in contexts.
 */
seatmap_worker_status seatmap_context_create(seatmap_runtime *runtime, seatmap_context **context);

/**
 * Waits for a running program, overwrites the local store with zeros and returns the worker; NULL
 * is allowed.
 */
void seatmap_context_destroy(seatmap_context *context);

/**
 * Loads a program, as spe_program_load, after waiting for a running one. The data pointer is
 * passed to the program unchanged.
 */
seatmap_worker_status seatmap_program_load(seatmap_context *context,
                                           seatmap_program program,
                                           void *data);

/**
 * Runs the program and waits for its end, as spe_context_run; `stop_code` may be NULL.
 */
seatmap_worker_status seatmap_context_run(seatmap_context *context,
                                          uint64_t argument,
                                          uint32_t *stop_code);

/**
 * Starts the program and returns at once. libspe2 needs a thread that calls spe_context_run.
 */
seatmap_worker_status seatmap_context_start(seatmap_context *context, uint64_t argument);

/**
 * Waits for the end of a started program; `stop_code` may be NULL. The program can still read
 * earlier messages. If it then waits for another one, or for room for its own, it is ended,
 * because no other thread may use the context.
 */
seatmap_worker_status seatmap_context_wait(seatmap_context *context, uint32_t *stop_code);

/**
 * Whether a started program has ended, so that seatmap_context_wait returns at once; false for
 * NULL.
 */
bool seatmap_context_ended(const seatmap_context *context);

/**
 * Releases the CPU: the worker sleeps until the next start, with any kind of polling. That start
 * takes longer.
 */
seatmap_worker_status seatmap_context_give_back(seatmap_context *context);

/**
 * Writes a signal register of the worker, 0 or 1, as spe_signal_write.
 */
seatmap_worker_status seatmap_signal_write(seatmap_context *context,
                                           uint32_t signal,
                                           uint32_t value);

/**
 * The address of the worker's local store, as spe_ls_area_get; valid as long as the context. NULL
 * for NULL.
 */
void *seatmap_store_address(const seatmap_context *context);

/**
 * The size of the local store in bytes, as spe_ls_size_get; 0 for NULL.
 */
size_t seatmap_store_size(const seatmap_context *context);

/**
 * Writes messages into the worker's inbound mailbox, as spe_in_mbox_write; it has room for four.
 * `written`, which may be NULL, receives the number of messages written.
 */
seatmap_worker_status seatmap_in_mbox_write(seatmap_context *context,
                                            const uint32_t *messages,
                                            size_t count,
                                            int behaviour,
                                            size_t *written);

/**
 * Reads messages from the worker's outbound mailbox, as spe_out_mbox_read and
 * spe_out_intr_mbox_read; it holds one. `got`, which may be NULL, receives the number of messages
 * read. Fails with SEATMAP_WORKER_STATUS_BAD_STATE if the program has ended without the message,
 * and with SEATMAP_WORKER_STATUS_NOT_POSSIBLE if its worker has lost its CPU.
 */
seatmap_worker_status seatmap_out_mbox_read(seatmap_context *context,
                                            uint32_t *messages,
                                            size_t count,
                                            int behaviour,
                                            size_t *got);

/**
 * The free entries of the inbound mailbox, as spe_in_mbox_status; 0 for NULL.
 */
uint32_t seatmap_in_mbox_status(const seatmap_context *context);

/**
 * The number of messages in the outbound mailbox, as spe_out_mbox_status; 0 for NULL.
 */
uint32_t seatmap_out_mbox_status(const seatmap_context *context);

/**
 * The address of the local store; NULL for NULL.
 */
void *seatmap_inside_store(seatmap_inside *inside);

/**
 * The size of the local store in bytes; 0 for NULL.
 */
size_t seatmap_inside_store_size(seatmap_inside *inside);

/**
 * Reads the inbound mailbox, as spu_read_in_mbox; waits while it is empty. Returns 0 for NULL, and
 * if no message can come any more: the context is being destroyed, or the worker has lost its CPU.
 */
uint32_t seatmap_inside_mbox_read(seatmap_inside *inside);

/**
 * Reads the inbound mailbox without waiting. Returns false, and leaves `message` unchanged, if
 * there is no message or a pointer is NULL.
 */
bool seatmap_inside_mbox_try_read(seatmap_inside *inside, uint32_t *message);

/**
 * Writes the outbound mailbox, as spu_write_out_mbox; waits while it is full.
 */
void seatmap_inside_mbox_write(seatmap_inside *inside, uint32_t message);

/**
 * Writes the outbound mailbox if there is room, and returns whether there was.
 */
bool seatmap_inside_mbox_try_write(seatmap_inside *inside, uint32_t message);

/**
 * Reads and clears a signal register, 0 or 1, as spu_read_signal1; waits for a value. Returns 0
 * for NULL and for any other register.
 */
uint32_t seatmap_inside_signal_read(seatmap_inside *inside, uint32_t signal);

/**
 * Copies bytes from memory at `from` into the store at `local`, as mfc_get, and returns when they
 * are copied. Returns false, and copies nothing, if they do not fit into the store or a pointer is
 * NULL.
 */
bool seatmap_inside_get(seatmap_inside *inside, size_t local, const void *from, size_t bytes);

/**
 * Copies bytes from the store at `local` to memory at `to`, as mfc_put, and returns when they are
 * copied. Returns false, and copies nothing, if they are not all in the store or a pointer is
 * NULL.
 */
bool seatmap_inside_put(seatmap_inside *inside, size_t local, void *to, size_t bytes);

/**
 * Takes over the connection made by `seatmap-papers controller start`: `descriptor` is the value
 * of SEATMAP_9P_FD.
 */
seatmap_worker_status seatmap_channel_create(int descriptor, seatmap_channel **channel);

/**
 * Ends the connection; NULL is allowed.
 */
void seatmap_channel_destroy(seatmap_channel *channel);

/**
 * Opens a file by its path from the root, such as "files/out/result.txt", "console" or "input";
 * `opening` is a seatmap_opening.
 */
seatmap_worker_status seatmap_channel_open(seatmap_channel *channel,
                                           const char *path,
                                           int opening,
                                           uint32_t *file);

/**
 * Closes a file.
 */
seatmap_worker_status seatmap_channel_close(seatmap_channel *channel, uint32_t file);

/**
 * Reads from an offset, at most 128 KiB at once. `done` receives the number of bytes, 0 at the end
 * of the file.
 */
seatmap_worker_status seatmap_channel_read(seatmap_channel *channel,
                                           uint32_t file,
                                           uint64_t offset,
                                           void *to,
                                           size_t bytes,
                                           size_t *done);

/**
 * Writes all bytes at an offset.
 */
seatmap_worker_status seatmap_channel_write(seatmap_channel *channel,
                                            uint32_t file,
                                            uint64_t offset,
                                            const void *from,
                                            size_t bytes);

/**
 * Gives up, for good, all rights of this process except to compute, start threads, read the clock,
 * and read and write open files.
 */
seatmap_worker_status seatmap_fence_close(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SEATMAP_WORKER_H */
