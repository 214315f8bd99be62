//! The CPUID instruction, with which an x86 processor describes itself.

use std::arch::x86_64::{__cpuid, CpuidResult};

/// The words of a leaf (Intel SDM vol. 2A; AMD APM vol. 3), meaningless beyond the largest leaf.
#[allow(unused_unsafe, reason = "the function is safe from Rust 1.94 on")]
pub fn leaf(number: u32) -> CpuidResult {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { __cpuid(number) }
}
