//! All integration tests of `seatmap-measure` in one binary: one link instead of 3.

mod busy;
mod published;
mod survey;
