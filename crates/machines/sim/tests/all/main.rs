//! All integration tests of `seatmap-sim` in one binary: one link instead of 10.

mod cell;
mod cell_reference;
mod coherent;
mod copies;
mod hierarchy;
mod litmus;
mod liu;
mod message_ring;
mod programs;
mod reference;
