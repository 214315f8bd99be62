//! Seats the threads of unmodified programs, and checks that they stay there.
//!
//! A thread inherits its creator's affinity, and most programs never set it. The launcher sets it
//! from outside: it stops each new thread before its first instruction, sets its mask, and resumes
//! it. It preloads no library, so it can seat static programs and programs in every language. When
//! the last seat is taken, it releases the program.
//!
//! | module | does |
//! |---|---|
//! | [`request`] | seats and memory as requested, and on this computer |
//! | `seats`, [`sets`] | seats; their notation |
//! | [`count`], [`named`] | how many threads fit; the CPUs that words name |
//! | [`notation`] | a set of CPUs, as other programs write it |
//! | `fit` | lets a program see the CPUs that it gets |
//! | [`rule`] | which threads take them |
//! | [`share`] | this start's seats among several |
//! | `allocator` | decides which thread gets which seat |
//! | `pinner` | pins threads, and checks that they stay |
//! | [`runtime`], `runtimes` | language runtimes and their settings; their programs |
//! | `tracer`, `tracee` | stops threads by ptrace(2) |
//! | `watch` | looks through `/proc` |
//! | `allowance` | limits its own time |
//! | `executable`, `child` | the program to run; the process that becomes it |
//! | `signals` | forwarded signals |
//! | [`launch`], [`attach`] | seats a new program; a running one |
//! | `in_cell`, `cell_watch` | a program in a cell; the cell's end |
//! | `supervise` | the process that seats the threads |
//! | [`front`] | the process for which the caller waits |
//! | `memory`, [`policies`] | the source of memory; each thread's policy |
//! | `inject` | makes a thread set its policy |
//! | [`verifier`], `pages` | finds pages; moves those of a running program |
//! | [`asks`] | compares requested threads with seats |
//! | `record`, [`threads`] | the facts about each thread |
//! | [`report`], `sentences` | the reports of them |
//! | [`lineage`] | paths of tasks |
//! | `elsewhere` | a thread's time away from its seat |
//! | `living` | publishes a running program's seating |
//! | [`neighbours`] | other runs with seats on the same CPUs |
//! | [`halted`] | stopped or frozen programs |
//! | `hampered` | programs hampered by tracing |
//! | `error` | why the program could not start |
#![deny(missing_docs)]

mod allocator;
pub mod asks;
pub mod attach;
mod cell_watch;
pub mod count;
mod elsewhere;
mod error;
mod executable;
mod fit;
pub mod front;
pub mod halted;
mod hampered;
mod in_cell;
pub mod launch;
mod leases;
pub mod lineage;
mod memory;
pub mod named;
pub mod neighbours;
pub mod notation;
mod pages;
pub mod policies;
mod record;
pub mod report;
pub mod request;
pub mod rule;
mod seats;
pub mod sets;
pub mod share;
mod supervise;
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
pub use fit::{CpuFit, CpuFitError, CpuFitReport};
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
