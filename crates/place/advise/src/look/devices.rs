//! The time for which threads waited for a disk or another device.

use seatmap_os::{Tid, task, waiting};
use std::collections::BTreeMap;

const MOST_THREADS: usize = 64;

/// Counts threads that wait for a device.
#[derive(Debug, Default)]
pub struct DeviceWaits {
    glances: u32,
    waits: u32,
    /// The bytes moved by processes that wait for requests, at the last glance.
    moved_bytes: BTreeMap<Tid, u64>,
    /// Whether waits for kernel requests may have been missed: the kernel shows a process's bytes,
    /// and a thread's wait function, only to its user and to root.
    pub is_kept: bool,
    /// Whether there were too many threads to look at all.
    pub is_partial: bool,
}

impl DeviceWaits {
    /// Looks at these threads, given as process and thread ID. Waits for kernel requests, as of
    /// io_uring, count if the process has moved bytes of a device since the last glance.
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

    /// The mean number of threads that waited for a device, times 100.
    pub fn percent(&self) -> f64 {
        100.0 * f64::from(self.waits) / f64::from(self.glances.max(1))
    }
}
