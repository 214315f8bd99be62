//! Finds out who talks to whom in an unmodified program, as a pattern that `place` can seat.
//!
//! | module | does |
//! |---|---|
//! | [`request`], [`observed`] | an observation as it is meant; what came of it |
//! | [`session`] | one observation, from its begin to what was seen |
//! | [`subject`], [`command`] | the observed program: a command, processes, a control group |
//! | [`method`] | the ways to find out, and what each cannot see |
//! | [`kind`] | the ways in which threads wait |
//! | `source`, `talk` | something that sees talk, and how it reports it |
//! | `goroutines` | programs of Go, whose goroutines the kernel does not see |
//! | `wakeups` | the kernel's events of waking |
//! | `outsiders` | processes outside the program that wake it |
//! | [`wakes`] | who wakes whom in a program that is looked at again and again |
//! | `sockets` | bytes over pipes and sockets |
//! | `native` | numbers in records of the kernel |
//! | `names` | names that a second run finds again |
//! | `roster` | the threads seen so far, by name and path |
//! | `windows` | their talk by stretches of time |
//! | [`observation`] | what was seen |
//! | [`mod@phases`] | stretches in which the pattern does not change |
//! | [`document`] | what was seen, as a file |
//! | [`error`] | why a program could not be observed |
//! | [`report`] | programs that report on themselves, through `libseatmap_trace` or `preload` |
//! | [`preload`] | the library that ranks of MPI load; its source is in the folder `preload` |
//! | [`trace`], [`tsan`] | the files of programs whose threads share lines |
//! | [`mpi`] | the files of MPI ranks |
//! | [`c2c`] | the recordings of perf(1): lines that threads share, as the processor samples them |
#![deny(missing_docs)]

pub mod c2c;
pub mod command;
pub mod document;
pub mod error;
mod goroutines;
pub mod kind;
pub mod method;
pub mod mpi;
mod names;
mod native;
pub mod observation;
pub mod observed;
mod outsiders;
pub mod phases;
pub mod preload;
pub mod report;
pub mod request;
mod roster;
pub mod session;
mod sockets;
mod source;
pub mod subject;
mod talk;
pub mod trace;
pub mod tsan;
pub mod wakes;
mod wakeups;
mod windows;

// The library that ranks load, so that its source is checked like any other.
#[cfg(test)]
extern crate alloc;
#[cfg(test)]
#[path = "../preload/parts.rs"]
mod parts;

pub use command::SubjectCommand;
pub use document::ObservationDocument;
pub use error::ObserveError;
pub use kind::TalkKind;
pub use method::Method;
pub use observation::{Observation, ObservedTask, PairMessages, Window};
pub use observed::{ObservationOutcome, Sighting};
pub use phases::Phase;
pub use report::{ReportMethod, ReportRequest};
pub use request::{ObserveRequest, WatchRequest};
pub use session::{ObservationEnd, ObservationSession, TracingMechanism};
pub use subject::Subject;
