//! A few seconds of watching and observing at once.
//!
//! The watcher sees masks, quotas, neighbours and waits for a CPU; the observation sees who talks
//! to whom, also of threads that come and go. Both together cost one look's time.

use crate::AdviseError;
use crate::evidence::{
    BUSY_PERCENT, BusyThread, Client, Evidence, Neighbour, Neighbours, ProgramTalk,
};
use crate::scope::Scope;
use seatmap_document::shell_escaped;
use seatmap_launch::runtime::is_of_go;
use seatmap_machine::Topology;
use seatmap_observe::{End, Means, Observation, ObserveError, Session};
use seatmap_os::{CpuSet, Root, Tid, task};
use seatmap_statistics::words::counted_number;
use seatmap_watch::seating::{Cpu, Thread};
use seatmap_watch::{Choice, Criteria, Gravity, Seating, WatchOptions, Watcher, judge};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Child;
use std::time::{Duration, Instant};

/// The time between two glances at the threads that run.
const GLANCE: Duration = Duration::from_millis(25);

/// A command is watched from this time on: before it, it may not have become its program yet.
const SETTLED: Duration = Duration::from_millis(100);

/// The most threads whose states are read at a glance.
const MOST_STATES: usize = 64;

/// The most neighbours and clients that are kept.
const MOST_LISTED: usize = 5;

/// Files whose names begin like this are runtimes of OpenMP: GCC's, LLVM's and Intel's.
const OPENMP: [&str; 3] = ["libgomp.so", "libomp.so", "libiomp5.so"];

/// A look that is over.
#[derive(Debug)]
pub struct Look {
    /// The figures.
    pub evidence: Evidence,
    /// The threads and their talk, where that could be seen.
    pub observation: Option<Observation>,
    /// The command that was started, if it was one.
    pub child: Option<Child>,
}

/// Looks at a program for so long. A command is started.
///
/// # Errors
/// [`AdviseError`]: there is no such program, or a command did not start.
pub fn look(
    scope: &Scope,
    time: Duration,
    topology: &Topology,
    stop: &dyn Fn() -> bool,
) -> Result<Look, AdviseError> {
    let mut running = Running::begin(scope)?;
    running.pass(time, stop)?;
    running.end(scope, topology)
}

/// A look under way.
struct Running {
    watcher: Option<Watcher>,
    session: Option<Session>,
    /// Why there is no session.
    unseen: Option<String>,
    begun: Instant,
    has_ended: bool,
    glances: u32,
    device_waits: u32,
}

impl Running {
    fn begin(scope: &Scope) -> Result<Self, AdviseError> {
        let watcher = match scope {
            Scope::Running(choice) => Some(Watcher::begin(choice, &options())?),
            Scope::Command(_) => None,
        };
        let mut pids = watcher.as_ref().map(Watcher::pids).unwrap_or_default();
        // A choice such as the children of a shell may hold this process, which is not meant.
        pids.retain(|pid| *pid != own_pid());
        let (session, unseen) = match Session::begin(None, Means::Best, &scope.subject(&pids)) {
            Ok(session) => (Some(session), None),
            Err(ObserveError::Forbidden { reasons }) if watcher.is_some() => (None, Some(reasons)),
            Err(error) => return Err(error.into()),
        };
        Ok(Running {
            watcher,
            session,
            unseen,
            begun: Instant::now(),
            has_ended: false,
            glances: 0,
            device_waits: 0,
        })
    }

    /// Lets the time pass, with a glance now and then.
    fn pass(&mut self, time: Duration, stop: &dyn Fn() -> bool) -> Result<(), AdviseError> {
        while self.begun.elapsed() < time && !self.has_ended {
            if stop() {
                return Err(AdviseError::Interrupted);
            }
            match &mut self.session {
                Some(session) => {
                    let until = session.elapsed() + GLANCE;
                    self.has_ended = session.watch(Some(until), stop)? == End::Program;
                }
                None => std::thread::sleep(GLANCE),
            }
            self.glance();
        }
        Ok(())
    }

    fn glance(&mut self) {
        if self.watcher.is_none() && self.begun.elapsed() >= SETTLED {
            let child = self.session.as_ref().and_then(|session| session.child.as_ref());
            let pids = child.and_then(|child| Tid::try_from(child.id()).ok()).into_iter().collect();
            let choice = Choice::Processes { pids, with_children: true };
            // A command that has ended already is not watched, and what it did was observed.
            self.watcher = Watcher::begin(&choice, &options()).ok();
        }
        if let Some(watcher) = &mut self.watcher {
            watcher.glance();
        }
        let threads = self.session.as_ref().map(Session::threads).unwrap_or_default();
        self.glances += 1;
        let states = threads.iter().take(MOST_STATES).map(|(_, tid)| task::waits_for_device(*tid));
        self.device_waits += states.filter(|waits| *waits).count() as u32;
    }

    fn end(mut self, scope: &Scope, topology: &Topology) -> Result<Look, AdviseError> {
        let seating = self.watcher.as_mut().map(Watcher::seating).unwrap_or_default();
        let looked_s = self.begun.elapsed().as_secs_f64();
        let (observation, child) = match self.session {
            Some(session) => {
                let (observation, child) = session.finish();
                (Some(observation), child)
            }
            None => (None, None),
        };
        let mut evidence = Evidence {
            name: name(scope, &seating, observation.as_ref()),
            command: typed(scope),
            pids: seating
                .processes
                .iter()
                .map(|process| process.pid)
                .filter(|pid| *pid != own_pid())
                .collect(),
            looked_s,
            has_ended: self.has_ended || seating.threads.is_empty() && child.is_none(),
            has_openmp: has_openmp(&seating),
            has_goroutines: has_goroutines(&seating),
            quotas: seating.quotas.iter().map(quota).collect(),
            talk_unseen: self.unseen,
            device_wait_percent: 100.0 * f64::from(self.device_waits)
                / f64::from(self.glances.max(1)),
            ..Evidence::default()
        };
        fill_loads(&mut evidence, &seating, observation.as_ref());
        fill_cpus(&mut evidence, &seating);
        let criteria = Criteria::default();
        let findings = judge(&seating, topology, &criteria);
        evidence.findings =
            findings.into_iter().filter(|one| one.gravity == Gravity::Wrong).collect();
        evidence.talk = observation.as_ref().map(|seen| talk(seen, &seating));
        Ok(Look { evidence, observation, child })
    }
}

fn own_pid() -> Tid {
    Tid::try_from(std::process::id()).unwrap_or(0)
}

fn options() -> WatchOptions {
    WatchOptions { every_cpu: true, memory_processes: 0, ..WatchOptions::default() }
}

fn name(scope: &Scope, seating: &Seating, observation: Option<&Observation>) -> String {
    match scope {
        Scope::Command(command) => {
            let program = command.words.first().cloned().unwrap_or_default();
            let file = std::path::Path::new(&program).file_name().unwrap_or_default();
            file.to_string_lossy().into_owned()
        }
        Scope::Running(_) => {
            let first = seating.processes.first().map(|process| process.name.clone());
            first.unwrap_or_else(|| observation.map_or("", Observation::name).to_owned())
        }
    }
}

/// The command as it can be typed again.
fn typed(scope: &Scope) -> Option<String> {
    let Scope::Command(command) = scope else { return None };
    let words = command.words.iter().map(|word| shell_escaped(&word.to_string_lossy()));
    Some(words.collect::<Vec<String>>().join(" "))
}

fn quota(quota: &seatmap_watch::seating::Quota) -> String {
    format!("{} ({})", counted_number(quota.cpus, "CPU"), quota.file)
}

/// Whether a process has a runtime of OpenMP in its memory. One whose mappings cannot be read is
/// taken to have none.
fn has_openmp(seating: &Seating) -> bool {
    seating.processes.iter().any(|process| {
        let maps = Root::new("/").read(&format!("/proc/{}/maps", process.pid)).unwrap_or_default();
        maps.lines().any(|line| {
            let file = line.rsplit('/').next().unwrap_or_default();
            OPENMP.iter().any(|runtime| file.starts_with(runtime))
        })
    })
}

fn has_goroutines(seating: &Seating) -> bool {
    let mut files = seating.processes.iter().filter_map(|process| task::program_file(process.pid));
    files.any(|file| is_of_go(&file))
}

/// The threads and their CPU time: of the observation, which knows those that have ended, or else
/// of the seating.
fn fill_loads(evidence: &mut Evidence, seating: &Seating, observation: Option<&Observation>) {
    let mut threads: Vec<BusyThread> = match observation {
        Some(seen) => {
            let percent = 100.0 / seen.seconds().max(1e-3);
            let tasks = seen.tasks.iter();
            tasks
                .map(|task| BusyThread {
                    tid: task.tid,
                    name: task.name.clone(),
                    percent: task.cpu_s * percent,
                })
                .collect()
        }
        None => seating
            .threads
            .iter()
            .map(|thread| BusyThread {
                tid: thread.tid,
                name: thread.name.clone(),
                percent: thread.run_percent,
            })
            .collect(),
    };
    evidence.threads = threads.len();
    evidence.used_percent = threads.iter().map(|thread| thread.percent).sum();
    threads.retain(|thread| thread.percent >= BUSY_PERCENT);
    threads.sort_by(|a, b| b.percent.total_cmp(&a.percent).then(a.tid.cmp(&b.tid)));
    evidence.busy = threads;
    evidence.waits_percent = waits_percent(&seating.threads);
}

/// The share of the time in which busy threads could run that they waited for a CPU.
fn waits_percent(threads: &[Thread]) -> f64 {
    let mut run = 0.0;
    let mut wait = 0.0;
    for thread in threads {
        let needed = thread.run_percent + thread.wait_percent.unwrap_or(0.0);
        // Threads that wake for a moment wait for a moment, which limits nothing.
        if needed < BUSY_PERCENT {
            continue;
        }
        run += thread.run_percent;
        wait += thread.wait_percent.unwrap_or(0.0);
    }
    if run + wait > 0.0 { 100.0 * wait / (run + wait) } else { 0.0 }
}

/// The CPUs that the program may use, and the others that use them.
fn fill_cpus(evidence: &mut Evidence, seating: &Seating) {
    let masks: BTreeSet<&str> = seating.threads.iter().map(|thread| &*thread.mask).collect();
    let mut cpus = masks
        .into_iter()
        .filter_map(CpuSet::of_list)
        .fold(CpuSet::default(), |all, mask| all.with(&mask));
    if cpus.is_empty() {
        // A command had this process's mask.
        cpus = CpuSet::of_thread(0).unwrap_or_default();
    }
    evidence.cpus = cpus.to_string();
    evidence.cpu_count = cpus.len();
    let shown: Vec<&Cpu> = seating.cpus.iter().filter(|cpu| cpus.contains(cpu.cpu)).collect();
    if shown.is_empty() {
        return;
    }
    let count = shown.len() as f64;
    let busy: f64 = shown.iter().filter_map(|cpu| cpu.busy_percent).sum();
    let steal: f64 = shown.iter().filter_map(|cpu| cpu.steal_percent).sum();
    let own: f64 = seating.threads.iter().map(|thread| thread.run_percent).sum();
    evidence.neighbours = Neighbours {
        percent: ((busy - own) / count).clamp(0.0, 100.0),
        steal_percent: steal / count,
        programs: neighbours(&shown),
    };
}

/// The busiest other programs on these CPUs.
fn neighbours(cpus: &[&Cpu]) -> Vec<Neighbour> {
    let mut by_pid: BTreeMap<Tid, Neighbour> = BTreeMap::new();
    for stranger in cpus.iter().flat_map(|cpu| &cpu.strangers) {
        let one = by_pid.entry(stranger.pid).or_insert_with(|| Neighbour {
            pid: stranger.pid,
            name: stranger.name.clone(),
            percent: 0.0,
        });
        one.percent += stranger.run_percent;
    }
    let mut all: Vec<Neighbour> = by_pid.into_values().collect();
    all.sort_by(|a, b| b.percent.total_cmp(&a.percent).then(a.pid.cmp(&b.pid)));
    all.truncate(MOST_LISTED);
    all
}

fn talk(seen: &Observation, seating: &Seating) -> ProgramTalk {
    let seconds = seen.seconds().max(1e-3);
    let cpus: Vec<&Cpu> = seating.cpus.iter().collect();
    let clients = seen.outsiders.iter().filter(|one| !one.is_kernel).take(MOST_LISTED);
    ProgramTalk {
        methods: seen.method_words(),
        inside_per_s: seen.messages() / seconds,
        pairs: seen.pattern("observed").edges.len(),
        outside_per_s: seen.outsiders.iter().map(|one| one.wakeups).sum::<f64>() / seconds,
        clients: clients
            .map(|one| Client {
                pid: one.pid,
                name: one.name.clone(),
                per_s: one.wakeups / seconds,
                percent: used_by(one.pid, &cpus),
            })
            .collect(),
        misses: seen.misses().to_owned(),
    }
}

fn used_by(pid: Tid, cpus: &[&Cpu]) -> f64 {
    let strangers = cpus.iter().flat_map(|cpu| &cpu.strangers);
    strangers.filter(|stranger| stranger.pid == pid).map(|stranger| stranger.run_percent).sum()
}
