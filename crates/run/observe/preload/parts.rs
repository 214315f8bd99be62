//! Counts messages between MPI ranks, in functions that replace those of the MPI library.
//!
//! MPI's profiling interface gives each function two names. Each rank counts the messages that it
//! sends or fetches with `MPI_Get`; so none counts twice.

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
