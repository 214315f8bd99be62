//! Tests of `machine` as other crates see it.

pub mod change;
mod formats;
mod hostile;
mod lstopo;
mod published;
mod published_machines;
mod round_trip;
