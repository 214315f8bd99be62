//! Observes the communication of an unmodified program's threads, as a pattern that `place` can
//! seat.
//!
//! | module | does |
//! |---|---|
//! | [`request`], `observed` | a request; its outcome |
//! | `session` | one observation |
//! | [`subject`], [`command`] | the observed program |
//! | `method` | the methods |
//! | `kind` | the ways in which threads wait |
//! | `source`, `talk` | a source of messages |
//! | `goroutines` | Go programs |
//! | `wakeups` | the kernel's wakeup events |
//! | `outsiders` | processes outside the program that wake it |
//! | [`wakes`] | wakeups for repeated looks |
//! | `sockets` | bytes over pipes and sockets |
//! | `native` | numbers in kernel records |
//! | `names` | names that a second run finds again |
//! | `roster` | the observed threads |
//! | `windows` | messages by window of time |
//! | `observation` | the result |
//! | `phases` | periods with a constant pattern |
//! | `document` | the result as a file |
//! | `error` | why a program could not be observed |
//! | [`report`] | programs that report on themselves |
//! | [`preload`] | the library that MPI ranks load |
//! | [`trace`], [`tsan`] | traces of memory accesses |
//! | [`mpi`] | the files of MPI ranks |
//! | [`c2c`] | recordings of perf(1) |
#![deny(missing_docs)]

pub mod c2c;
pub mod command;
mod document;
mod error;
mod goroutines;
mod kind;
mod method;
pub mod mpi;
mod names;
mod native;
mod observation;
mod observed;
mod outsiders;
mod phases;
pub mod preload;
pub mod report;
pub mod request;
mod roster;
mod session;
mod sockets;
mod source;
pub mod subject;
mod talk;
pub mod trace;
pub mod tsan;
pub mod wakes;
mod wakeups;
mod windows;

// Included here so that its source is checked like any other.
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
