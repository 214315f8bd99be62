//! All integration tests of `seatmap-host` in one binary: one link instead of five.

mod hostile_dumps;
mod judge;
mod primitives;
mod testbed;
mod topology;
mod written_topologies;
