//! Looks at the chosen threads.

use crate::files::SystemFiles;
use crate::seating::{RanOn, WatchedThread};
use seatmap_data::invariant;
use seatmap_os::sched::{Stat, ThreadStatus, ThreadTimes, migrations, policy_name};
use seatmap_os::starved::{RUNNABLE, has_starved, has_tick, without_tick};
use seatmap_os::{CpuSet, Tid};
use std::collections::{BTreeMap, BTreeSet};

/// With more threads, only the first glance searches for threads that have become busy.
const MOST_SEARCHED: usize = 2000;

/// For threads that have become busy.
const SEARCH_EVERY: u32 = 8;

#[derive(Clone, Debug, Default)]
pub struct Looks {
    seen: BTreeMap<(Tid, Tid), Seen>,
    begun_ns: u64,
    glances: u32,
    /// CPUs whose tick stops while one thread runs alone.
    without_tick: CpuSet,
}

#[derive(Clone, Debug)]
struct Seen {
    started_ticks: u64,
    first: ThreadTimes,
    first_ns: u64,
    first_mask: Option<CpuSet>,
    run_ns: u64,
    is_busy: bool,
    was_runnable: bool,
    found_on: BTreeMap<u32, u32>,
    /// Voluntary and forced switches, and when they were counted. Before the end of the first look,
    /// only those of busy threads are known.
    switches: Option<([u64; 2], u64)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Leader {
    pub parent: Tid,
    pub name: String,
    pub started_ticks: u64,
    pub user: Option<u32>,
}

struct Last {
    name: String,
    state: u8,
    started_ticks: u64,
    cpu: Option<u32>,
    nice: i32,
    policy: u32,
    real_time_priority: u32,
}

impl Last {
    fn of(stat: &Stat<'_>) -> Self {
        Last {
            name: stat.name(),
            state: stat.state,
            started_ticks: stat.started_ticks,
            cpu: stat.cpu,
            nice: stat.nice,
            policy: stat.policy,
            real_time_priority: stat.real_time_priority,
        }
    }
}

#[derive(Debug, Default)]
pub struct LastLook {
    pub threads: Vec<WatchedThread>,
    pub leaders: BTreeMap<Tid, Leader>,
}

impl Looks {
    pub fn begin(files: &mut SystemFiles, pids: &BTreeSet<Tid>, clock: &dyn Fn() -> u64) -> Self {
        let without_tick = without_tick(&files.root);
        let mut looks = Looks { begun_ns: clock(), without_tick, ..Looks::default() };
        for pid in pids {
            for tid in files.threads(*pid) {
                looks.meet(files, *pid, tid, clock);
            }
        }
        looks
    }

    fn meet(&mut self, files: &mut SystemFiles, pid: Tid, tid: Tid, clock: &dyn Fn() -> u64) {
        let begun = files
            .stat(pid, tid, |stat| (!stat.has_ended()).then_some((stat.started_ticks, stat.state)));
        if let (Some((started_ticks, state)), Some(first)) =
            (begun.flatten(), files.times(pid, tid))
        {
            // Distinguishes a thread that waited all the time from one that just woke.
            let was_runnable = state == RUNNABLE;
            let first_mask = files.asked_mask(tid);
            let seen =
                Seen { was_runnable, first_mask, ..Seen::new(started_ticks, first, clock()) };
            self.seen.insert((pid, tid), seen);
        }
    }

    pub fn glance(&mut self, files: &mut SystemFiles, clock: &dyn Fn() -> u64) {
        let searches =
            self.seen.len() <= MOST_SEARCHED && self.glances.is_multiple_of(SEARCH_EVERY);
        // Reading thousands of threads takes longer than the time between two glances.
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
                    seen.switches = switches(files, pid, tid).map(|counts| (counts, clock()));
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
    pub fn end(
        &mut self,
        files: &mut SystemFiles,
        pids: &BTreeSet<Tid>,
        most_sched: usize,
        clock: &dyn Fn() -> u64,
    ) -> LastLook {
        let mut found = LastLook::default();
        let mut next = BTreeMap::new();
        let begun_ns = clock();
        let all: Vec<(Tid, Vec<Tid>)> =
            pids.iter().map(|pid| (*pid, files.threads(*pid))).collect();
        let with_sched = all.iter().map(|(_, tids)| tids.len()).sum::<usize>() <= most_sched;
        for (pid, tid) in
            all.into_iter().flat_map(|(pid, tids)| tids.into_iter().map(move |tid| (pid, tid)))
        {
            let Some((thread, seen)) = self.last(files, pid, tid, &mut found.leaders, clock) else {
                continue;
            };
            let migrations = if with_sched { moves(files, pid, tid) } else { None };
            found.threads.push(WatchedThread { migrations, ..thread });
            next.insert((pid, tid), seen);
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
        pid: Tid,
        tid: Tid,
        leaders: &mut BTreeMap<Tid, Leader>,
        clock: &dyn Fn() -> u64,
    ) -> Option<(WatchedThread, Seen)> {
        let (last, has_ended, parent) =
            files.stat(pid, tid, |stat| (Last::of(stat), stat.has_ended(), stat.parent))?;
        if pid == tid {
            let name = last.name.clone();
            let started_ticks = last.started_ticks;
            leaders.insert(pid, Leader { parent, name, started_ticks, user: None });
        }
        let times = files.times(pid, tid).filter(|_| !has_ended)?;
        let now_ns = clock();
        let same =
            self.seen.remove(&(pid, tid)).filter(|seen| seen.started_ticks == last.started_ticks);
        let mut seen = same.unwrap_or_else(|| self.newcomer(files, &last, times, now_ns));
        if times.run_ns > seen.run_ns {
            seen.count(last.cpu);
        }
        let was_runnable = last.state == RUNNABLE;
        let watched_ns = now_ns.saturating_sub(seen.first_ns);
        let has_tick = has_tick(&self.without_tick, last.cpu);
        let is_runnable = was_runnable && seen.was_runnable;
        // The kernel counts a wait when it ends, so a thread that never got a CPU shows none.
        let is_starved = is_runnable && has_starved(seen.first, times, watched_ns, has_tick);
        let mut thread = thread(files, pid, tid, last, times, now_ns);
        thread.run_percent = percent(times.run_ns.saturating_sub(seen.first.run_ns), watched_ns);
        thread.wait_percent = times
            .wait_ns
            .zip(seen.first.wait_ns)
            .map(|(now, then)| percent(now.saturating_sub(then), watched_ns));
        if is_starved {
            thread.wait_percent = Some(100.0);
        }
        thread.ran_on = seen.shares();
        let first_mask = CpuSet::of_list(&thread.mask);
        thread.mask_before = seen
            .first_mask
            .take()
            .filter(|before| first_mask.as_ref() != Some(before))
            .map(|before| before.to_string());
        let user = read_status(files, &mut thread);
        if let Some(leader) = leaders.get_mut(&pid).filter(|leader| leader.user.is_none()) {
            leader.user = user;
        }
        seen.fill_rates(&mut thread, now_ns);
        let switches = Some(([thread.voluntary_switches, thread.forced_switches], now_ns));
        let is_busy = times.run_ns > seen.first.run_ns;
        let started_ticks = seen.started_ticks;
        Some((
            thread,
            Seen {
                is_busy,
                was_runnable,
                first_mask,
                switches,
                ..Seen::new(started_ticks, times, now_ns)
            },
        ))
    }

    /// If it started meanwhile, all of its time counts; if it joined the choice, its time from now
    /// on.
    fn newcomer(&self, files: &SystemFiles, last: &Last, times: ThreadTimes, now_ns: u64) -> Seen {
        let is_new = files.nanoseconds(last.started_ticks) >= self.begun_ns;
        let first = if is_new {
            ThreadTimes { run_ns: 0, wait_ns: times.wait_ns.map(|_| 0) }
        } else {
            times
        };
        Seen::new(last.started_ticks, first, if is_new { self.begun_ns } else { now_ns })
    }

    /// The start of the first look, in ns since the boot.
    pub fn begun_ns(&self) -> u64 {
        self.begun_ns
    }
}

impl Seen {
    fn new(started_ticks: u64, first: ThreadTimes, first_ns: u64) -> Self {
        let found_on = BTreeMap::new();
        let is_busy = false;
        let was_runnable = false;
        let first_mask = None;
        let switches = None;
        Seen {
            started_ticks,
            first,
            first_ns,
            first_mask,
            run_ns: first.run_ns,
            is_busy,
            was_runnable,
            found_on,
            switches,
        }
    }

    fn count(&mut self, cpu: Option<u32>) {
        if let Some(cpu) = cpu {
            *self.found_on.entry(cpu).or_default() += 1;
        }
    }

    fn fill_rates(&self, thread: &mut WatchedThread, now_ns: u64) {
        let Some(([voluntary, forced], at_ns)) = self.switches else { return };
        let watched_ns = now_ns.saturating_sub(at_ns);
        let voluntary = thread.voluntary_switches.saturating_sub(voluntary);
        let forced = thread.forced_switches.saturating_sub(forced);
        thread.voluntary_per_s = Some(per_second(voluntary, watched_ns));
        thread.forced_per_s = Some(per_second(forced, watched_ns));
    }

    fn shares(&self) -> Vec<RanOn> {
        let looks: u32 = self.found_on.values().sum();
        let mut shares: Vec<RanOn> = self
            .found_on
            .iter()
            .map(|(cpu, found)| RanOn {
                cpu: *cpu,
                percent: percent(u64::from(*found), looks.into()),
            })
            .collect();
        shares.sort_by(|a, b| b.percent.total_cmp(&a.percent).then(a.cpu.cmp(&b.cpu)));
        shares
    }
}

/// A share of at most 100: the kernel counts a thread's last tick at the tick's end.
pub fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (100.0 * part as f64 / whole as f64).min(100.0) }
}

fn thread(
    files: &SystemFiles,
    pid: Tid,
    tid: Tid,
    last: Last,
    times: ThreadTimes,
    now_ns: u64,
) -> WatchedThread {
    let age_ns = now_ns.saturating_sub(files.nanoseconds(last.started_ticks));
    WatchedThread {
        pid,
        tid,
        name: last.name,
        state: char::from(last.state),
        age_s: seconds(age_ns),
        mask: files.asked_mask(tid).map(|mask| mask.to_string()).unwrap_or_default(),
        policy: policy_name(last.policy),
        nice: last.nice,
        real_time_priority: last.real_time_priority,
        cpu: last.cpu,
        run_s: seconds(times.run_ns),
        wait_s: times.wait_ns.map(seconds),
        ..WatchedThread::default()
    }
}

/// Returns the user.
fn read_status(files: &mut SystemFiles, thread: &mut WatchedThread) -> Option<u32> {
    let text = files.proc.status(thread.pid, thread.tid).ok()?;
    let status = ThreadStatus::parse(text);
    (thread.voluntary_switches, thread.forced_switches) =
        (status.voluntary_switches, status.forced_switches);
    if thread.mask.is_empty() {
        thread.mask = status.mask().map(|mask| mask.to_string()).unwrap_or_default();
    }
    status.user
}

fn switches(files: &mut SystemFiles, pid: Tid, tid: Tid) -> Option<[u64; 2]> {
    let status = ThreadStatus::parse(files.proc.status(pid, tid).ok()?);
    Some([status.voluntary_switches, status.forced_switches])
}

fn moves(files: &mut SystemFiles, pid: Tid, tid: Tid) -> Option<u64> {
    migrations(files.proc.read(format_args!("{pid}/task/{tid}/sched")).ok()?)
}

pub fn per_second(count: u64, ns: u64) -> f64 {
    if ns == 0 { 0.0 } else { count as f64 / seconds(ns) }
}

pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
