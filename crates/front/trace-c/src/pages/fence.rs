//! Memory that is left alone: the stacks of threads, this library's own, and variables of the C
//! library.
//!
//! The kernel writes to the end of a thread's stack after the thread has ended, and does not wait
//! for a page then: the thread that joins it would wait for ever. The thread that samples must not
//! wait for itself.
//!
//! A new thread enters its stack here and may rely on it: when [`exclude`] returns, no page of it
//! is being taken.

use super::PAGE;
use crate::memory;
use std::ptr::null_mut;
use std::slice;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicUsize, fence};

/// The ranges that are kept: more stacks than this are not at different addresses in usual
/// programs.
const MOST: usize = 1 << 14;

/// The C library's words of a thread are longer than this, and its number is within these: 2304
/// bytes and 720 in glibc 2.36 (`nptl/descr.h`).
const WORDS_BYTES: usize = 1024;

/// A range, from its first address to its end.
type Range = [AtomicUsize; 2];

static TABLE: AtomicPtr<Range> = AtomicPtr::new(null_mut());
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// The page that is being taken; 0 for none.
static INTENT: AtomicUsize = AtomicUsize::new(0);

/// Makes the table, and enters it and this thread; false if there is no memory. A table that is
/// there stays, with all that is in it.
pub fn begin() -> bool {
    let bytes = MOST * size_of::<Range>();
    let table = memory::zeros(bytes);
    if table.is_null() {
        return false;
    }
    // The memory of a second table is never touched, and costs nothing.
    if TABLE.compare_exchange(null_mut(), table.cast(), SeqCst, SeqCst).is_ok() {
        exclude(table as usize, table as usize + bytes);
    }
    enter();
    true
}

/// Leaves this memory alone from now on.
pub fn exclude(start: usize, end: usize) {
    let start = start / PAGE * PAGE;
    let end = end.next_multiple_of(PAGE);
    if ranges().any(|(low, high)| low <= start && end <= high) {
        return wait(start, end);
    }
    let place = COUNT.fetch_add(1, SeqCst);
    if let Some(range) = at(place) {
        range[0].store(start, SeqCst);
        range[1].store(end, SeqCst);
    }
    fence(SeqCst);
    wait(start, end);
}

/// Waits while a page of this memory is being taken. The child of a fork has nobody who takes
/// pages.
fn wait(start: usize, end: usize) {
    while (start..end).contains(&INTENT.load(SeqCst)) && super::is_active() {
        std::thread::yield_now();
    }
}

/// Leaves the stack of this thread alone, and has its pages put back.
pub fn enter() {
    let [low, high] = crate::threads::stack();
    // SAFETY: the call has no preconditions. The kernel and the C library keep their words of a
    // thread there.
    let own_words = unsafe { libc::pthread_self() } as usize;
    let own = own_words / PAGE * PAGE;
    let marks = [own.saturating_sub(PAGE), own + 2 * PAGE];
    // The first thread's stack grows, and is not sampled in any case.
    if low != 0 && own >= low && own < high {
        exclude(low, high);
    }
    exclude(marks[0], marks[1]);
    [0, WORDS_BYTES - 1].iter().for_each(|at| touch(own_words + at));
}

/// Writes to an address without a change, so that its page is there and not protected.
fn touch(address: usize) {
    // SAFETY: the callers name memory that the C library or the program keeps writing, and an
    // atomic operation that sets no bit changes nothing of it.
    unsafe { AtomicU8::from_ptr(address as *mut u8) }.fetch_or(0, SeqCst);
}

/// Leaves an address alone from now on, at which the kernel writes when it can no longer wait for a
/// page.
pub fn keep(address: usize) {
    exclude(address, address + 1);
    touch(address);
}

/// Whether all ranges found a place. Where one did not, no page may be taken any longer.
pub fn is_whole() -> bool {
    COUNT.load(SeqCst) <= MOST
}

/// How many ranges there are.
pub fn count() -> usize {
    COUNT.load(SeqCst).min(MOST)
}

/// The ranges.
pub fn ranges() -> impl Iterator<Item = (usize, usize)> {
    (0..count()).filter_map(at).map(|range| (range[0].load(SeqCst), range[1].load(SeqCst)))
}

fn at(place: usize) -> Option<&'static Range> {
    let table = TABLE.load(Relaxed);
    if table.is_null() || place >= MOST {
        return None;
    }
    // SAFETY: the table has `MOST` ranges, is never unmapped, and zeros are a valid range.
    Some(unsafe { &*table.add(place) })
}

/// A table in memory that is left alone.
pub fn table<T>(entries: usize) -> Option<&'static mut [T]> {
    let bytes = entries * size_of::<T>();
    let table = memory::zeros(bytes).cast::<T>();
    if table.is_null() {
        return None;
    }
    exclude(table as usize, table as usize + bytes);
    // SAFETY: the memory has this length, belongs to the caller, and is never unmapped. Callers use
    // types for which zeros are valid.
    Some(unsafe { slice::from_raw_parts_mut(table, entries) })
}

/// Takes a page by a closure, unless it is to be left alone.
pub fn taking<T>(page: usize, take: impl FnOnce() -> Option<T>) -> Option<T> {
    INTENT.store(page, SeqCst);
    fence(SeqCst);
    let is_free = is_whole() && !ranges().any(|(low, high)| (low..high).contains(&page));
    let taken = is_free.then(take).flatten();
    INTENT.store(0, SeqCst);
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_stacks_are_not_taken() {
        assert!(begin());
        let local = 7_u8;
        let own = &raw const local as usize / PAGE * PAGE;
        assert_eq!(taking(own, || Some(1)), None);
        exclude(0x10_0000, 0x10_2001);
        assert_eq!((taking(0x10_2000, || Some(1)), taking(0x10_3000, || Some(1))), (None, Some(1)));
        let before = count();
        exclude(0x10_1000, 0x10_2000);
        assert_eq!(count(), before);
    }
}
