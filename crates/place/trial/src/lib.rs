//! Trials of the real program: races of seats, comparisons of versions, seats for a running
//! program.
//!
//! | module | contents |
//! |---|---|
//! | [`gate`] | Compares two versions of a program, judges a limit, and keeps their history |
//! | [`live`] | Seats the threads of a running program, and keeps only seats shown to be better |
//! | [`tune`] | Compares commands and placements by running them; claims only what the runs show |
#![deny(missing_docs)]

pub mod gate;
pub mod live;
pub mod tune;
