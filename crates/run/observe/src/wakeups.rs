//! The method `wakeups`: which thread ended which thread's wait.
//!
//! | module | does |
//! |---|---|
//! | `layout` | where the fields of the kernel's structures are |
//! | `programs` | the programs that run in the kernel |
//! | `key` | one kind of wakeup, as the programs count it |
//! | `ebpf` | loads them, and reads their counts |
//! | `perf` | reads the kernel's records instead, where eBPF is not allowed |

mod ebpf;
mod key;
mod layout;
mod perf;
mod programs;

pub(crate) use ebpf::{Ebpf, EbpfMethods};
pub(crate) use layout::FieldOffsets;
pub(crate) use perf::Perf;
pub(crate) use programs::{LOST_PAIRS, Tables, insert, look_up_process};
