//! All integration tests of `seatmap-plan` in one binary: one link instead of 2.

mod formats;
#[path = "../../../machine/tests/all/full_pu.rs"]
mod full_pu;
mod round_trip;
