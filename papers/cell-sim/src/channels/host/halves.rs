//! Atomic read-modify-write of 32 bits of a 64-bit word, with x86-64's instructions.
//!
//! While threads run, Rust does not allow atomics of different sizes on the same bytes, and memory
//! here consists of 64-bit words. The processor keeps locked accesses of all sizes in one order
//! (Intel SDM vol. 3A, 9.1.2.2).

use std::arch::asm;
use std::sync::atomic::AtomicU64;

#[inline(always)]
pub fn fetch_add(word: &AtomicU64, is_upper: bool, mut value: u32) -> u32 {
    let at = half(word, is_upper);
    // SAFETY: the half is in a word that outlives the instruction and that all threads access only
    // atomically; the instruction changes these four bytes, one register and the flags.
    unsafe {
        asm!(
            "lock xadd dword ptr [{at}], {value:e}",
            at = in(reg) at, value = inout(reg) value, options(nostack)
        )
    };
    value
}

#[inline(always)]
pub fn swap(word: &AtomicU64, is_upper: bool, mut value: u32) -> u32 {
    let at = half(word, is_upper);
    // SAFETY: as above; XCHG with memory locks by itself.
    unsafe {
        asm!(
            "xchg dword ptr [{at}], {value:e}",
            at = in(reg) at, value = inout(reg) value, options(nostack)
        )
    };
    value
}

/// The lower half comes first in memory.
#[inline(always)]
fn half(word: &AtomicU64, is_upper: bool) -> *mut u32 {
    word.as_ptr().cast::<u32>().wrapping_add(usize::from(is_upper))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn operation_changes_only_its_half() {
        let word = AtomicU64::new(0x1111_1111_ffff_ffff);
        assert_eq!(fetch_add(&word, false, 2), 0xffff_ffff);
        assert_eq!(word.load(Ordering::Relaxed), 0x1111_1111_0000_0001);
        assert_eq!(fetch_add(&word, true, u32::MAX), 0x1111_1111);
        assert_eq!(word.load(Ordering::Relaxed), 0x1111_1110_0000_0001);
        assert_eq!((swap(&word, true, 7), swap(&word, false, 8)), (0x1111_1110, 1));
        assert_eq!(word.load(Ordering::Relaxed), 7 << 32 | 8);
    }

    #[test]
    fn concurrent_additions_lose_nothing() {
        let word = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for is_upper in [false, true, false, true] {
                let word = &word;
                scope.spawn(move || (0..10_000).for_each(|_| _ = fetch_add(word, is_upper, 3)));
            }
        });
        assert_eq!(word.load(Ordering::Relaxed), 60_000 << 32 | 60_000);
    }
}
