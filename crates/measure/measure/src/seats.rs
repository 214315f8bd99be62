//! Seats for the threads of a running program, and homes for its own cache lines.
//!
//! `seatmap_place` is pure: matrices in, placements out. This crate adds the parts that need the
//! machine on which the program runs.
//!
//! | module | holds |
//! |---|---|
//! | [`program`] | a program's channels, and the seat and line of each of its threads |
//! | [`line_homes`] | which homes the lines of the program's own memory have |

pub mod line_homes;
pub mod program;
#[cfg(test)]
mod samples;

pub use program::{ProgramChannels, ProgramSeats, ThreadAttributes};
