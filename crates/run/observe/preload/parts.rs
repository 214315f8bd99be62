//! Messages between MPI ranks, counted by the functions that stand before those of the MPI library.
//!
//! The profiling interface of MPI has each function under two names. The program calls `MPI_Send`,
//! which is this library's, and that calls the MPI library's `PMPI_Send`. Each rank counts the
//! messages that it sends, and those that it fetches with `MPI_Get`; so no message counts twice.
//!
//! | module | does |
//! |---|---|
//! | `library` | the MPI library of this process: which one it is, and its functions |
//! | `words` | arguments: handles, counts and lists of counts |
//! | `point`, `collective` | the calls to one rank, and of all ranks |
//! | `remote` | the calls to the memory of a rank |
//! | `persistent` | requests that send each time they are started |
//! | `book`, `call` | what was counted; the names of calls |
//! | `process` | begin, end, communicators |
//! | `write` | the file of a rank |
//! | `system` | the functions of the C library |

// First: the others use its macros.
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
