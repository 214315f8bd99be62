//! Threads of the PPE that make no call: they wait in the kernel, or spin until memory changes.
//!
//! While a thread runs, virtual time stands still. A thread that sleeps in the kernel for a while
//! is left alone, and time goes on. So is a thread that is in the same state again: same registers,
//! same end of its stack. It spins, and its next look at memory counts when something has been
//! stored: after the first store, then after two more, four, and so on. Its next actions have the
//! virtual time of that store. A thread that computes is waited for, however long it takes.

use crate::simulated::request::DriverSlot;
use seatmap_cell_sim::os::sample;
use seatmap_os::task::ThreadStat;
use seatmap_os::{Tid, usage};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long a thread may make no call before somebody looks at it, and between two looks.
pub const PATIENCE: Duration = Duration::from_millis(20);
/// Looks in a row that must find a thread asleep.
const ASLEEP: u32 = 2;
/// Samples in which a state must come again.
const SAMPLES: u32 = 64;
/// CPU time between two samples: many times that of the sample itself. A thread that has to wait
/// for a CPU is in the same state all the while.
const APART_NS: u64 = 200_000;
/// How long a sample may take: the thread may have to wait for a CPU.
const SAMPLE_WITHIN: Duration = Duration::from_secs(2);
/// The most stores after which a thread that spins looks again.
const MOST_STORES: u64 = 1024;

/// A thread that runs, as far as the driver has looked at it.
#[derive(Debug)]
pub struct RunningThread {
    /// Its task.
    pub task: u16,
    desk: Arc<DriverSlot>,
    asleep: u32,
}

/// The result of a look at a thread.
#[derive(Debug)]
pub enum ThreadState {
    /// It computes, or has not been looked at long enough.
    Running,
    /// It waits in the kernel.
    Away,
    /// It is no longer there.
    Gone,
    /// It spins, in these states.
    Spinning(SpinningThread),
}

/// A thread that spins until memory changes.
#[derive(Debug)]
pub struct SpinningThread {
    /// Its task.
    pub task: u16,
    tid: Tid,
    states: HashSet<sample::ThreadSample>,
    /// Stores since it looked at memory.
    unseen: u64,
    /// Stores after which it looks again.
    patience: u64,
}

impl RunningThread {
    /// A thread that was let go on.
    #[must_use]
    pub fn new(task: u16, desk: Arc<DriverSlot>) -> Self {
        RunningThread { task, desk, asleep: 0 }
    }

    /// Looks at the thread, which has made no call for a while.
    pub fn look(&mut self) -> ThreadState {
        let tid = self.desk.tid.load(Ordering::Acquire);
        if tid == 0 {
            return ThreadState::Running;
        }
        match ThreadStat::of(tid).map(|task| task.state) {
            None | Some('Z' | 'X') => ThreadState::Gone,
            Some('R') => self.sample(tid),
            Some(_) => {
                self.asleep += 1;
                if self.asleep < ASLEEP { ThreadState::Running } else { ThreadState::Away }
            }
        }
    }

    fn sample(&mut self, tid: Tid) -> ThreadState {
        self.asleep = 0;
        let mut states = HashSet::new();
        let mut is_known = false;
        for _ in 0..SAMPLES {
            // A thread that sleeps or makes a call uses no CPU.
            let Some(state) =
                works(tid, || false).then(|| sample::of(tid, SAMPLE_WITHIN)).flatten()
            else {
                return ThreadState::Running;
            };
            is_known |= !states.insert(state);
        }
        if is_known {
            ThreadState::Spinning(SpinningThread {
                task: self.task,
                tid,
                states,
                unseen: 0,
                patience: 1,
            })
        } else {
            ThreadState::Running
        }
    }
}

/// Waits until a thread has used its CPU for a while; false if it no longer does, or if `is_enough`
/// says so.
fn works(tid: Tid, mut is_enough: impl FnMut() -> bool) -> bool {
    let Some(since_ns) = usage::cpu_ns(tid) else { return false };
    while usage::cpu_ns(tid).is_some_and(|now| now < since_ns + APART_NS) {
        let runs = ThreadStat::of(tid).is_some_and(|task| task.state == 'R');
        if is_enough() || !runs {
            return false;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    true
}

impl SpinningThread {
    /// Something was stored. Returns whether the thread is to look now.
    pub fn stored(&mut self) -> bool {
        self.unseen += 1;
        self.unseen >= self.patience
    }

    /// Whether something was stored since it looked.
    #[must_use]
    pub fn has_unseen(&self) -> bool {
        self.unseen > 0
    }

    /// Lets the thread look at memory for some of its CPU time. Returns whether it still spins;
    /// `has_called` says whether it has made a call meanwhile.
    pub fn looks(&mut self, mut has_called: impl FnMut() -> bool) -> bool {
        self.unseen = 0;
        self.patience = (2 * self.patience).min(MOST_STORES);
        for _ in 0..SAMPLES {
            if !works(self.tid, &mut has_called) {
                return false;
            }
            match sample::of(self.tid, SAMPLE_WITHIN) {
                Some(state) if self.states.contains(&state) => return !has_called(),
                Some(_) => {}
                None => return false,
            }
        }
        false
    }
}

/// A thread that spins alone, with nothing under way, is given up after this.
pub const GIVES_UP: Duration = Duration::from_secs(10);

/// Whether a standstill has lasted too long.
#[must_use]
pub fn is_over(since: Instant) -> bool {
    since.elapsed() > GIVES_UP
}
