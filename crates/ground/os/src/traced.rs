//! Facts that a tracer needs before it makes a thread act.

use crate::Tid;
use crate::small;
use std::fs;
use std::io;
use std::io::Read;

/// `AT_SYSINFO_EHDR` of getauxval(3): the key of the vDSO's address.
const VDSO: u64 = 33;

/// Enough for most threads; 65536 groups (`NGROUPS_MAX`) take 700 KB.
const STATUS_BYTES: usize = 16384;

/// A thread's seccomp filters, which can refuse a system call or kill the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeccompFilters {
    /// 0: none, 1: strict mode, 2: filters.
    mode: u32,
    /// Number of filters; 0 before Linux 5.9, which does not report it.
    count: u32,
}

/// A thread's `status` file, source of the facts below; `None` if it has exited.
pub fn status(tid: Tid) -> Option<String> {
    let bytes = whole(fs::File::open(format!("/proc/{tid}/status")).ok()?).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Usually with one call, because the thread is stopped; a full buffer means that more follows.
fn whole(mut file: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; STATUS_BYTES];
    let mut length = 0;
    loop {
        length += file.read(&mut bytes[length..])?;
        if length < bytes.len() {
            bytes.truncate(length);
            return Ok(bytes);
        }
        bytes.resize(2 * length, 0);
    }
}

impl SeccompFilters {
    /// A thread's filters from its `status`; `None` if the kernel does not distinguish filters.
    pub fn read(status: &str) -> Option<Self> {
        let mode = small::value_of(status, "Seccomp").map_or(Some(0), |text| text.parse().ok())?;
        let count = small::value_of(status, "Seccomp_filters").and_then(|text| text.parse().ok());
        match (mode, count) {
            (0, _) => Some(SeccompFilters { mode, count: 0 }),
            (_, Some(count)) => Some(SeccompFilters { mode, count }),
            // Two threads may have different filters.
            (_, None) => None,
        }
    }
}

/// Whether a process ignores a signal, from its `status`; assumed if unknown.
pub fn ignores(status: &str, signal: i32) -> bool {
    let ignored =
        small::value_of(status, "SigIgn").and_then(|mask| u64::from_str_radix(&mask, 16).ok());
    ignored.is_none_or(|mask| mask >> (signal - 1) & 1 == 1)
}

/// The address of the vDSO, the kernel's code in every process.
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
    fn seccomp_filters_are_compared_by_mode_and_count() {
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

    /// Filter lines follow the group line: truncated, they would read as no filter.
    #[test]
    fn status_with_many_groups_is_read_whole() {
        let groups = "4294967295 ".repeat(3000);
        let text = format!("Groups:\t{groups}\nSeccomp:\t2\nSeccomp_filters:\t1\n");
        let read = String::from_utf8(whole(text.as_bytes()).unwrap()).unwrap();
        assert_eq!(read, text);
        let filters = SeccompFilters { mode: 2, count: 1 };
        assert_eq!(SeccompFilters::read(&read), Some(filters));
        for length in [0, STATUS_BYTES - 1, STATUS_BYTES, STATUS_BYTES + 1] {
            assert_eq!(whole(&vec![b'x'; length][..]).unwrap().len(), length);
        }
    }

    #[test]
    fn ignored_signals_are_detected() {
        let own = status(std::process::id() as Tid).unwrap();
        assert!(
            !ignores(&own, libc::SIGTRAP) && ignores(&own, libc::SIGPIPE),
            "Rust ignores SIGPIPE"
        );
        assert!(ignores("", libc::SIGTRAP), "nothing is known");
    }

    #[test]
    fn vdso_address_points_to_an_elf_library() {
        let Some(address) = vdso(std::process::id() as Tid) else {
            return seatmap_needs::skipped!("no vDSO here");
        };
        // SAFETY: the vDSO is mapped as long as the process lives, and has at least four bytes.
        let beginning = unsafe { *std::ptr::with_exposed_provenance::<[u8; 4]>(address as usize) };
        assert_eq!(&beginning, b"\x7fELF");
    }
}
