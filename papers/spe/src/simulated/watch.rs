//! Observes threads of the PPE that make no call: they wait in the kernel, or spin until memory
//! changes.
//!
//! While a thread runs, virtual time stops. It continues if the thread sleeps in the kernel for a
//! while, or spins: is in the same state again (registers and stack top). A spinning thread's next
//! look at memory counts after the first store, then after two more, four, and so on; its next
//! actions have the virtual time of that store.

use crate::simulated::request::DriverSlot;
use seatmap_cell_sim::os::sample;
use seatmap_os::task::ThreadStat;
use seatmap_os::{Tid, usage};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The time without a call until a thread is observed, and between two looks.
pub const PATIENCE: Duration = Duration::from_millis(20);
/// The consecutive looks that must find a thread asleep.
const ASLEEP: u32 = 2;
/// The samples among which a state must repeat.
const SAMPLES: u32 = 64;
/// The CPU time between samples, many times that of a sample. Without it, a thread waiting for a
/// CPU would seem to spin.
const APART_NS: u64 = 200_000;
/// A sample's time limit, because the thread may wait for a CPU.
const SAMPLE_WITHIN: Duration = Duration::from_secs(2);
const MOST_STORES: u64 = 1024;

/// A running thread.
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
    /// It computes, or needs more looks.
    Running,
    /// It waits in the kernel.
    Away,
    /// It has exited.
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
    unseen: u64,
    patience: u64,
}

impl RunningThread {
    /// A resumed thread.
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
            // A sleeping or calling thread uses no CPU.
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

/// Returns false if the thread stops, or `is_enough` returns true.
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
    /// Records a store. Returns whether the thread's next look is due.
    pub fn stored(&mut self) -> bool {
        self.unseen += 1;
        self.unseen >= self.patience
    }

    /// Whether there was a store since its last look.
    pub fn has_unseen(&self) -> bool {
        self.unseen > 0
    }

    /// Lets the thread look at memory. Returns whether it still spins; `has_called` reports a call.
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

/// A deadlock is reported after this time, if only spinning threads are left.
pub const GIVES_UP: Duration = Duration::from_secs(10);

/// Whether a standstill has lasted too long.
pub fn is_over(since: Instant) -> bool {
    since.elapsed() > GIVES_UP
}
