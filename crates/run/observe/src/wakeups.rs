//! The method `wakeups`: which thread ended which thread's wait.

mod ebpf;
mod key;
mod layout;
mod perf;
mod programs;

pub(crate) use ebpf::{Ebpf, EbpfMethods};
pub(crate) use layout::FieldOffsets;
pub(crate) use perf::Perf;
pub(crate) use programs::{LOST_PAIRS, Tables, insert, look_up_process};
