//! Seats the threads of unmodified programs, and checks that they sit there.
//!
//! A thread inherits the affinity of its creator, and most programs never set it. Here it is set from outside: each new
//! thread is stopped before its first instruction, given its CPU, and let run. No library is preloaded, so that static
//! programs and those of every language are seated alike, and when the last seat is taken the program is let go.
//!
//! | module | does |
//! |---|---|
//! | [`seats`], [`rule`] | the seats there are, and who may take them |
//! | [`seating`] | decides who sits where, from what happens to threads, without a system call |
//! | [`mask`], [`task`] | affinity masks, and what `/proc` says of a thread |
//! | `usher` | carries the decisions out, and looks whether they hold |
//! | `gate`, `tracee` | stops threads before their first instruction, by ptrace(2) |
//! | `watch`, `allowance` | finds names, late threads and changed masks through `/proc`, with a limit on its own time |
//! | [`program`], `child`, `signals` | the program to run, the process that becomes it, and what is passed on to it |
//! | [`launch`], [`attach`] | all of it: for a program that begins, and for one that runs |
//! | [`record`], [`roll`], [`report`], `table` | what is known of each thread, and what is told of it |
//! | [`loader`] | whether a program opens libraries before it does anything |
//! | [`hampered`] | programs that tracing keeps from something |
//! | [`ending`] | how the program ended, and how to end alike |
#![deny(missing_docs)]

pub mod attach;
pub mod ending;
pub mod error;
pub mod hampered;
pub mod launch;
pub mod loader;
pub mod program;
pub mod record;
pub mod report;
pub mod roll;
pub mod rule;
pub mod seating;
pub mod seats;
pub mod task;

mod allowance;
mod child;
mod gate;
mod signals;
mod table;
mod tracee;
mod usher;
mod watch;

pub use attach::seat_running;
pub use ending::Ending;
pub use error::LaunchError;
pub use hampered::Hampered;
pub use launch::run;
pub use program::{Program, ProgramError};
pub use report::{Report, Thread};
pub use rule::{Rule, RuleError};
pub use seating::Seating;
pub use seatmap_host::mask;
pub use seats::{Beyond, Seats};
