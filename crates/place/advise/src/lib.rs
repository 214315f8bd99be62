//! Advice for one program on this computer: *do this*, *leave it*, or *undecided*.
//!
//! A short look finds the program's limits and the most that seats could save; a trial follows if
//! that is much. `conclusion` only maps [`Evidence`] to a [`Conclusion`], so tests can use made-up
//! evidence.
//!
//! | module | contents |
//! |---|---|
//! | [`request`] | the request: from the look to the advice |
//! | [`scope`] | the program: a command or running processes |
//! | [`look`] | a few seconds of watching and observing |
//! | [`evidence`] | the facts found |
//! | [`gain`] | the most time that seats could save |
//! | [`memory`] | the number of threads that memory can serve |
//! | [`trial`] | seats in alternating periods, with the default as its own control |
//! | [`work`] | the work measured in a period |
//! | [`conclusion`] | the verdict from the evidence |
//! | [`commands`] | the command to paste, and the one that undoes it |
//! | [`advice`] | the `seatmap-advice/1` format |
#![deny(missing_docs)]

pub mod advice;
pub mod commands;
pub mod conclusion;
pub mod evidence;
pub mod gain;
pub mod look;
pub mod memory;
pub mod request;
pub mod scope;
pub mod trial;
pub mod work;

pub use advice::Advice;
pub use conclusion::{AdviceVerdict, Conclusion, Reason};
pub use evidence::Evidence;
pub use request::{AdviceProgress, AdviceRequest, AdviceRun};
pub use scope::Scope;
