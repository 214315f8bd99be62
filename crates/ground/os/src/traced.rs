//! Facts about a thread that a tracer asks for before it makes the thread do something.

use crate::Tid;
use crate::small;
use std::fs;
use std::io::Read;

/// The key of the vDSO's address in a process's auxiliary vector (`AT_SYSINFO_EHDR`, getauxval(3)).
const VDSO: u64 = 33;

/// More than the kernel writes about a thread, its node mask of 1024 bits and its groups included.
const STATUS_BYTES: usize = 16384;

/// The seccomp filters of a thread: they can refuse a system call, or end the program for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeccompFilters {
    /// 0 means none, 1 the strict mode, 2 filters.
    mode: u32,
    /// The number of filters; 0 before Linux 5.9, which does not say.
    count: u32,
}

/// The `status` file of a thread, as text; `None` where it has gone. The facts below are read from
/// it.
#[must_use]
pub fn status(tid: Tid) -> Option<String> {
    // One read for all of it: the thread waits meanwhile.
    let mut bytes = vec![0; STATUS_BYTES];
    let length = fs::File::open(format!("/proc/{tid}/status")).ok()?.read(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

impl SeccompFilters {
    /// The filters of a thread, from its `status`; `None` where the kernel does not tell filters
    /// apart.
    #[must_use]
    pub fn read(status: &str) -> Option<Self> {
        let mode = small::value_of(status, "Seccomp").map_or(Some(0), |text| text.parse().ok())?;
        let count = small::value_of(status, "Seccomp_filters").and_then(|text| text.parse().ok());
        match (mode, count) {
            (0, _) => Some(SeccompFilters { mode, count: 0 }),
            (_, Some(count)) => Some(SeccompFilters { mode, count }),
            // Two threads under filters may have different ones.
            (_, None) => None,
        }
    }
}

/// Whether a thread's process ignores a signal, from its `status`; true where that does not say.
#[must_use]
pub fn ignores(status: &str, signal: i32) -> bool {
    let ignored =
        small::value_of(status, "SigIgn").and_then(|mask| u64::from_str_radix(&mask, 16).ok());
    ignored.is_none_or(|mask| mask >> (signal - 1) & 1 == 1)
}

/// The address of the vDSO, the kernel's own code in every process; `None` where there is none.
#[must_use]
pub fn vdso(tid: Tid) -> Option<u64> {
    let vector = fs::read(format!("/proc/{tid}/auxv")).ok()?;
    let (words, _) = vector.as_chunks::<8>();
    let words: Vec<u64> = words.iter().map(|word| u64::from_ne_bytes(*word)).collect();
    words.as_chunks::<2>().0.iter().find(|[key, _]| *key == VDSO).map(|[_, address]| *address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_told_apart_where_the_kernel_counts_them() {
        let read = |text: &str| SeccompFilters::read(text);
        assert_eq!(read("Seccomp:\t0\n"), read("Name: x\n"));
        assert_eq!(
            read("Seccomp:\t2\nSeccomp_filters:\t1\n"),
            Some(SeccompFilters { mode: 2, count: 1 })
        );
        assert_ne!(
            read("Seccomp:\t2\nSeccomp_filters:\t1\n"),
            read("Seccomp:\t2\nSeccomp_filters:\t2\n")
        );
        assert_eq!(read("Seccomp:\t2\n"), None);
        assert_eq!(status(Tid::MAX), None);
    }

    #[test]
    fn signals_that_are_ignored_are_known() {
        let own = status(std::process::id() as Tid).unwrap();
        assert!(
            !ignores(&own, libc::SIGTRAP) && ignores(&own, libc::SIGPIPE),
            "Rust ignores SIGPIPE"
        );
        assert!(ignores("", libc::SIGTRAP), "nothing is known");
    }

    #[test]
    fn the_vdso_is_a_library() {
        let Some(address) = vdso(std::process::id() as Tid) else {
            return seatmap_needs::skipped!("no vDSO here");
        };
        // SAFETY: the kernel maps the vDSO for as long as the process lives, and four bytes are its
        // file's beginning.
        let beginning = unsafe { *std::ptr::with_exposed_provenance::<[u8; 4]>(address as usize) };
        assert_eq!(&beginning, b"\x7fELF");
    }
}
