//! Pinning, by bit masks of any length, verified.
//!
//! `cpu_set_t` stops at 1024 CPUs, and the kernel drops CPUs outside the cpuset without a word: both are seen to here. A
//! crate of its own, and the lowest, because libraries that seat threads should need nothing else; [`current`] tells where
//! the calling thread may run, and [`pin`] seats it.
#![deny(missing_docs)]

use std::io;

/// The kernel's masks are arrays of this word.
type Word = libc::c_ulong;

const WORD_BITS: usize = Word::BITS as usize;

/// Bytes at which growing a mask stops: room for 2^20 CPUs, beyond any kernel's `NR_CPUS`.
const LARGEST_MASK_BYTES: usize = 1 << 17;

/// The CPUs that the calling thread may run on, ascending.
///
/// # Errors
/// What the kernel says.
pub fn current() -> io::Result<Vec<u32>> {
    let mut words = vec![0; 1024 / WORD_BITS];
    loop {
        match get(&mut words) {
            Ok(()) => return Ok(members(&words)),
            // The kernel's own mask is longer than ours.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) && size_of_val(&*words) < LARGEST_MASK_BYTES => {
                words = vec![0; words.len() * 2];
            }
            Err(error) => return Err(error),
        }
    }
}

/// Seats the calling thread on exactly these CPUs, and checks that it took effect.
///
/// # Errors
/// What the kernel says, or `InvalidInput` where it accepted the call and then reports another mask: it drops CPUs
/// outside the cpuset without a word.
pub fn pin(cpus: &[u32]) -> io::Result<()> {
    let length = cpus.iter().max().map_or(1, |largest| *largest as usize / WORD_BITS + 1);
    let mut words: Vec<Word> = vec![0; length];
    for cpu in cpus {
        words[*cpu as usize / WORD_BITS] |= 1 << (*cpu as usize % WORD_BITS);
    }
    set(&words)?;
    let seated = current()?;
    match seated == members(&words) {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("asked for CPUs {}, the kernel gave {}", list(&members(&words)), list(&seated)),
        )),
    }
}

fn list(cpus: &[u32]) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

fn members(words: &[Word]) -> Vec<u32> {
    let bit = |at: usize| words[at / WORD_BITS] >> (at % WORD_BITS) & 1 == 1;
    (0..words.len() * WORD_BITS).filter(|at| bit(*at)).map(|at| at as u32).collect()
}

fn get(words: &mut [Word]) -> io::Result<()> {
    // SAFETY: the kernel writes at most `size_of_val(words)` bytes to `words`, which is that long and writable.
    let written = unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, size_of_val(words), words.as_mut_ptr()) };
    if written < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn set(words: &[Word]) -> io::Result<()> {
    // SAFETY: the kernel reads `size_of_val(words)` bytes from `words`, which is that long.
    let status = unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0, size_of_val(words), words.as_ptr()) };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
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

    #[test]
    fn bits_become_numbers() {
        assert_eq!(members(&[0b101, 1]), [0, 2, WORD_BITS as u32]);
    }
}
