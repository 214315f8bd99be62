//! Counts messages between MPI ranks, in functions that replace those of the MPI library.
//!
//! MPI's profiling interface gives each function two names. The program calls this library's
//! `MPI_Send`, which calls the MPI library's `PMPI_Send`. Each rank counts the messages that it
//! sends, and those that it fetches with `MPI_Get`; so no message counts twice.
//!
//! | module | does |
//! |---|---|
//! | `library` | identifies the MPI library of this process, and calls its functions |
//! | `words` | arguments: handles, counts and lists of counts |
//! | `point`, `collective` | the calls to one rank, and by all ranks |
//! | `remote` | the calls to the memory of a rank |
//! | `persistent` | requests that send each time they are started |
//! | `book`, `call` | the counts; the names of calls |
//! | `process` | start, end, communicators |
//! | `write` | the file of a rank |
//! | `system` | the functions of the C library |

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
