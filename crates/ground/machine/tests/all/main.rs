//! All integration tests of `seatmap-machine` in one binary: one link instead of 6.

mod formats;
mod full_pu;
mod hostile;
mod lstopo;
mod published;
mod published_machines;
mod round_trip;
