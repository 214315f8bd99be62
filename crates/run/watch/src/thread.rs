//! One thread, as its files show it now, and its shares between two readings.

use crate::files::SystemFiles;
use crate::seating::{RanOn, WatchedThread};
use seatmap_os::Tid;
use seatmap_os::sched::{ThreadStatus, ThreadTimes, migrations, policy_name};

/// A thread's facts, without shares.
pub struct ThreadReading {
    pub thread: WatchedThread,
    /// For a process's first thread.
    pub leader: Leader,
    pub has_ended: bool,
}

pub struct Leader {
    pub parent: Tid,
    pub name: String,
    pub started_ticks: u64,
    pub user: Option<u32>,
}

impl SystemFiles {
    /// Reads `stat` and `status` of a thread with these times. `status` replaces an unknown mask.
    pub fn thread(
        &mut self,
        (pid, tid): (Tid, Tid),
        times: ThreadTimes,
        now_ns: u64,
        mask: Option<String>,
    ) -> Option<ThreadReading> {
        let mut read = self.stat(pid, tid, |stat| ThreadReading {
            thread: WatchedThread {
                pid,
                tid,
                name: stat.name(),
                state: char::from(stat.state),
                policy: policy_name(stat.policy),
                nice: stat.nice,
                real_time_priority: stat.real_time_priority,
                cpu: stat.cpu,
                ..WatchedThread::default()
            },
            leader: Leader {
                parent: stat.parent,
                name: stat.name(),
                started_ticks: stat.started_ticks,
                user: None,
            },
            has_ended: stat.has_ended(),
        })?;
        let thread = &mut read.thread;
        thread.age_s = seconds(now_ns.saturating_sub(self.nanoseconds(read.leader.started_ticks)));
        thread.set_times(times);
        let status = self.proc.status(pid, tid).map(ThreadStatus::parse).unwrap_or_default();
        thread.voluntary_switches = status.voluntary_switches;
        thread.forced_switches = status.forced_switches;
        let listed = || status.mask().map(|mask| mask.to_string());
        thread.mask = mask.or_else(listed).unwrap_or_default();
        read.leader.user = status.user;
        Some(read)
    }

    pub fn migrations(&mut self, (pid, tid): (Tid, Tid)) -> Option<u64> {
        migrations(self.proc.read(format_args!("{pid}/task/{tid}/sched")).ok()?)
    }
}

impl WatchedThread {
    pub(crate) fn set_times(&mut self, times: ThreadTimes) {
        self.run_s = seconds(times.run_ns);
        self.wait_s = times.wait_ns.map(seconds);
    }

    /// Sets the shares between two readings.
    pub fn set_shares(&mut self, before: ThreadTimes, now: ThreadTimes, watched_ns: u64) {
        self.run_percent = percent(now.run_ns.saturating_sub(before.run_ns), watched_ns);
        self.wait_percent = now
            .wait_ns
            .zip(before.wait_ns)
            .map(|(now, then)| percent(now.saturating_sub(then), watched_ns));
    }

    /// Sets the rates of switches since an earlier count of voluntary and forced ones.
    pub fn set_switches(&mut self, [voluntary, forced]: [u64; 2], watched_ns: u64) {
        let since = |now: u64, before| Some(per_second(now.saturating_sub(before), watched_ns));
        self.voluntary_per_s = since(self.voluntary_switches, voluntary);
        self.forced_per_s = since(self.forced_switches, forced);
    }

    pub(crate) fn switches(&self) -> [u64; 2] {
        [self.voluntary_switches, self.forced_switches]
    }
}

/// The shares of CPUs, the largest first.
pub fn ran_on(shares: impl Iterator<Item = (u32, f64)>) -> Vec<RanOn> {
    let mut shares: Vec<RanOn> = shares.map(|(cpu, percent)| RanOn { cpu, percent }).collect();
    shares.sort_by(|a, b| b.percent.total_cmp(&a.percent).then(a.cpu.cmp(&b.cpu)));
    shares
}

/// A share of at most 100: the kernel counts a thread's last tick at the tick's end.
pub fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (100.0 * part as f64 / whole as f64).min(100.0) }
}

pub fn per_second(count: u64, ns: u64) -> f64 {
    if ns == 0 { 0.0 } else { count as f64 / seconds(ns) }
}

pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
