//! Looks at running programs repeatedly, cheaply enough for a screen.
//!
//! A look reads one small, open file of each thread. It reads the other files only if the thread
//! has run since the last look or waits for a CPU; otherwise they cannot have changed. For a thread
//! that has hardly run, every sixth look reads them. The mask is read at every look, by one system
//! call, because other programs may change it. Other programs' threads are read while a chosen
//! thread waits for its only CPU.

use crate::choice::{ChoiceError, ProcessChoice};
use crate::files::SystemFiles;
use crate::judge::may_be_kept_waiting;
use crate::limiting::Limiting;
use crate::looks::{Leader, per_second, percent, seconds};
use crate::options::STRANGER_THREADS;
use crate::others::Others;
use crate::process;
use crate::seating::{
    CellCpus, CpuActivity, FORMAT, GroupBrake, KernelSettings, Process, Seating, Stranger,
    WatchedQuota, WatchedThread,
};
use crate::snapshot::ALONE;
use seatmap_data::invariant;
use seatmap_os::cpu_time::CpuTimes;
use seatmap_os::kernel::SchedulerSettings;
use seatmap_os::sched::{ThreadStatus, ThreadTimes, migrations, policy_name};
use seatmap_os::{CpuSet, Root, Tid, boot, devices, starved};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::SystemTime;

/// Changes of CPU are read for this many busiest threads: `sched` is longer than all their other
/// files.
const MOST_MOVES: usize = 64;

/// A thread with a smaller share of the time is read in full every [`REST_EVERY`] looks.
const LEAST_PERCENT: f64 = 0.1;
const REST_EVERY: u64 = 6;

/// Program, environment and group are read every 8 looks, because they hardly change.
const FACTS_EVERY: u64 = 8;

/// Other programs are read for this many looks after a chosen thread waited: shares need two
/// readings, and waits come and go.
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

#[derive(Debug)]
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
    switches: [u64; 2],
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
    has_devices: bool,
    cpu_times: CpuTimes,
    others: Others,
    others_at: u64,
    others_until: u64,
    kernel: KernelSettings,
    /// CPUs whose tick stops while one thread runs alone.
    without_tick: CpuSet,
    machine: String,
    at_ns: u64,
    before_ns: u64,
    looks: u64,
    /// Nanoseconds since the boot; tests set their own clock.
    clock: Box<dyn Fn() -> u64 + Send>,
}

impl std::fmt::Debug for LiveWatch {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Live")
            .field("choice", &self.choice)
            .field("looks", &self.looks)
            .finish_non_exhaustive()
    }
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
        if root.is_this_computer() {
            files.proc.keep_open();
        }
        let pids = choice.processes(&mut files)?;
        let limiting = Limiting::begin(&mut files, pids.iter().copied());
        let machine = root.read("/proc/sys/kernel/hostname").unwrap_or_else(|_| "host".to_owned());
        let mut live = LiveWatch {
            kernel: KernelSettings::of(SchedulerSettings::read(root), root),
            without_tick: starved::without_tick(root),
            cpu_times: cpu_times(&mut files),
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
            has_devices: devices::is_any(root),
            machine,
            at_ns: clock(),
            before_ns: 0,
            looks: 0,
            clock,
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
        self.at_ns = (self.clock)();
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
        self.files.note_the_hidden();
        if is_alone {
            self.files.note("threads", None, ALONE);
        }
        let watched_ns = self.at_ns.saturating_sub(began_ns);
        let since_epoch =
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let seating = Seating {
            format: FORMAT.to_owned(),
            machine: self.machine.clone(),
            taken_at_s: since_epoch.as_secs_f64(),
            watched_s: seconds(watched_ns),
            looks: 2,
            processes: self.processes.values().cloned().collect(),
            threads: self.seen.values().map(|seen| seen.thread.clone()).collect(),
            cpus,
            quotas: self.quotas.clone(),
            brakes: self.brakes.clone(),
            kernel: self.kernel.clone(),
            cells: CellCpus::all(&self.files.root),
            unseen: self.files.take_notes(),
        };
        SeatingFrame {
            seating,
            rates: self.seen.values().map(|seen| seen.rates).collect(),
            wakes: None,
        }
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
        self.leaders.retain(|pid, _| seen.range((*pid, 0)..=(*pid, Tid::MAX)).next().is_some());
    }

    fn read_thread(&mut self, pid: Tid, tid: Tid) {
        let Some(times) = self.files.times(pid, tid) else { return };
        let now_ns = (self.clock)();
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
    fn read_whole(&mut self, (pid, tid): (Tid, Tid), times: ThreadTimes, now_ns: u64) -> bool {
        let read = self.files.stat(pid, tid, |stat| {
            let thread = WatchedThread {
                pid,
                tid,
                name: stat.name(),
                state: char::from(stat.state),
                policy: policy_name(stat.policy),
                nice: stat.nice,
                real_time_priority: stat.real_time_priority,
                cpu: stat.cpu,
                run_s: seconds(times.run_ns),
                wait_s: times.wait_ns.map(seconds),
                ..WatchedThread::default()
            };
            (thread, stat.started_ticks, stat.parent, stat.has_ended())
        });
        let Some((mut thread, started_ticks, parent, has_ended)) = read else { return false };
        if has_ended {
            return false;
        }
        thread.age_s = seconds(now_ns.saturating_sub(self.files.nanoseconds(started_ticks)));
        let user = self.read_status(&mut thread);
        if pid == tid {
            let name = thread.name.clone();
            self.leaders.insert(pid, Leader { parent, name, started_ticks, user });
        }
        let before =
            self.seen.remove(&(pid, tid)).filter(|seen| seen.started_ticks == started_ticks);
        let has_tick = starved::has_tick(&self.without_tick, thread.cpu);
        let is_starved =
            before.as_ref().is_some_and(|before| before.starves(&thread, times, now_ns, has_tick));
        let is_new = before.is_none() && self.looks > 0;
        if is_new && self.files.nanoseconds(started_ticks) >= self.before_ns {
            thread.run_percent = percent(times.run_ns, now_ns.saturating_sub(self.before_ns));
        }
        let mut seen = Seen::next(before, thread, started_ticks, times, [now_ns, self.looks]);
        if is_starved {
            seen.thread.wait_percent = Some(100.0);
        }
        self.seen.insert((pid, tid), seen);
        true
    }

    /// Returns the user.
    fn read_status(&mut self, thread: &mut WatchedThread) -> Option<u32> {
        let text = self
            .files
            .proc
            .read_once(format_args!("{}/task/{}/status", thread.pid, thread.tid))
            .ok()?;
        let status = ThreadStatus::parse(text);
        (thread.voluntary_switches, thread.forced_switches) =
            (status.voluntary_switches, status.forced_switches);
        thread.mask = status.mask().map(|mask| mask.to_string()).unwrap_or_default();
        status.user
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
        // `sched` is a thread's longest file.
        let most = MOST_MOVES.min(ran.len());
        let (busiest, others) = ran.split_at_mut(most);
        for seen in busiest {
            let path = format_args!("{}/task/{}/sched", seen.thread.pid, seen.thread.tid);
            let count = self.files.proc.read(path).ok().and_then(migrations);
            seen.moved(count, (self.clock)());
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
                let own = self.seen.range((*pid, 0)..=(*pid, Tid::MAX));
                let tids: Vec<Tid> = own.clone().map(|((_, tid), _)| *tid).collect();
                let files = &mut self.files;
                let process =
                    process::process(files, *pid, leader.clone(), self.at_ns, self.has_devices);
                let group = self.limiting.process(files, *pid, &tids);
                let runtimes = process::runtimes(files, *pid, own.map(|(_, seen)| &seen.thread));
                self.processes.insert(*pid, Process { group, runtimes, ..process });
            }
        }
        if is_due || self.looks == 1 {
            self.quotas = self.limiting.quotas(&self.files);
            self.brakes = self.limiting.brakes(self.seen.values().map(|seen| &seen.thread));
        }
        self.processes.values_mut().for_each(|process| process.threads = 0);
        for (pid, _) in self.seen.keys() {
            if let Some(process) = self.processes.get_mut(pid) {
                process.threads += 1;
            }
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
            let threads = self.seen.range((*pid, 0)..=(*pid, Tid::MAX)).count();
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
        let others = Others::read(&mut self.files, pids, STRANGER_THREADS, &*self.clock);
        others.note_left_out(&mut self.files, STRANGER_THREADS);
        self.others_at = self.looks;
        std::mem::replace(&mut self.others, others)
    }

    fn cpus(&mut self, pids: &BTreeSet<Tid>) -> Vec<CpuActivity> {
        let mut strangers = self.strangers(pids);
        let now = cpu_times(&mut self.files);
        let cpus = now
            .cpus()
            .map(|cpu| {
                let shares = now.since(&self.cpu_times, cpu);
                let busy_percent = shares.map(|shares| shares.busy_percent);
                let steal_percent = shares.map(|shares| shares.steal_percent);
                let strangers = strangers.remove(&cpu).unwrap_or_default();
                CpuActivity {
                    cpu,
                    busy_percent,
                    steal_percent,
                    strangers,
                    ..CpuActivity::default()
                }
            })
            .collect();
        self.cpu_times = now;
        cpus
    }
}

fn cpu_times(files: &mut SystemFiles) -> CpuTimes {
    files
        .proc
        .read(format_args!("stat"))
        .map(|text| CpuTimes::of(text, &files.root))
        .unwrap_or_default()
}

impl Seen {
    fn next(
        before: Option<Seen>,
        mut thread: WatchedThread,
        started_ticks: u64,
        times: ThreadTimes,
        [at_ns, look]: [u64; 2],
    ) -> Self {
        let switches = [thread.voluntary_switches, thread.forced_switches];
        let mut rates = Rates::default();
        let mut moves = None;
        let mut mask = CpuSet::default();
        if let Some(before) = before {
            let watched_ns = at_ns.saturating_sub(before.at_ns);
            let [own, forced] =
                [0, 1].map(|kind| switches[kind].saturating_sub(before.switches[kind]));
            let whole_ns = at_ns.saturating_sub(before.whole_ns);
            rates.wakeups = per_second(own, whole_ns);
            rates.switches = per_second(own.saturating_add(forced), whole_ns);
            thread.voluntary_per_s = Some(rates.wakeups);
            thread.forced_per_s = Some(per_second(forced, whole_ns));
            thread.run_percent =
                percent(times.run_ns.saturating_sub(before.times.run_ns), watched_ns);
            thread.wait_percent = waited(before.times, times, watched_ns);
            thread.migrations = before.thread.migrations;
            if !before.mask.is_empty() {
                thread.mask = before.thread.mask;
            }
            (moves, mask) = (before.moves, before.mask);
        }
        let whole_ns = at_ns;
        let has_run = false;
        Seen {
            thread,
            rates,
            mask,
            started_ticks,
            times,
            at_ns,
            whole_ns,
            has_run,
            look,
            switches,
            moves,
        }
    }

    /// Whether the thread ran so little that its other files need no reading.
    fn rests(&self, times: ThreadTimes, at_ns: u64, is_due: bool) -> bool {
        // A still ready thread is waiting, so its other files have changed.
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
        self.thread.run_percent =
            percent(times.run_ns.saturating_sub(self.times.run_ns), watched_ns);
        self.thread.wait_percent = waited(self.times, times, watched_ns);
        self.thread.run_s = seconds(times.run_ns);
        self.thread.wait_s = times.wait_ns.map(seconds);
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

fn waited(before: ThreadTimes, now: ThreadTimes, watched_ns: u64) -> Option<f64> {
    let (now, before) = now.wait_ns.zip(before.wait_ns)?;
    Some(percent(now.saturating_sub(before), watched_ns))
}

#[cfg(test)]
mod tests;
