//! The method `wakeups`: which thread ended which thread's wait.
//!
//! | module | does |
//! |---|---|
//! | `layout` | the offsets of fields in the kernel's structures |
//! | `programs` | the eBPF programs |
//! | `key` | one kind of wakeup, as the programs count it |
//! | `ebpf` | loads the programs, and reads their counts |
//! | `perf` | reads the kernel's records instead, if eBPF is not permitted |

mod ebpf;
mod key;
mod layout;
mod perf;
mod programs;

pub(crate) use ebpf::{Ebpf, EbpfMethods};
pub(crate) use layout::FieldOffsets;
pub(crate) use perf::Perf;
pub(crate) use programs::{LOST_PAIRS, Tables, insert, look_up_process};
