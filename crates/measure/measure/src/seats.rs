//! Seats for the threads of a running program, and homes of its cache lines.
//!
//! `seatmap_place` is pure: matrices in, placements out. This module adds the parts that need the
//! machine on which the program runs.
//!
//! | module | holds |
//! |---|---|
//! | [`program`] | a program's channels, with a seat and a line for each thread |
//! | [`line_homes`] | the homes of lines in the program's own memory |

pub mod line_homes;
pub mod program;
#[cfg(test)]
mod samples;

pub use program::{ProgramChannels, ProgramSeats, ThreadAttributes};
