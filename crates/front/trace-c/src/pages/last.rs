//! The end of a program whose main thread ends before the others.
//!
//! A process ends with its last thread, and the C library then calls `exit` (pthread_exit(3)),
//! which writes out what the program has printed. The thread that samples is one thread more: the
//! process would never end. So threads of the program are counted, and the last one to end calls
//! `exit` in the C library's place, on its own table of files. A main thread that ended by the bare
//! system call is counted for ever, as the C library does; there, and wherever the count is not
//! known, the thread that samples ends by itself once all other threads have.

use super::robust;
use crate::pages;
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};

/// Threads of the program that have not ended, the main one included.
static LIVING: AtomicUsize = AtomicUsize::new(1);
/// Whether a thread was created that is not counted.
static HAS_UNCOUNTED: AtomicBool = AtomicBool::new(false);
/// The key whose destructor runs at a thread's end, plus 1; 0 before there is one.
static END_KEY: AtomicU32 = AtomicU32::new(0);

/// Rounds of destructors at a thread's end (`PTHREAD_DESTRUCTOR_ITERATIONS` of the C library).
const ROUNDS: usize = 4;

/// Bytes for the names of some threads, and for the beginning of a thread's `stat`.
const LISTED_BYTES: usize = 1024;
const STAT_BYTES: usize = 128;

/// Begins to count, in the main thread.
pub fn begin() {
    let mut key = 0;
    // SAFETY: the key is written to a local variable; the destructor is a function of this library.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(end)) } == 0 {
        END_KEY.store(key + 1, Release);
        enter();
    }
}

/// A thread that is not counted is about to be created.
pub fn pass() {
    HAS_UNCOUNTED.store(true, Release);
}

/// A thread is about to be created.
pub fn add() {
    LIVING.fetch_add(1, AcqRel);
}

/// It was not.
pub fn drop_one() {
    LIVING.fetch_sub(1, AcqRel);
}

/// The calling thread is to be seen to end.
pub fn enter() {
    again(1);
}

/// Has the destructor run in the next round.
fn again(round: usize) {
    let key = END_KEY.load(Acquire);
    if key != 0 {
        // SAFETY: the key exists; its value is a number that only `end` reads.
        unsafe {
            libc::pthread_setspecific(key - 1, std::ptr::without_provenance::<c_void>(round))
        };
    }
}

/// A thread ends. In the last round of destructors, those of the program have run.
extern "C" fn end(round: *mut c_void) {
    let round = round.addr();
    if round < ROUNDS {
        return again(round + 1);
    }
    if pages::is_active() {
        robust::keep();
    }
    let is_last = LIVING.fetch_sub(1, AcqRel) == 1;
    if is_last && pages::is_active() && !HAS_UNCOUNTED.load(Acquire) {
        // SAFETY: this is the last thread of the program, as where the C library calls it.
        unsafe { libc::exit(0) };
    }
}

/// Whether every thread but the calling one has ended. It allocates nothing: the heap may be away.
pub fn is_alone() -> bool {
    // SAFETY: the path is a C string.
    let folder = unsafe {
        libc::open(
            c"/proc/self/task".as_ptr(),
            libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC,
        )
    };
    if folder < 0 {
        return false;
    }
    let is_alone = all_have_ended(folder);
    // SAFETY: the descriptor was opened above.
    unsafe { libc::close(folder) };
    is_alone
}

fn all_have_ended(folder: c_int) -> bool {
    #[repr(align(8))]
    struct Listed([u8; LISTED_BYTES]);
    let mut listed = Listed([0; LISTED_BYTES]);
    // SAFETY: the call has no preconditions.
    let own = unsafe { libc::gettid() };
    loop {
        // SAFETY: the kernel writes at most this many bytes to a place that holds them.
        let got = unsafe {
            libc::syscall(libc::SYS_getdents64, folder, listed.0.as_mut_ptr(), LISTED_BYTES)
        };
        let Some(mut rest) = usize::try_from(got).ok().and_then(|bytes| listed.0.get(..bytes))
        else {
            return false;
        };
        if rest.is_empty() {
            return true;
        }
        while let Some((entry, after)) = first(rest) {
            rest = after;
            let is_other = number(entry).is_some_and(|tid| tid != own);
            if is_other && !has_ended(folder, entry) {
                return false;
            }
        }
    }
}

/// The name of the first entry with its final zero (getdents64(2)), and the entries after it.
fn first(entries: &[u8]) -> Option<(&[u8], &[u8])> {
    const NAME_AT: usize = 19;
    let length = usize::from(u16::from_ne_bytes([*entries.get(16)?, *entries.get(17)?]));
    let (entry, after) = entries.split_at_checked(length)?;
    let name = entry.get(NAME_AT..)?;
    let zero = name.iter().position(|byte| *byte == 0)?;
    Some((name.get(..=zero)?, after))
}

fn number(name: &[u8]) -> Option<i32> {
    std::str::from_utf8(name.strip_suffix(&[0])?).ok()?.parse().ok()
}

/// Whether a thread, by its name in the folder of threads, has ended or is not there any more.
fn has_ended(folder: c_int, name: &[u8]) -> bool {
    let mut path = [0_u8; 32];
    let stat = b"/stat\0";
    let number = name.len() - 1;
    let Some(place) = path.get_mut(..number + stat.len()) else { return false };
    place[..number].copy_from_slice(&name[..number]);
    place[number..].copy_from_slice(stat);
    let mut text = [0_u8; STAT_BYTES];
    // SAFETY: the path ends in a zero, and the kernel writes at most the text's bytes.
    let got = unsafe {
        let file = libc::openat(folder, path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return true;
        }
        let got = libc::read(file, text.as_mut_ptr().cast(), STAT_BYTES);
        libc::close(file);
        got
    };
    // The state follows the name, which is in parentheses and may hold some.
    let text = usize::try_from(got).ok().and_then(|bytes| text.get(..bytes)).unwrap_or(&[]);
    let state = text.iter().rposition(|byte| *byte == b')').and_then(|at| text.get(at + 2));
    got <= 0 || matches!(state, Some(b'Z' | b'X'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_other_threads_is_not_alone() {
        let (tell, told) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || told.recv().is_err());
        assert!(!is_alone());
        drop(tell);
        assert!(other.join().unwrap());
    }

    #[test]
    fn entries_of_a_folder_are_read_one_by_one() {
        let mut bytes = vec![0_u8; 48];
        for (at, name) in [(0, b"12\0\0\0"), (24, b"345\0\0")] {
            bytes[at + 16..at + 18].copy_from_slice(&24_u16.to_ne_bytes());
            bytes[at + 19..at + 24].copy_from_slice(name);
        }
        let (name, rest) = first(&bytes).unwrap();
        let (second, none) = first(rest).unwrap();
        assert_eq!((number(name), number(second), none.len()), (Some(12), Some(345), 0));
        assert!(first(&bytes[..10]).is_none() && number(b".\0").is_none());
    }
}
