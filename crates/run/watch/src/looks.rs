//! Looks at the chosen threads.

use crate::files::SystemFiles;
use crate::seating::{RanOn, WatchedThread};
use crate::thread::{Leader, percent, ran_on};
use seatmap_data::invariant;
use seatmap_os::sched::{ThreadStatus, ThreadTimes};
use seatmap_os::starved::{RUNNABLE, has_starved, has_tick, without_tick};
use seatmap_os::{CpuSet, Tid};
use std::collections::{BTreeMap, BTreeSet};

/// With more threads, only the first glance searches for newly busy ones.
const MOST_SEARCHED: usize = 2000;

/// For threads that have become busy.
const SEARCH_EVERY: u32 = 8;

/// With more threads, their changes of CPU are not read: that file is the longest.
const MOST_SCHED: usize = 256;

#[derive(Clone, Default)]
pub struct Looks {
    seen: BTreeMap<(Tid, Tid), Seen>,
    /// The start of the first look, in ns since the boot.
    pub begun_ns: u64,
    glances: u32,
    /// CPUs whose tick stops while one thread runs alone.
    without_tick: CpuSet,
}

#[derive(Clone, Default)]
struct Seen {
    started_ticks: u64,
    first: ThreadTimes,
    first_ns: u64,
    first_mask: Option<CpuSet>,
    run_ns: u64,
    is_busy: bool,
    was_runnable: bool,
    found_on: BTreeMap<u32, u32>,
    /// Voluntary and forced switches, and when they were counted. The first look knows only busy
    /// threads' ones until its end.
    switches: Option<([u64; 2], u64)>,
}

#[derive(Default)]
pub struct LastLook {
    pub threads: Vec<WatchedThread>,
    pub leaders: BTreeMap<Tid, Leader>,
}

impl Looks {
    pub fn begin(files: &mut SystemFiles, pids: &BTreeSet<Tid>) -> Self {
        let without_tick = without_tick(&files.root);
        let mut looks = Looks { begun_ns: files.now_ns(), without_tick, ..Looks::default() };
        for pid in pids {
            for tid in files.threads(*pid) {
                looks.meet(files, *pid, tid);
            }
        }
        looks
    }

    fn meet(&mut self, files: &mut SystemFiles, pid: Tid, tid: Tid) {
        let begun = files
            .stat(pid, tid, |stat| (!stat.has_ended()).then_some((stat.started_ticks, stat.state)));
        if let (Some((started_ticks, state)), Some(first)) =
            (begun.flatten(), files.times(pid, tid))
        {
            let seen = Seen {
                // Distinguishes a thread that waited all the time from one that just woke.
                was_runnable: state == RUNNABLE,
                first_mask: files.asked_mask(tid),
                ..Seen::new(started_ticks, first, files.now_ns())
            };
            self.seen.insert((pid, tid), seen);
        }
    }

    pub fn glance(&mut self, files: &mut SystemFiles) {
        let searches =
            self.seen.len() <= MOST_SEARCHED && self.glances.is_multiple_of(SEARCH_EVERY);
        // Reading thousands of threads takes longer than a pause.
        if searches || self.glances == 0 {
            self.search(files);
        }
        self.glances += 1;
        for (&(pid, tid), seen) in self.seen.iter_mut().filter(|(_, seen)| seen.is_busy) {
            let runs =
                files.stat(pid, tid, |stat| (stat.started_ticks, stat.cpu, stat.state == b'R'));
            let Some((started_ticks, cpu, runs)) = runs else { continue };
            let Some(times) = files.times(pid, tid) else { continue };
            if started_ticks == seen.started_ticks && (runs || times.run_ns > seen.run_ns) {
                seen.run_ns = times.run_ns.max(seen.run_ns);
                seen.count(cpu);
                if seen.switches.is_none() {
                    seen.switches =
                        switches(files, pid, tid).map(|counts| (counts, files.now_ns()));
                }
            }
        }
    }

    fn search(&mut self, files: &mut SystemFiles) {
        for (&(pid, tid), seen) in &mut self.seen {
            let run_ns = files.times(pid, tid).map_or(0, |times| times.run_ns);
            // The next glance finds it, because its time has advanced.
            seen.is_busy = run_ns > seen.run_ns || seen.is_busy && run_ns > seen.first.run_ns;
        }
    }

    /// The last look, which starts the next round.
    pub fn end(&mut self, files: &mut SystemFiles, pids: &BTreeSet<Tid>) -> LastLook {
        let mut found = LastLook::default();
        let mut next = BTreeMap::new();
        let begun_ns = files.now_ns();
        let all: Vec<(Tid, Vec<Tid>)> =
            pids.iter().map(|pid| (*pid, files.threads(*pid))).collect();
        let with_sched = all.iter().map(|(_, tids)| tids.len()).sum::<usize>() <= MOST_SCHED;
        for key in
            all.into_iter().flat_map(|(pid, tids)| tids.into_iter().map(move |tid| (pid, tid)))
        {
            let Some((mut thread, seen)) = self.last(files, key, &mut found.leaders) else {
                continue;
            };
            thread.migrations = with_sched.then(|| files.migrations(key)).flatten();
            found.threads.push(thread);
            next.insert(key, seen);
        }
        let living: BTreeSet<Tid> = found.threads.iter().map(|thread| thread.pid).collect();
        found.leaders.retain(|pid, _| living.contains(pid));
        invariant!(
            found.threads.len() == next.len() && living.is_subset(pids),
            "looks",
            "{} threads were seen, and {} are known for the next look; processes {living:?} of \
             {pids:?}",
            found.threads.len(),
            next.len()
        );
        let without_tick = std::mem::take(&mut self.without_tick);
        *self = Looks { seen: next, begun_ns, glances: 0, without_tick };
        found
    }

    fn last(
        &mut self,
        files: &mut SystemFiles,
        key: (Tid, Tid),
        leaders: &mut BTreeMap<Tid, Leader>,
    ) -> Option<(WatchedThread, Seen)> {
        let (pid, tid) = key;
        let times = files.times(pid, tid)?;
        let now_ns = files.now_ns();
        let asked_mask = files.asked_mask(tid);
        let read = files.thread(key, times, now_ns, asked_mask.as_ref().map(CpuSet::to_string))?;
        let Leader { started_ticks, user, .. } = read.leader;
        if pid == tid {
            leaders.insert(pid, read.leader);
        } else if let Some(leader) = leaders.get_mut(&pid) {
            leader.user = leader.user.or(user);
        }
        if read.has_ended {
            return None;
        }
        let mut thread = read.thread;
        let same = self.seen.remove(&key).filter(|seen| seen.started_ticks == started_ticks);
        let mut seen = same.unwrap_or_else(|| self.newcomer(files, started_ticks, times, now_ns));
        if times.run_ns > seen.run_ns {
            seen.count(thread.cpu);
        }
        let watched_ns = now_ns.saturating_sub(seen.first_ns);
        let has_tick = has_tick(&self.without_tick, thread.cpu);
        let was_runnable = thread.state == char::from(RUNNABLE);
        thread.set_shares(seen.first, times, watched_ns);
        // The kernel counts a wait when it ends, so a thread that never got a CPU shows none.
        if was_runnable && seen.was_runnable && has_starved(seen.first, times, watched_ns, has_tick)
        {
            thread.wait_percent = Some(100.0);
        }
        thread.ran_on = seen.shares();
        thread.mask_before = seen
            .first_mask
            .filter(|before| asked_mask.as_ref() != Some(before))
            .map(|before| before.to_string());
        if let Some((counts, at_ns)) = seen.switches {
            thread.set_switches(counts, now_ns.saturating_sub(at_ns));
        }
        let next = Seen {
            is_busy: times.run_ns > seen.first.run_ns,
            was_runnable,
            first_mask: asked_mask,
            switches: Some((thread.switches(), now_ns)),
            ..Seen::new(started_ticks, times, now_ns)
        };
        Some((thread, next))
    }

    /// If it started meanwhile, all of its time counts; if it joined, its time from now.
    fn newcomer(
        &self,
        files: &SystemFiles,
        started_ticks: u64,
        times: ThreadTimes,
        now_ns: u64,
    ) -> Seen {
        if files.nanoseconds(started_ticks) >= self.begun_ns {
            let first = ThreadTimes { run_ns: 0, wait_ns: times.wait_ns.map(|_| 0) };
            Seen::new(started_ticks, first, self.begun_ns)
        } else {
            Seen::new(started_ticks, times, now_ns)
        }
    }
}

impl Seen {
    fn new(started_ticks: u64, first: ThreadTimes, first_ns: u64) -> Self {
        Seen { started_ticks, first, first_ns, run_ns: first.run_ns, ..Seen::default() }
    }

    fn count(&mut self, cpu: Option<u32>) {
        if let Some(cpu) = cpu {
            *self.found_on.entry(cpu).or_default() += 1;
        }
    }

    fn shares(&self) -> Vec<RanOn> {
        let looks: u32 = self.found_on.values().sum();
        let found = self.found_on.iter();
        ran_on(found.map(|(cpu, found)| (*cpu, percent(u64::from(*found), looks.into()))))
    }
}

fn switches(files: &mut SystemFiles, pid: Tid, tid: Tid) -> Option<[u64; 2]> {
    let status = ThreadStatus::parse(files.proc.status(pid, tid).ok()?);
    Some([status.voluntary_switches, status.forced_switches])
}
