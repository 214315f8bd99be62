//! The method `wakeups`: which thread ended which thread's wait.

mod ebpf;
mod key;
mod layout;
mod perf;
mod programs;

pub use ebpf::{Ebpf, EbpfError};
pub use layout::FieldOffsets;
pub use perf::Perf;
pub use programs::{LOST_PAIRS, Tables, insert, look_up_process};
