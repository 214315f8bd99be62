//! eBPF: small programs of ours that the kernel checks and runs at its tracepoints, or at functions
//! of other programs (bpf(2)).
//!
//! | module | gives |
//! |---|---|
//! | [`btf`] | where the fields of the running kernel's structures are |
//! | [`assembler`] | instructions, with labels to jump to |
//! | [`map`] | tables that the kernel's programs and this process share |
//! | [`program`] | loads a program, attaches it, and asks how long it ran |
//! | `probe` | attaches one to an instruction of a program's file |
//!
//! Nothing is pinned in a file system: each object lives as long as its descriptor, so that the
//! kernel removes all of it when this process ends, by SIGKILL too.

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
