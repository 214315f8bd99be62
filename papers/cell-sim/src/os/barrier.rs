//! Memory fences that are cheap on one side: `membarrier(2)`.
//!
//! If two threads each set a flag and then read the other's, both need a fence between the two
//! steps. If one side does this far more often, the rare side can pay for both: the kernel makes
//! every running thread of the process execute a fence.

use std::sync::OnceLock;
use std::sync::atomic::{Ordering, compiler_fence, fence};

/// The commands of the kernel (`linux/membarrier.h`).
const REGISTER: libc::c_int = 1 << 4;
const EXPEDITED: libc::c_int = 1 << 3;

fn command(command: libc::c_int) -> bool {
    // SAFETY: takes numbers only.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

fn has_help() -> bool {
    static HELPS: OnceLock<bool> = OnceLock::new();
    *HELPS.get_or_init(|| command(REGISTER))
}

/// The frequent side's fence: only a compiler fence if the kernel has `membarrier`.
#[inline]
pub fn light() {
    if has_help() { compiler_fence(Ordering::SeqCst) } else { fence(Ordering::SeqCst) }
}

/// The rare side's fence: when it returns, every other thread has executed a fence too.
pub fn heavy() {
    fence(Ordering::SeqCst);
    if has_help() {
        let done = command(EXPEDITED);
        debug_assert!(done, "the kernel has registered the process");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn at_least_one_side_sees_the_other() {
        const ROUNDS: usize = 300;
        let flags: Vec<[AtomicBool; 2]> = (0..ROUNDS).map(|_| Default::default()).collect();
        let begin = &Barrier::new(2);
        let side = |own: usize, order: fn()| {
            let looks = flags.iter().map(move |flags| {
                begin.wait();
                flags[own].store(true, Ordering::Relaxed);
                order();
                flags[1 - own].load(Ordering::Relaxed)
            });
            looks.collect::<Vec<bool>>()
        };
        let (frequent, rare) = std::thread::scope(|scope| {
            let frequent = scope.spawn(|| side(0, light));
            (side(1, heavy), frequent.join().unwrap())
        });
        assert!(frequent.iter().zip(&rare).all(|(one, other)| *one || *other));
    }
}
