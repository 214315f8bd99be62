//! Seats the threads of unmodified programs, and checks that they sit there.
//!
//! A thread inherits the affinity of its creator, and most programs never set it. Here it is set from outside: each new
//! thread is stopped before its first instruction, given its CPU, and let run. No library is preloaded, so that static
//! programs and those of every language are seated alike, and when the last seat is taken the program is let go.
//!
//! A program is watched for as long as any of it lives: a daemon's threads sit where they should long after the command
//! that started it has ended. The process that traces is therefore another one than the caller waits for ([`front`]).
//!
//! | module | does |
//! |---|---|
//! | [`seats`], [`sets`], [`rule`] | the seats there are, how they are written, and which threads may take them |
//! | [`seating`] | decides which thread sits where, from what happens to threads, without a system call |
//! | [`mask`], [`task`] | affinity masks, and what `/proc` says of a thread |
//! | `pinner` | carries the decisions out, and looks whether they hold |
//! | `runtime` | which languages' threads need another treatment |
//! | `tracer`, `tracee` | stops threads before their first instruction, by ptrace(2) |
//! | `watch`, `allowance` | finds names, late threads and changed masks through `/proc`, with a limit on its own time |
//! | [`program`], `child`, `signals` | the program to run, the process that becomes it, and what is passed on to it |
//! | [`launch`], [`attach`] | all of it: for a program that begins, and for one that runs |
//! | [`front`] | the process that the caller waits for, in front of the one that traces |
//! | [`asks`] | what a program is told of its number of threads, against the seats there are |
//! | [`record`], [`threads`], [`report`], `table` | what is known of each thread, and what is told of it |
//! | [`loader`] | whether a program opens libraries before it does anything |
//! | [`hampered`] | programs that tracing keeps from something |
//! | [`ending`] | how the program ended, and how to end alike |
#![deny(missing_docs)]

pub mod asks;
pub mod attach;
pub mod ending;
pub mod error;
pub mod front;
pub mod hampered;
pub mod launch;
pub mod loader;
pub mod program;
pub mod record;
pub mod report;
pub mod rule;
pub mod seating;
pub mod seats;
pub mod sets;
pub mod threads;

mod allowance;
mod child;
mod pinner;
mod runtime;
mod signals;
mod table;
mod tracee;
mod tracer;
mod watch;

pub use attach::seat_running;
pub use ending::Ending;
pub use error::LaunchError;
pub use hampered::Hampered;
pub use launch::{Launch, Options, run};
pub use program::{Program, ProgramError};
pub use report::{Behind, Report, Thread};
pub use rule::{Rule, RuleError};
pub use seating::Seating;
pub use seats::{Beyond, Seat, Seats};
