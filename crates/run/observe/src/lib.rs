//! Finds out who talks to whom in an unmodified program, as a pattern that `place` can seat.
//!
//! | module | does |
//! |---|---|
//! | [`method`] | the ways to find out, and what each cannot see |
//! | [`observation`] | what one of them saw: tasks, and who talked to whom when |
//! | [`trace`], [`tsan`], [`mpi`] | the files of `libseatmap_trace`: of threads that share lines, of MPI ranks |
#![deny(missing_docs)]

pub mod method;
pub mod mpi;
pub mod observation;
pub mod trace;
pub mod tsan;

pub use method::Method;
pub use observation::{Observation, Task, Window};
