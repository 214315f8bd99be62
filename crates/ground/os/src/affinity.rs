//! Pinning of the calling thread, verified.

use crate::CpuSet;
use std::io;

/// The CPUs that the calling thread may run on, ascending.
///
/// # Errors
/// The kernel's error.
pub fn current() -> io::Result<Vec<u32>> {
    Ok(CpuSet::of_thread(0)?.iter().collect())
}

/// Restricts the calling thread to exactly these CPUs, and checks that this took effect.
///
/// # Errors
/// The kernel's error, or `InvalidInput` where it accepted the call and then reports another mask: it drops CPUs
/// outside the cpuset without a word.
pub fn pin(cpus: &[u32]) -> io::Result<()> {
    let wanted: CpuSet = cpus.iter().copied().collect();
    wanted.give(0)?;
    let seated = CpuSet::of_thread(0)?;
    match seated == wanted {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("asked for CPUs {wanted}, the kernel gave {seated}"),
        )),
    }
}

/// The CPU that the calling thread is on at this moment.
#[must_use]
pub fn current_cpu() -> u32 {
    // SAFETY: takes no arguments; it returns -1 on failure, a number that no CPU has.
    unsafe { libc::sched_getcpu() as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a thread of its own, so that the test runner's keeps its mask.
    fn aside<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| scope.spawn(work).join().unwrap())
    }

    #[test]
    fn a_pinned_thread_sits_on_its_cpu() {
        let cpu = current().unwrap()[0];
        assert_eq!(aside(|| pin(&[cpu]).and_then(|()| current()).unwrap()), [cpu]);
    }

    #[test]
    fn a_cpu_that_no_machine_has_is_refused() {
        assert!(aside(|| pin(&[500_000])).is_err());
        assert!(aside(|| pin(&[])).is_err());
    }

    #[test]
    fn a_mask_that_takes_effect_only_in_part_is_refused() {
        let cpu = current().unwrap()[0];
        let error = aside(|| pin(&[cpu, 4000])).unwrap_err().to_string();
        assert!(error.contains("asked for CPUs"), "{error}");
    }
}
