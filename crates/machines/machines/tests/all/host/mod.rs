//! Tests of `host` as other crates see it.

mod hostile_dumps;
mod judge;
mod testbed;
mod topology;
mod written_topologies;
