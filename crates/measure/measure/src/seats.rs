//! Seats for the threads of a running program, and homes of its cache lines.
//!
//! | module | holds |
//! |---|---|
//! | [`program`] | a program's channels, with a seat and a line for each thread |
//! | [`line_homes`] | the homes of lines in the program's own memory |

pub mod line_homes;
pub mod program;

pub use program::{ProgramChannels, ProgramSeats, ThreadAttributes};
