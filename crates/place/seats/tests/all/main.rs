//! All integration tests of `seatmap-seats` in one binary: one link instead of 2.

mod examples;
mod line_homes;
