//! Tests of `machine` as other crates see it.

pub mod change;
mod formats;
pub mod full_pu;
mod hostile;
mod lstopo;
mod published;
mod published_machines;
mod round_trip;
