//! All integration tests of `seatmap-ninep` in one binary: one link instead of 4.

mod guide;
mod hostile;
mod messages;
mod server;
