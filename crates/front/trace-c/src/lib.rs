//! `libseatmap_trace`: the runtime for linking an observed program.
//!
//! A program compiled with `-fsanitize=thread` calls a runtime function at each memory access. This
//! library has those functions, counts the cache lines that pass between threads, and writes the
//! counts at the program's end to the folder in `SEATMAP_TRACE`.
//!
//! | module | does |
//! |---|---|
//! | `accesses`, `atomics`, `ranges` | the functions that compilers call, by the kind of access |
//! | `shadow` | the state of each cache line: its owner, sharers, and the bytes last written |
//! | `hot` | the lines that pass most often |
//! | `tasks`, `local` | the threads and their counts; a thread's pointer to its own |
//! | `threads`, `process` | creation of threads; start, fork, signals and end of the process |
//! | `dump`, `text`, `maps`, `elf` | the file, written without the heap; the names of addresses |
#![deny(missing_docs)]

mod accesses;
mod atomics;
mod dump;
mod elf;
mod hot;
mod local;
mod maps;
mod memory;
mod output;
mod process;
mod ranges;
mod shadow;
mod tasks;
mod text;
mod threads;
