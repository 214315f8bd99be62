//! Runnable threads that never get a CPU.
//!
//! The kernel counts a wait when it ends, so the times of a thread that waits forever do not
//! change. Its state distinguishes it from a sleeping one.

use crate::isolated;
use crate::sched::ThreadTimes;
use crate::task::{self, ThreadStat};
use crate::{CpuSet, Root};

/// State of a running or waiting thread (proc_pid_stat(5)).
pub const RUNNABLE: u8 = b'R';

/// Several ticks of the slowest kernels (100 Hz).
const SEVERAL_TICKS_NS: u64 = 50_000_000;

/// Without a tick, another CPU updates the running thread's time once per second
/// (`sched_tick_remote` of `kernel/sched/core.c`).
const REMOTE_TICKS_NS: u64 = 2_500_000_000;

/// CPUs that stop the tick while one thread runs alone; empty if not listed.
pub fn without_tick(root: &Root) -> CpuSet {
    isolated::kernel_list(root, "nohz_full")
}

/// Whether the kernel updates a thread's time on this CPU at each tick.
pub fn has_tick(without_tick: &CpuSet, cpu: Option<u32>) -> bool {
    cpu.is_some_and(|cpu| !without_tick.contains(cpu))
}

/// Whether a thread, runnable at both readings, has waited all the time between them: neither of
/// its times has changed.
pub fn has_starved(before: ThreadTimes, now: ThreadTimes, watched_ns: u64, has_tick: bool) -> bool {
    let enough_ns = if has_tick { SEVERAL_TICKS_NS } else { REMOTE_TICKS_NS };
    now == before && watched_ns >= enough_ns
}

/// A thread that has been runnable since a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    times: ThreadTimes,
    since_ns: u64,
}

impl Ready {
    /// Reads a thread at this time since the boot, after an earlier reading. `None` if it is not
    /// runnable. The second value: whether it has waited for a CPU since first found runnable.
    pub fn look(
        before: Option<Self>,
        task: &ThreadStat,
        now_ns: u64,
        without_tick: &CpuSet,
    ) -> (Option<Self>, bool) {
        let times = task::times(task.tid).filter(|_| task.state == char::from(RUNNABLE));
        let Some(times) = times else { return (None, false) };
        match before.filter(|before| before.times == times) {
            Some(before) => {
                let waited_ns = now_ns.saturating_sub(before.since_ns);
                let is_starved =
                    has_starved(before.times, times, waited_ns, has_tick(without_tick, task.cpu));
                (Some(before), is_starved)
            }
            None => (Some(Ready { times, since_ns: now_ns }), false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_that_never_runs_is_starved() {
        let first = ThreadTimes { run_ns: 7, wait_ns: Some(9) };
        assert!(has_starved(first, first, SEVERAL_TICKS_NS, true));
        assert!(
            !has_starved(first, first, SEVERAL_TICKS_NS - 1, true),
            "the tick may be still to come"
        );
        assert!(
            !has_starved(first, first, SEVERAL_TICKS_NS, false)
                && has_starved(first, first, REMOTE_TICKS_NS, false)
        );
        assert!(
            !has_starved(first, ThreadTimes { run_ns: 8, ..first }, REMOTE_TICKS_NS, true),
            "it has run"
        );
        assert!(
            !has_starved(first, ThreadTimes { wait_ns: Some(10), ..first }, REMOTE_TICKS_NS, true),
            "it got its turn"
        );
    }

    #[test]
    fn only_a_continuously_ready_thread_is_starved() {
        let own = ThreadStat::of(crate::task::own_tid()).unwrap();
        let sleeps = ThreadStat { state: 'S', ..own.clone() };
        let none = CpuSet::default();
        assert_eq!(Ready::look(None, &sleeps, 0, &none), (None, false));
        let Some(times) = task::times(own.tid) else { return no_times() };
        let other = Ready { times: ThreadTimes { run_ns: u64::MAX, ..times }, since_ns: 0 };
        let (ready, is_starved) = Ready::look(Some(other), &own, REMOTE_TICKS_NS, &none);
        assert!(
            ready.is_some_and(|ready| ready.since_ns == REMOTE_TICKS_NS) && !is_starved,
            "it has run"
        );
    }

    fn no_times() {
        seatmap_needs::skipped!("the kernel counts no times of threads");
    }
}
