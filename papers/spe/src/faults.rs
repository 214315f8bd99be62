//! Handles faults of SPU programs: accesses outside of the local store, and instructions that this
//! computer cannot execute.
//!
//! On the Cell, addresses wrap around in the local store. Here such an access faults if nothing is
//! mapped there, and the handler runs the instruction once with the wrapped address. Other faults
//! stop the context as if the program had halted there.

use crate::spu::SpuState;

#[cfg(target_arch = "x86_64")]
mod machine;

/// A running program's place.
#[derive(Clone, Copy, Debug)]
pub struct ProgramPlace {
    /// The SPU that runs it.
    pub spu: *mut SpuState,
    /// The store's address for the program.
    pub base: u64,
    /// The store's address for others, all writable.
    pub effective: u64,
    /// The store's size.
    pub bytes: u64,
    /// The end of the program's data, above which its stack is.
    pub end: u64,
}

#[cfg(target_arch = "x86_64")]
pub use machine::{disposition, prepare, retake, running};

/// Does nothing: faults end the process.
#[cfg(not(target_arch = "x86_64"))]
pub fn prepare() {}

/// Does nothing.
#[cfg(not(target_arch = "x86_64"))]
pub fn retake() {}

/// Runs a program without handling its faults.
#[cfg(not(target_arch = "x86_64"))]
pub fn running<T>(_: &ProgramPlace, run: impl FnOnce() -> T) -> T {
    run()
}
