//! The threads of this process, and how many lines each received from each other one.

use crate::memory::EntryTable;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU8, AtomicU32, AtomicU64, AtomicUsize};

/// The number of distinguished threads. All later ones share the last place.
pub const MOST: usize = 1024;

const NAME: usize = 16;

/// Lines that one thread received from another.
pub struct Received {
    /// The receiver accessed bytes that the other thread had written.
    pub truly: AtomicU64,
    /// The receiver accessed other bytes of the line (false sharing).
    pub falsely: AtomicU64,
}

#[repr(C)]
pub struct TracedThread {
    /// Its place among all threads, in order of creation.
    pub slot: AtomicU32,
    pub parent: AtomicU32,
    /// Kernel's thread id; 0 before it runs.
    pub tid: AtomicI32,
    /// CPU time in nanoseconds at its end; negative while it runs.
    pub cpu_ns: AtomicI64,
    /// Shadow entries of other lines that its accesses replaced.
    pub replaced: AtomicU64,
    /// Its stack: the lowest address, and the one above the highest.
    pub stack: [AtomicUsize; 2],
    pub name: [AtomicU8; NAME],
    /// Lines received, by the writer's slot.
    pub received: [Received; MOST],
}

impl TracedThread {
    /// The thread's bit in a set of sharers, shared by slots 64 apart.
    pub fn bit(&self) -> u64 {
        1 << (self.slot.load(Relaxed) & 63)
    }

    /// Counts a received line. Only the thread itself writes here, so a load and a store suffice.
    pub fn receive(&self, from: usize, truly: bool) {
        let Some(received) = self.received.get(from) else { return };
        let count = if truly { &received.truly } else { &received.falsely };
        count.store(count.load(Relaxed) + 1, Relaxed);
    }

    /// Counts as true sharing a line that was counted as false sharing before.
    pub fn correct(&self, from: usize) {
        let Some(received) = self.received.get(from) else { return };
        received.falsely.store(received.falsely.load(Relaxed).saturating_sub(1), Relaxed);
        self.receive(from, true);
    }
}

// SAFETY: zeros are a valid task.
pub static TASKS: EntryTable<TracedThread> = unsafe { EntryTable::of(MOST) };
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Removes all threads, as in the child of a fork.
pub fn clear() {
    TASKS.clear();
    COUNT.store(0, Relaxed);
}

/// Counts threads so far, including those beyond [`MOST`].
pub fn count() -> usize {
    COUNT.load(Relaxed)
}

/// A place for a thread that `parent` creates. Threads beyond the last place share it.
pub fn claim(parent: u32) -> Option<&'static TracedThread> {
    let slot = COUNT.fetch_add(1, Relaxed).min(MOST - 1);
    let task = TASKS.at(slot)?;
    task.slot.store(slot as u32, Relaxed);
    task.parent.store(parent, Relaxed);
    task.cpu_ns.store(-1, Relaxed);
    Some(task)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn true_sharing_corrects_one_false_transfer() {
        // SAFETY: zeros are a valid task.
        let task: TracedThread = unsafe { std::mem::zeroed() };
        task.receive(3, false);
        task.correct(3);
        task.receive(MOST, true);
        assert_eq!(
            (task.received[3].truly.load(Relaxed), task.received[3].falsely.load(Relaxed)),
            (1, 0)
        );
    }
}
