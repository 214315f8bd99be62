//! The time in which threads waited for a disk or another device.

use seatmap_os::{Tid, task, waiting};
use std::collections::BTreeMap;

/// The most threads whose states are read at a glance.
const MOST_THREADS: usize = 64;

/// Threads that were seen to wait for a device, at glances.
#[derive(Debug, Default)]
pub struct DeviceWaits {
    glances: u32,
    waits: u32,
    /// The bytes that processes whose threads wait for requests have moved, at the last glance.
    moved_bytes: BTreeMap<Tid, u64>,
    /// Whether the kernel kept these bytes of a process, or the function that a thread waits in,
    /// from this user.
    is_kept: bool,
    /// Whether there were more threads than are looked at.
    is_partial: bool,
}

impl DeviceWaits {
    /// Looks at these threads, each with its process. A thread may give its requests to the kernel
    /// and wait for them, as with io_uring. They are a device's where its process has moved bytes
    /// of one since the glance before, and may be a socket's where it has not.
    pub fn glance(&mut self, threads: &[(Tid, Tid)]) {
        self.glances += 1;
        self.is_partial |= threads.len() > MOST_THREADS;
        let mut moves: BTreeMap<Tid, bool> = BTreeMap::new();
        for (pid, tid) in threads.iter().take(MOST_THREADS) {
            let waits = waiting::for_device(*tid)
                || *moves.entry(*pid).or_insert_with(|| self.has_moved(*pid))
                    && self.waits_for_requests(*tid);
            self.waits += u32::from(waits);
        }
    }

    fn waits_for_requests(&mut self, tid: Tid) -> bool {
        let waits = waiting::for_requests(tid);
        self.is_kept |= waits.is_none() && task::lives(tid);
        waits.unwrap_or(false)
    }

    fn has_moved(&mut self, pid: Tid) -> bool {
        let Some(now) = waiting::device_bytes(pid) else {
            self.is_kept |= task::lives(pid);
            return false;
        };
        self.moved_bytes.insert(pid, now).is_some_and(|before| before != now)
    }

    /// Whether threads may have waited for requests that they gave to the kernel, unseen: it tells
    /// the bytes of a process to its user and to root.
    pub fn may_have_missed_requests(&self) -> bool {
        self.is_kept
    }

    /// Whether waits of some threads were not looked for, as there were too many.
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// Threads that waited for a device, on average: 100 is one thread all the time.
    pub fn percent(&self) -> f64 {
        100.0 * f64::from(self.waits) / f64::from(self.glances.max(1))
    }
}
