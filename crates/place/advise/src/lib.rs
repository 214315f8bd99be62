//! Says what to do with one program on this computer: *do this*, *leave it*, or *cannot tell here*.
//!
//! It looks for a few seconds at what limits the program, computes how much its seats could matter
//! at most, and tries seats only where that is much. The looking is apart from the concluding: the
//! function in `conclusion` knows neither a clock nor a process. It takes the [`Evidence`] and
//! returns a [`Conclusion`], so that each rule is tested on evidence that is made up.
//!
//! | module | holds |
//! |---|---|
//! | [`request`] | the request, and the way from the first look to the advice |
//! | [`scope`] | the program: a command, or processes that run |
//! | [`look`] | a few seconds of watching and observing at once |
//! | [`evidence`] | what was seen, as figures |
//! | [`gain`] | how much of its time the program could save by seats at most |
//! | [`trial`] | seats in alternating periods, with the default as its own control |
//! | [`work`] | the work that a period is judged by |
//! | [`conclusion`] | the verdict that follows from the evidence |
//! | [`commands`] | the command to paste, and the one that undoes it |
//! | [`advice`] | `seatmap-advice/1`, all of it on file |
//! | [`error`] | why there is no advice |
#![deny(missing_docs)]

pub mod advice;
pub mod commands;
pub mod conclusion;
pub mod error;
pub mod evidence;
pub mod gain;
pub mod look;
pub mod request;
pub mod scope;
pub mod trial;
pub mod work;

pub use advice::Advice;
pub use conclusion::{AdviceVerdict, Conclusion, Reason};
pub use error::AdviseError;
pub use evidence::Evidence;
pub use request::{AdviceProgress, AdviceRequest, AdviceRun};
pub use scope::Scope;
