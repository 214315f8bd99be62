//! Counts messages between MPI ranks, in functions that replace those of the MPI library.
//!
//! MPI's profiling interface gives each function two names. Each rank counts the messages that it
//! sends, and those that it fetches with `MPI_Get`; so no message counts twice.
//!
//! | module | does |
//! |---|---|
//! | `library` | the MPI library of this process |
//! | `words` | arguments |
//! | `point`, `collective` | calls to one rank, and by all |
//! | `remote` | calls to a rank's memory |
//! | `persistent` | persistent requests |
//! | `book`, `call` | the counts; the names of calls |
//! | `process` | start, end, communicators |
//! | `write` | the file of a rank |
//! | `system` | the C library |

// First, because the others use its macros.
#[macro_use]
mod library;

mod book;
mod call;
mod collective;
mod persistent;
mod point;
mod process;
mod remote;
mod system;
mod words;
mod write;
