//! All integration tests of `seatmap-plan` in one binary: one link instead of 2.

mod formats;
mod round_trip;
