//! Takes a seating: two looks at all threads, short ones in between, and the rest at the end.

use crate::choice::{ChoiceError, ProcessChoice};
use crate::files::SystemFiles;
use crate::limiting::Limiting;
use crate::looks::{LastLook, Looks};
use crate::options::WatchOptions;
use crate::others::Others;
use crate::process;
use crate::seating::{CpuActivity, InterruptRate, KernelSettings, Process, Seating, WatchedThread};
use crate::thread::seconds;
use crate::trace::SchedulerTrace;
use seatmap_data::grouped::by_key;
use seatmap_data::words::counted;
use seatmap_os::cpu_time::CpuTimes;
use seatmap_os::interrupts::{InterruptCount, Interrupts};
use seatmap_os::kernel::SchedulerSettings;
use seatmap_os::{CpuSet, Root, StopCheck, Tid, boot, irq};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// The time between short looks, which find the CPUs of busy threads.
const GLANCE_EVERY: Duration = Duration::from_millis(25);

impl Seating {
    /// Why the seating has no programs: they are hidden from this user, or have ended.
    pub fn why_empty(&self) -> String {
        match self.unseen.iter().find(|unseen| unseen.what == "threads" && unseen.pids.is_empty()) {
            Some(hidden) => format!("no program can be seen: {}", hidden.why),
            None => "the program ended while it was watched".to_owned(),
        }
    }

    /// Watches the chosen processes for the time in the options. Omits those that end meanwhile.
    ///
    /// # Errors
    /// [`ChoiceError`]: there is nothing to look at.
    ///
    /// ```
    /// use seatmap_watch::{ProcessChoice, WatchOptions, Seating};
    /// let pids = vec![std::process::id() as i32];
    /// let own = ProcessChoice::Processes { pids, with_children: false };
    /// let options = WatchOptions { window: std::time::Duration::ZERO, ..WatchOptions::default() };
    /// let seating = Seating::take(&own, &options)?;
    /// assert!(!seating.threads[0].mask.is_empty());
    /// # Ok::<(), seatmap_watch::ChoiceError>(())
    /// ```
    pub fn take(choice: &ProcessChoice, options: &WatchOptions) -> Result<Self, ChoiceError> {
        let mut watcher = Watcher::begin(choice, options)?;
        watcher.watch(options.window, &|| false);
        Ok(watcher.seating())
    }
}

/// Watches processes. Each seating covers the time since the last one.
pub struct Watcher {
    files: SystemFiles,
    choice: ProcessChoice,
    options: WatchOptions,
    pids: BTreeSet<Tid>,
    start: WindowStart,
    trace: Option<SchedulerTrace>,
}

/// The start of the next seating.
#[derive(Clone)]
struct WindowStart {
    looks: Looks,
    glances: u32,
    others: Others,
    cpu_times: CpuTimes,
    interrupts: Interrupts,
    limiting: Limiting,
    is_alone: bool,
}

impl Watcher {
    /// Takes the first look.
    ///
    /// # Errors
    /// [`ChoiceError`]: there is nothing to look at.
    pub fn begin(choice: &ProcessChoice, options: &WatchOptions) -> Result<Self, ChoiceError> {
        Watcher::begin_at(choice, options, Box::new(boot::nanoseconds))
    }

    pub(crate) fn begin_at(
        choice: &ProcessChoice,
        options: &WatchOptions,
        clock: Box<dyn Fn() -> u64 + Send>,
    ) -> Result<Self, ChoiceError> {
        let mut files = SystemFiles::open(&options.root)?;
        files.clock = clock;
        let pids = choice.processes(&mut files)?;
        let limiting = Limiting::begin(&mut files, pids.iter().copied());
        let others = Others::read(&mut files, &pids);
        let (cpu_times, interrupts) = counts(&mut files);
        let trace = options.trace.then(|| SchedulerTrace::begin(&options.root, &pids));
        // Last, because these times must be the most exact.
        let looks = Looks::begin(&mut files, &pids);
        let is_alone = pids.is_empty();
        let start =
            WindowStart { looks, glances: 0, others, cpu_times, interrupts, limiting, is_alone };
        let choice = choice.clone();
        Ok(Watcher { files, choice, options: options.clone(), pids, start, trace })
    }

    /// The watched processes, ascending.
    pub fn pids(&self) -> Vec<Tid> {
        self.pids.iter().copied().collect()
    }

    /// Waits for this time, or until `stop` returns true, with short looks.
    pub fn watch(&mut self, window: Duration, stop: StopCheck) {
        let begun = Instant::now();
        while let Some(left) =
            window.checked_sub(begun.elapsed()).filter(|left| !left.is_zero() && !stop())
        {
            std::thread::sleep(left.min(GLANCE_EVERY));
            if begun.elapsed() < window {
                self.glance();
            }
        }
    }

    /// A short look at the CPUs of busy threads.
    pub fn glance(&mut self) {
        self.start.glances += 1;
        self.start.looks.glance(&mut self.files);
    }

    /// The last look, and the next seating's first. Without threads, all chosen processes have
    /// ended.
    pub fn seating(&mut self) -> Seating {
        let begun_ns = self.start.looks.begun_ns;
        // A name or group may match others by now.
        if let Ok(more) = self.choice.beside(&mut self.files, &self.pids) {
            self.pids.extend(more);
        }
        let mut found = self.start.looks.end(&mut self.files, &self.pids);
        if let Some(trace) = &mut self.trace {
            trace.tell(&mut found.threads, &mut self.files);
        }
        let ended_ns = self.start.looks.begun_ns;
        self.pids = found.leaders.keys().copied().collect();
        self.start.is_alone &= self.pids.is_empty();
        let watched_ns = ended_ns.saturating_sub(begun_ns);
        let cpus = self.cpus(&found.threads, seconds(watched_ns));
        let processes = self.processes(&found, ended_ns);
        let quotas = self.start.limiting.quotas(&self.files);
        let brakes = self.start.limiting.brakes(found.threads.iter());
        found
            .threads
            .iter_mut()
            .for_each(|thread| thread.group = self.start.limiting.apart(thread.tid));
        self.start.limiting.turn();
        let looks = 2 + std::mem::take(&mut self.start.glances);
        let root = &self.files.root;
        let kernel = KernelSettings::of(SchedulerSettings::read(root), root);
        Seating {
            processes,
            threads: found.threads,
            cpus,
            quotas,
            brakes,
            ..self.files.seating(kernel, watched_ns, looks, self.start.is_alone)
        }
    }

    /// A seating so far, in case the program ends before the next one, which has the same start.
    pub fn so_far(&mut self) -> Seating {
        let start = self.start.clone();
        let trace = self.trace.take();
        let pids = self.pids.clone();
        let seating = self.seating();
        seating.unseen.iter().for_each(|unseen| self.files.note_again(unseen));
        self.pids.extend(pids);
        (self.start, self.trace) = (start, trace);
        seating
    }

    fn processes(&mut self, found: &LastLook, now_ns: u64) -> Vec<Process> {
        let threads = found.threads.iter().map(|thread| (thread.pid, thread));
        let mut threads: BTreeMap<Tid, Vec<&WatchedThread>> = by_key(threads);
        let mut processes = Vec::with_capacity(found.leaders.len());
        for (pid, leader) in &found.leaders {
            let own = threads.remove(pid).unwrap_or_default();
            let mut process = process::process(
                &mut self.files,
                &mut self.start.limiting,
                *pid,
                leader,
                &own,
                now_ns,
            );
            process.threads = own.len();
            match self.options.memory_processes {
                0 => {}
                most if processes.len() >= most => {
                    let why = format!(
                        "only the memory of the first {most} is read, to save time",
                        most = counted(most, "process")
                    );
                    self.files.note("memory", Some(*pid), why);
                }
                _ => process.memory = process::memory(&mut self.files, *pid),
            }
            processes.push(process);
        }
        processes
    }

    fn cpus(&mut self, threads: &[WatchedThread], watched_s: f64) -> Vec<CpuActivity> {
        let (cpu_times, interrupts) = counts(&mut self.files);
        let others = Others::read(&mut self.files, &self.pids);
        others.note_left_out(&mut self.files);
        let mut strangers = others.since(&self.start.others, &mut self.files);
        let masks: BTreeSet<&str> = threads.iter().map(|thread| thread.mask.as_str()).collect();
        let shown: CpuSet = masks.into_iter().filter_map(CpuSet::of_list).flatten().collect();
        let known: CpuSet = cpu_times.cpus().collect();
        // Without `/proc/stat`, the CPUs of the masks count.
        let shown = match (known.is_empty(), self.options.every_cpu) {
            (true, _) => shown,
            (false, true) => known,
            (false, false) => shown.within(&known),
        };
        let root = self.files.root.clone();
        let cpus = shown
            .iter()
            .map(|cpu| {
                let came = interrupts.since(&self.start.interrupts, cpu).into_iter();
                CpuActivity {
                    interrupts: came.map(|came| interrupt(&root, came, watched_s)).collect(),
                    ..CpuActivity::of(cpu, &cpu_times, &self.start.cpu_times, &mut strangers)
                }
            })
            .collect();
        (self.start.cpu_times, self.start.interrupts) = (cpu_times, interrupts);
        self.start.others = others;
        cpus
    }
}

fn counts(files: &mut SystemFiles) -> (CpuTimes, Interrupts) {
    let times = files.cpu_times();
    let came =
        files.proc.read(format_args!("interrupts")).map(Interrupts::parse).unwrap_or_default();
    if times.cpus().next().is_none() {
        files.note("cpu-time", None, "/proc/stat does not show how busy each CPU is");
    }
    if came.cpus().is_empty() {
        files.note("interrupts", None, "/proc/interrupts does not count interrupts by CPU");
    }
    (times, came)
}

fn interrupt(root: &Root, came: InterruptCount, watched_s: f64) -> InterruptRate {
    let per_second = if watched_s > 0.0 { came.count as f64 / watched_s } else { 0.0 };
    let is_numbered = came.irq.bytes().all(|byte| byte.is_ascii_digit());
    // Timers and the like have letters instead of numbers on most processors, and numbers on Arm.
    let is_per_cpu = came.is_per_cpu || is_numbered && irq::is_per_cpu(root, &came.irq);
    let is_movable = if is_numbered { irq::is_movable(root, &came.irq) } else { None };
    InterruptRate { irq: came.irq, name: came.name, per_second, is_per_cpu, is_movable }
}

impl KernelSettings {
    pub(crate) fn of(scheduler: SchedulerSettings, root: &Root) -> Self {
        KernelSettings {
            release: scheduler.release,
            sched_ext: scheduler.sched_ext,
            cache_aware: scheduler.cache_aware,
            numa_balancing: scheduler.numa_balancing,
            isolated: scheduler.isolated,
            no_hz_full: scheduler.no_hz_full,
            memory_nodes: root.read("/sys/devices/system/node/has_memory").ok(),
        }
    }
}

#[cfg(test)]
mod tests;
