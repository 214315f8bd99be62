//! All integration tests of `seatmap-pattern` in one binary: one link instead of 2.

mod formats;
mod hostile;
