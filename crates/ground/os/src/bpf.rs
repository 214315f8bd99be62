//! eBPF: small programs that the kernel verifies and runs at its tracepoints, or at instructions of
//! other programs (bpf(2)).
//!
//! | module | contents |
//! |---|---|
//! | [`btf`] | offsets of kernel structure fields |
//! | [`assembler`] | instructions and labels |
//! | [`map`] | tables shared by kernel programs and this process |
//! | [`program`] | loads and attaches programs, and reads their run time |
//! | `probe` | attaches a program to an instruction of a file |
//!
//! Nothing is pinned in a file system, so the kernel removes all objects when this process ends,
//! even by SIGKILL.

pub mod assembler;
pub mod btf;
mod call;
pub mod map;
mod probe;
pub mod program;

pub use assembler::{Assembler, AssemblyError};
pub use btf::{Btf, BtfError};
pub use map::{Map, room_for_threads};
pub use program::{AttachedProgram, EbpfLink, EbpfProgram, LoadError, RunTime, Statistics};
