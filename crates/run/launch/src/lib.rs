//! Seats the threads of unmodified programs, and checks that they sit there.
//!
//! A thread inherits the affinity of its creator, and most programs never set it. The launcher sets
//! it from outside: it stops each new thread before its first instruction, gives it its CPU, and
//! lets it run. No library is preloaded, so that static programs and programs in every language are
//! seated alike. When the last seat is taken the launcher lets go of the program.
//!
//! The launcher watches a program for as long as any of its processes lives: a daemon's threads
//! stay on their seats long after the command that started it has ended. The process that traces is
//! therefore another one than the caller waits for ([`front`]).
//!
//! | module | does |
//! |---|---|
//! | [`request`] | seats and memory as a person means them, and as this computer has them |
//! | [`seats`], [`sets`] | the seats there are; how they are written |
//! | [`rule`] | which threads may take them |
//! | [`share`] | the part of the seats for this start, if a launcher starts several here |
//! | [`allocator`] | decides from the events of threads which one sits where; no system calls |
//! | `pinner` | carries the decisions out, and checks that they hold |
//! | `runtime`, `runtimes` | languages whose threads need other treatment; their programs |
//! | `tracer`, `tracee` | stops threads before their first instruction, by ptrace(2) |
//! | `watch` | finds names, late threads and changed masks through `/proc` |
//! | `allowance` | the limit on its own time |
//! | [`executable`], `child` | the program to run; the process that becomes it |
//! | `signals` | the signals that are passed on |
//! | [`launch`], [`attach`] | all of it: for a program that begins, and for one that runs |
//! | [`in_cell`], [`cell_watch`] | a program in a cell; the cell's end meanwhile |
//! | [`supervise`] | the process that seats the threads |
//! | [`front`] | the process in front of it, for which the caller waits |
//! | [`memory`], [`policies`] | where memory is to come from; the memory policy of each thread |
//! | `inject` | makes a thread set its policy |
//! | [`verifier`], [`pages`] | where the pages are; moves those of a program that runs |
//! | [`asks`] | compares the number of threads that a program is told with the seats there are |
//! | [`record`], [`threads`] | the facts about each thread |
//! | [`report`], `sentences` | the reports of them |
//! | [`lineage`] | how threads came to be: the paths by which a second run finds the same tasks |
//! | [`elsewhere`] | the time that a thread was away from its seat |
//! | `living` | the seating of a program that runs, shown to those who check it |
//! | [`neighbours`] | other runs with seats on the CPUs of this one |
//! | [`halted`] | programs that are stopped or frozen, so that they run nowhere |
//! | [`hampered`] | programs that tracing prevents from doing something |
//! | [`error`] | why the program could not start |
#![deny(missing_docs)]

pub mod allocator;
pub mod asks;
pub mod attach;
pub mod cell_watch;
pub mod elsewhere;
pub mod error;
pub mod executable;
pub mod front;
pub mod halted;
pub mod hampered;
pub mod in_cell;
pub mod launch;
mod leases;
pub mod lineage;
pub mod memory;
pub mod neighbours;
pub mod pages;
pub mod policies;
pub mod record;
pub mod report;
pub mod request;
pub mod rule;
pub mod seats;
pub mod sets;
pub mod share;
pub mod supervise;
pub mod threads;
pub mod verifier;

mod allowance;
mod child;
mod inject;
mod living;
mod pinner;
pub mod runtime;
mod runtimes;
mod sentences;
mod signals;
mod tracee;
mod tracer;
mod watch;

pub use allocator::SeatAllocator;
pub use attach::{AttachOutcome, AttachRequest, PageMove};
pub use error::LaunchError;
pub use executable::{Executable, ProgramError};
pub use hampered::Hampered;
pub use in_cell::run_in_cell;
pub use launch::{Launch, LaunchOptions, run};
pub use memory::{MemoryWish, ProgramMemory};
pub use report::{Behind, Report, SeatedThread};
pub use request::{GrantedSeats, SeatSource, SeatingError, SeatingRemark, SeatingRequest};
pub use rule::{RuleError, SeatRule};
pub use seatmap_os::Ending;
pub use seats::{Beyond, Seat, SeatList};
pub use signals::{ReceivedSignal, Signals};
pub use supervise::{ReturnsAt, RunListener, RunRequest};
