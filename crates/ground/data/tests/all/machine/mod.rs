//! Tests of `machine` as other crates see it.

mod formats;
mod full_pu;
mod hostile;
mod lstopo;
mod published;
mod published_machines;
mod round_trip;
