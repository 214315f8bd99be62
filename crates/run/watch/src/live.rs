//! Looks at running programs repeatedly, cheaply enough for a screen.
//!
//! A look reads one small, open file of each thread. It reads the others only if the thread has run
//! since the last look or waits for a CPU; otherwise they are unchanged. For a thread that has
//! hardly run, every sixth look reads them. The mask is read at every look, by one system call,
//! because other programs may change it. Other programs' threads are read while a chosen thread
//! waits for its only CPU.

use crate::choice::{ChoiceError, ProcessChoice};
use crate::files::SystemFiles;
use crate::judge::may_be_kept_waiting;
use crate::limiting::Limiting;
use crate::others::Others;
use crate::process;
use crate::seating::{
    CpuActivity, GroupBrake, KernelSettings, Process, Seating, Stranger, WatchedQuota,
    WatchedThread,
};
use crate::thread::{Leader, per_second, percent, seconds};
use seatmap_data::invariant;
use seatmap_os::cpu_time::CpuTimes;
use seatmap_os::kernel::SchedulerSettings;
use seatmap_os::sched::ThreadTimes;
use seatmap_os::{CpuSet, Root, Tid, boot, starved};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Changes of CPU are read for this many busiest threads: `sched` is the longest file.
const MOST_MOVES: usize = 64;

/// A thread with a smaller share of the time is read in full every [`REST_EVERY`] looks.
const LEAST_PERCENT: f64 = 0.1;
const REST_EVERY: u64 = 6;

/// Program, environment and group are read every 8 looks, because they hardly change.
const FACTS_EVERY: u64 = 8;

/// Other programs are read for this many looks after a chosen thread waited: shares need two
/// readings.
const STRANGERS_FOR: u64 = 4;

/// The result of one look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeatingFrame {
    /// The threads and processes, with shares since the last look. Without memory, devices and
    /// interrupts, which cost more than all else; without other programs while no thread waits for
    /// them.
    pub seating: Seating,
    /// The threads' rates, in the seating's order.
    pub rates: Vec<Rates>,
    /// Wakeups, most frequent first; `None` unless the caller counts them.
    pub wakes: Option<Vec<Wakes>>,
}

/// The wakeups of one thread by another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wakes {
    /// The waking thread.
    pub from: Tid,
    /// The woken thread.
    pub to: Tid,
    /// Wakeups per second.
    pub per_s: f64,
}

/// The events of a thread per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rates {
    /// How often it left a CPU, voluntarily or not.
    pub switches: f64,
    /// How often something woke it.
    pub wakeups: f64,
    /// How often it changed its CPU; null if not read.
    pub migrations: Option<f64>,
}

struct Seen {
    thread: WatchedThread,
    rates: Rates,
    mask: CpuSet,
    started_ticks: u64,
    times: ThreadTimes,
    at_ns: u64,
    whole_ns: u64,
    has_run: bool,
    look: u64,
    moves: Option<(u64, u64)>,
}

const OBSERVER: &str = "observer";

/// Looks at programs repeatedly.
pub struct LiveWatch {
    files: SystemFiles,
    choice: ProcessChoice,
    seen: BTreeMap<(Tid, Tid), Seen>,
    leaders: BTreeMap<Tid, Leader>,
    processes: BTreeMap<Tid, Process>,
    limiting: Limiting,
    quotas: Vec<WatchedQuota>,
    brakes: Vec<GroupBrake>,
    cpu_times: CpuTimes,
    others: Others,
    others_at: u64,
    others_until: u64,
    kernel: KernelSettings,
    /// CPUs whose tick stops while one thread runs alone.
    without_tick: CpuSet,
    at_ns: u64,
    before_ns: u64,
    looks: u64,
}

impl LiveWatch {
    /// Takes the first look, without shares.
    ///
    /// # Errors
    /// [`ChoiceError`]: there is nothing to look at.
    pub fn begin(choice: &ProcessChoice) -> Result<Self, ChoiceError> {
        LiveWatch::begin_at(&Root::new("/"), choice, Box::new(boot::nanoseconds))
    }

    pub(crate) fn begin_at(
        root: &Root,
        choice: &ProcessChoice,
        clock: Box<dyn Fn() -> u64 + Send>,
    ) -> Result<Self, ChoiceError> {
        let mut files = SystemFiles::open(root)?;
        files.clock = clock;
        if root.is_this_computer() {
            files.proc.keep_open();
        }
        let pids = choice.processes(&mut files)?;
        let limiting = Limiting::begin(&mut files, pids.iter().copied());
        let at_ns = files.now_ns();
        let mut live = LiveWatch {
            kernel: KernelSettings::of(SchedulerSettings::read(root), root),
            without_tick: starved::without_tick(root),
            cpu_times: files.cpu_times(),
            others: Others::default(),
            others_at: 0,
            others_until: 1,
            files,
            choice: choice.clone(),
            seen: BTreeMap::new(),
            leaders: BTreeMap::new(),
            processes: BTreeMap::new(),
            limiting,
            quotas: Vec::new(),
            brakes: Vec::new(),
            at_ns,
            before_ns: 0,
            looks: 0,
        };
        live.read_others(&pids);
        live.read_threads(&pids);
        live.read_moves();
        Ok(live)
    }

    /// Takes a look. Without threads, all chosen programs have ended.
    pub fn look(&mut self) -> SeatingFrame {
        let began_ns = self.at_ns;
        self.before_ns = began_ns;
        self.looks += 1;
        self.at_ns = self.files.now_ns();
        let pids = self
            .choice
            .processes(&mut self.files)
            .unwrap_or_else(|_| self.leaders.keys().copied().collect());
        // An empty `All` means that no other program is visible.
        let is_alone = self.choice == ProcessChoice::All && pids.is_empty();
        self.read_threads(&pids);
        self.read_moves();
        self.read_processes();
        self.check();
        let cpus = self.cpus(&pids);
        let watched_ns = self.at_ns.saturating_sub(began_ns);
        let seating = Seating {
            processes: self.processes.values().cloned().collect(),
            threads: self.seen.values().map(|seen| seen.thread.clone()).collect(),
            cpus,
            quotas: self.quotas.clone(),
            brakes: self.brakes.clone(),
            ..self.files.seating(self.kernel.clone(), watched_ns, 2, is_alone)
        };
        let rates = self.seen.values().map(|seen| seen.rates).collect();
        SeatingFrame { seating, rates, wakes: None }
    }

    fn read_threads(&mut self, pids: &BTreeSet<Tid>) {
        for pid in pids {
            for tid in self.files.threads(*pid) {
                self.read_thread(*pid, tid);
            }
        }
        let look = self.looks;
        self.seen.retain(|_, seen| seen.look == look);
        let alive: HashSet<Tid> = self.seen.keys().map(|(_, tid)| *tid).collect();
        // Files of dead threads would use up the descriptors.
        self.files.proc.forget(|tid| alive.contains(&tid));
        let seen = &self.seen;
        self.leaders.retain(|pid, _| of_process(seen, *pid).next().is_some());
    }

    fn read_thread(&mut self, pid: Tid, tid: Tid) {
        let Some(times) = self.files.times(pid, tid) else { return };
        let now_ns = self.files.now_ns();
        let key = (pid, tid);
        // Resting threads are spread over looks of equal length.
        let is_due = (self.looks + u64::from(tid.unsigned_abs())).is_multiple_of(REST_EVERY);
        let seen = self.seen.get_mut(&key).filter(|seen| seen.rests(times, now_ns, is_due));
        if let Some(seen) = seen {
            seen.pass(self.looks, times, now_ns);
        } else if !self.read_whole(key, times, now_ns) {
            self.seen.remove(&key);
            return;
        }
        let own_mask = self.files.asked_mask(tid);
        if let (Some(seen), Some(mask)) = (self.seen.get_mut(&key), own_mask)
            && (mask != seen.mask || seen.thread.mask.is_empty())
        {
            seen.thread.mask = mask.to_string();
            seen.mask = mask;
        }
    }

    /// False: it has ended.
    fn read_whole(&mut self, key: (Tid, Tid), times: ThreadTimes, now_ns: u64) -> bool {
        let read = self.files.thread(key, times, now_ns, None);
        let Some(read) = read.filter(|read| !read.has_ended) else { return false };
        let mut thread = read.thread;
        let started_ticks = read.leader.started_ticks;
        if key.0 == key.1 {
            self.leaders.insert(key.0, read.leader);
        }
        let before = self.seen.remove(&key).filter(|seen| seen.started_ticks == started_ticks);
        let has_tick = starved::has_tick(&self.without_tick, thread.cpu);
        let is_starved =
            before.as_ref().is_some_and(|before| before.starves(&thread, times, now_ns, has_tick));
        let is_new = before.is_none() && self.looks > 0;
        if is_new && self.files.nanoseconds(started_ticks) >= self.before_ns {
            thread.run_percent = percent(times.run_ns, now_ns.saturating_sub(self.before_ns));
        }
        let seen = Seen {
            thread,
            rates: Rates::default(),
            mask: CpuSet::default(),
            started_ticks,
            times,
            at_ns: now_ns,
            whole_ns: now_ns,
            has_run: false,
            look: self.looks,
            moves: None,
        };
        let mut seen = match before {
            Some(before) => seen.after(before),
            None => seen,
        };
        if is_starved {
            seen.thread.wait_percent = Some(100.0);
        }
        self.seen.insert(key, seen);
        true
    }

    fn read_moves(&mut self) {
        let is_first = self.looks == 0;
        let ran = self.seen.values_mut().filter(|seen| is_first || seen.thread.run_percent > 0.0);
        let mut ran: Vec<&mut Seen> = ran.collect();
        // Before shares are known, the longest-running threads are likely busy.
        ran.sort_by(|a, b| {
            let [a, b] = [a, b]
                .map(|seen| if is_first { seen.thread.run_s } else { seen.thread.run_percent });
            b.total_cmp(&a)
        });
        let most = MOST_MOVES.min(ran.len());
        let (busiest, others) = ran.split_at_mut(most);
        for seen in busiest {
            let count = self.files.migrations((seen.thread.pid, seen.thread.tid));
            seen.moved(count, self.files.now_ns());
        }
        others.iter_mut().for_each(|seen| seen.rates.migrations = None);
    }

    fn read_processes(&mut self) {
        let is_due = self.looks.is_multiple_of(FACTS_EVERY);
        let leaders = &self.leaders;
        self.processes.retain(|pid, _| leaders.contains_key(pid));
        if is_due {
            self.limiting.turn();
        }
        for (pid, leader) in &self.leaders {
            let known = self.processes.get(pid).is_some_and(|process| process.name == leader.name);
            // These change slowly and cost much. A new name means a new program.
            if is_due || !known {
                let own: Vec<&WatchedThread> = of_process(&self.seen, *pid).collect();
                let files = &mut self.files;
                let limiting = &mut self.limiting;
                let process = process::process(files, limiting, *pid, leader, &own, self.at_ns);
                self.processes.insert(*pid, process);
            }
        }
        if is_due || self.looks == 1 {
            self.quotas = self.limiting.quotas(&self.files);
            self.brakes = self.limiting.brakes(self.seen.values().map(|seen| &seen.thread));
        }
        for (pid, process) in &mut self.processes {
            process.threads = of_process(&self.seen, *pid).count();
        }
    }

    fn check(&self) {
        for ((pid, tid), seen) in &self.seen {
            invariant!(
                seen.look == self.looks && (seen.thread.pid, seen.thread.tid) == (*pid, *tid),
                OBSERVER,
                "thread {tid} of {pid} is shown as {} of {}, of look {} of {}",
                seen.thread.tid,
                seen.thread.pid,
                seen.look,
                self.looks
            );
        }
        for (pid, process) in &self.processes {
            let threads = of_process(&self.seen, *pid).count();
            invariant!(
                self.leaders.contains_key(pid) && process.threads == threads,
                OBSERVER,
                "process {pid} is shown with {} threads of {threads}",
                process.threads
            );
        }
    }

    /// By last CPU, while a chosen thread may wait for one.
    fn strangers(&mut self, pids: &BTreeSet<Tid>) -> BTreeMap<u32, Vec<Stranger>> {
        if self.seen.values().any(|seen| may_be_kept_waiting(&seen.thread)) {
            self.others_until = self.looks + STRANGERS_FOR;
        }
        if self.looks > self.others_until {
            return BTreeMap::new();
        }
        let is_before = self.others_at + 1 == self.looks;
        let before = self.read_others(pids);
        if is_before { self.others.since(&before, &mut self.files) } else { BTreeMap::new() }
    }

    fn read_others(&mut self, pids: &BTreeSet<Tid>) -> Others {
        if self.choice == ProcessChoice::All {
            return Others::default();
        }
        let others = Others::read(&mut self.files, pids);
        others.note_left_out(&mut self.files);
        self.others_at = self.looks;
        std::mem::replace(&mut self.others, others)
    }

    fn cpus(&mut self, pids: &BTreeSet<Tid>) -> Vec<CpuActivity> {
        let mut strangers = self.strangers(pids);
        let now = self.files.cpu_times();
        let before = std::mem::replace(&mut self.cpu_times, now);
        let now = &self.cpu_times;
        now.cpus().map(|cpu| CpuActivity::of(cpu, now, &before, &mut strangers)).collect()
    }
}

fn of_process(seen: &BTreeMap<(Tid, Tid), Seen>, pid: Tid) -> impl Iterator<Item = &WatchedThread> {
    seen.range((pid, 0)..=(pid, Tid::MAX)).map(|(_, seen)| &seen.thread)
}

impl Seen {
    /// This thread, read again after an earlier reading.
    fn after(mut self, before: Seen) -> Self {
        let thread = &mut self.thread;
        let whole_ns = self.at_ns.saturating_sub(before.whole_ns);
        thread.set_switches(before.thread.switches(), whole_ns);
        let [own, forced] = before.thread.switches();
        let own = thread.voluntary_switches.saturating_sub(own);
        let forced = thread.forced_switches.saturating_sub(forced);
        self.rates.switches = per_second(own.saturating_add(forced), whole_ns);
        self.rates.wakeups = thread.voluntary_per_s.unwrap_or(0.0);
        thread.set_shares(before.times, self.times, self.at_ns.saturating_sub(before.at_ns));
        thread.migrations = before.thread.migrations;
        if !before.mask.is_empty() {
            thread.mask = before.thread.mask;
        }
        Seen { moves: before.moves, mask: before.mask, ..self }
    }

    /// Whether the thread ran so little that its other files need no reading.
    fn rests(&self, times: ThreadTimes, at_ns: u64, is_due: bool) -> bool {
        // Files of a waiting thread have changed.
        if self.is_ready() && times == self.times {
            return false;
        }
        let ran_ns = times.run_ns.checked_sub(self.times.run_ns);
        let share = ran_ns.map(|ran_ns| percent(ran_ns, at_ns.saturating_sub(self.at_ns)));
        share.is_some_and(|share| share == 0.0 && !self.has_run || share < LEAST_PERCENT && !is_due)
    }

    fn is_ready(&self) -> bool {
        self.thread.state == char::from(starved::RUNNABLE)
    }

    fn starves(&self, now: &WatchedThread, times: ThreadTimes, at_ns: u64, has_tick: bool) -> bool {
        let is_ready = self.is_ready() && now.state == self.thread.state;
        is_ready
            && starved::has_starved(self.times, times, at_ns.saturating_sub(self.at_ns), has_tick)
    }

    fn pass(&mut self, look: u64, times: ThreadTimes, at_ns: u64) {
        let watched_ns = at_ns.saturating_sub(self.at_ns);
        self.thread.set_shares(self.times, times, watched_ns);
        self.thread.set_times(times);
        self.thread.age_s += seconds(watched_ns);
        self.has_run |= times.run_ns > self.times.run_ns;
        if !self.has_run {
            self.rates = Rates { migrations: Some(0.0), ..Rates::default() };
            (self.thread.voluntary_per_s, self.thread.forced_per_s) = (Some(0.0), Some(0.0));
        }
        (self.look, self.times, self.at_ns) = (look, times, at_ns);
    }

    fn moved(&mut self, count: Option<u64>, at_ns: u64) {
        self.rates.migrations =
            self.moves.filter(|(_, then_ns)| *then_ns < at_ns).and_then(|(before, then_ns)| {
                Some(per_second(count?.saturating_sub(before), at_ns - then_ns))
            });
        self.thread.migrations = count;
        self.moves = count.map(|count| (count, at_ns));
    }
}

#[cfg(test)]
mod tests;
