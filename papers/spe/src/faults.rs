//! Faults of SPU programs: loads and stores outside of the local store, and instructions that this
//! computer cannot execute.
//!
//! On the Cell every address leads into the local store: those beyond its end begin again at 0.
//! Here such an access faults, if nothing is mapped there. The handler lets the instruction have
//! the address in the store that the Cell would have used, in one step, and puts the register back.
//! Other faults stop the context: the thread leaves the program as if it had halted there.

use crate::spu::SpuState;

#[cfg(target_arch = "x86_64")]
mod machine;

/// Where a program lies while it runs.
#[derive(Clone, Copy, Debug)]
pub struct ProgramPlace {
    /// The SPU that runs it.
    pub spu: *mut SpuState,
    /// The store's address as the program sees it.
    pub base: u64,
    /// The store's address as others see it, where all of it can be written.
    pub effective: u64,
    /// How long the store is.
    pub bytes: u64,
    /// The end of the program's data, above which its stack lies.
    pub end: u64,
}

#[cfg(target_arch = "x86_64")]
pub use machine::{disposition, prepare, retake, running};

/// Nothing to prepare: faults end the process.
#[cfg(not(target_arch = "x86_64"))]
pub fn prepare() {}

/// Nothing to take.
#[cfg(not(target_arch = "x86_64"))]
pub fn retake() {}

/// Runs a program whose faults nobody takes.
#[cfg(not(target_arch = "x86_64"))]
pub fn running<T>(_: &ProgramPlace, run: impl FnOnce() -> T) -> T {
    run()
}
