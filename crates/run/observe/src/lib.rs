//! Finds out who talks to whom in an unmodified program, as a pattern that `place` can seat.
//!
//! | module | does |
//! |---|---|
//! | [`method`] | the ways to find out, and what each cannot see |
//! | [`observation`] | what one of them saw: tasks, and who talked to whom when |
#![deny(missing_docs)]

pub mod method;
pub mod observation;

pub use method::Method;
pub use observation::{Observation, Task, Window};
