//! Watches and observes a program for a few seconds, in parallel.
//!
//! The watcher reads masks, quotas, neighbours and waits for a CPU; the observation records
//! messages, also of short-lived threads.

mod devices;
mod faults;
mod neighbours;
mod waits;

use crate::evidence::{BUSY_PERCENT, BusyThread, Client, Evidence, ProgramTalk, UnseenFact};
use crate::scope::Scope;
use devices::DeviceWaits;
use seatmap_data::document::{Failure, shell_escaped};
use seatmap_data::machine::{Profile, Topology};
use seatmap_data::statistics::greatest;
use seatmap_data::statistics::words::{counted, joined};
use seatmap_launch::runtime::{counts, is_of_go};
use seatmap_observe::{
    Observation, ObservationEnd, ObservationSession, ObserveError, TracingMechanism,
};
use seatmap_os::usage::{own_cpu_ns, process_cpu_ns};
use seatmap_os::{CpuSet, Ending, Root, Tid, task};
use seatmap_watch::seating::{CpuActivity, WatchedThread};
use seatmap_watch::{ProcessChoice, Seating, WatchOptions, Watcher};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};
use waits::{CpuDemand, Waits};

/// The shortest pause between two glances at the threads.
const GLANCE: Duration = Duration::from_millis(25);

const LONGEST_GLANCE: Duration = Duration::from_millis(500);

/// In multiples of a glance's CPU time: less than 1 % of a CPU, with any number of threads.
const GLANCE_REST: u32 = 100;

/// By then a command has executed its program.
const SETTLED: Duration = Duration::from_millis(100);

/// The pause between seatings: after an exit, only the last one shows masks, quotas and groups.
const LAST_SEATING: Duration = Duration::from_millis(500);

/// Glances for each reading of the threads' times.
const GLANCES_A_READING: u32 = 4;

const MOST_LISTED: usize = 5;

/// Makes an OpenMP team spin at barriers (OpenMP 5.2, section 21.1.8).
const SPINNING: &str = "OMP_WAIT_POLICY=active";

/// A team that sleeps a thousand times a second is seen at one of the first looks.
const BARRIER_LOOKS: u32 = 50;

const BETWEEN_BARRIER_LOOKS: Duration = Duration::from_millis(2);

/// GCC's, LLVM's and Intel's runtimes.
const OPENMP: [&str; 3] = ["libgomp", "libomp", "libiomp5"];

/// The result of a look.
#[derive(Debug)]
pub struct ProgramEvidence {
    /// The facts found.
    pub evidence: Evidence,
    /// The threads and their messages, if observed.
    pub observation: Option<Observation>,
    /// The started command, if any.
    pub child: Option<Child>,
    /// The distances of the machine in question, once they decide.
    pub profile: Option<Profile>,
}

/// Looks at a running program or a new command for this time.
///
/// # Errors
/// [`Failure`]: the program does not exist, or the command did not start.
pub fn look(
    scope: &Scope,
    time: Duration,
    topology: &Topology,
    stop: &dyn Fn() -> bool,
) -> Result<ProgramEvidence, Failure> {
    let mut running = Running::begin(scope)?;
    running.pass(time, stop)?;
    running.end(scope, topology)
}

pub(crate) fn interrupted() -> Failure {
    Failure::work("interrupted: the program's CPUs are as before")
}

struct Running {
    watcher: Option<Watcher>,
    session: Option<ObservationSession>,
    unseen: Option<String>,
    unobserved: Option<Child>,
    last: Option<Seating>,
    last_at: Instant,
    last_pause: Duration,
    has_openmp: bool,
    has_goroutines: bool,
    first_name: Option<String>,
    reaped_before_s: f64,
    reaped_s: f64,
    own_before_s: f64,
    waits: Waits,
    pause: Duration,
    begun: Instant,
    has_ended: bool,
    glances: u32,
    devices: DeviceWaits,
}

impl Running {
    fn begin(scope: &Scope) -> Result<Self, Failure> {
        let watcher = match scope {
            Scope::Running(choice) => Some(Watcher::begin(choice, &options())?),
            Scope::Command(_) => None,
        };
        let mut pids = watcher.as_ref().map(Watcher::pids).unwrap_or_default();
        // A selection such as a shell's children may include this process.
        pids.retain(|pid| *pid != own_pid());
        let (session, unseen) =
            match ObservationSession::begin(None, TracingMechanism::Best, &scope.subject(&pids)) {
                Ok(session) => (Some(session), None),
                Err(
                    ObserveError::Forbidden { reasons: why }
                    | ObserveError::Unavailable { reason: why, .. },
                ) => (None, Some(why)),
                Err(error) => return Err(error.into()),
            };
        let unobserved = match scope {
            Scope::Command(command) if session.is_none() => Some(command.start()?),
            _ => None,
        };
        Ok(Running {
            watcher,
            session,
            unseen,
            unobserved,
            last: None,
            last_at: Instant::now(),
            last_pause: LAST_SEATING,
            has_openmp: false,
            has_goroutines: false,
            first_name: pids.first().and_then(|pid| task::name(&Root::new("/"), *pid)),
            reaped_before_s: reaped_s(&pids),
            reaped_s: 0.0,
            own_before_s: own_s(),
            waits: Waits::default(),
            pause: GLANCE,
            begun: Instant::now(),
            has_ended: false,
            glances: 0,
            devices: DeviceWaits::default(),
        })
    }

    fn pass(&mut self, time: Duration, stop: &dyn Fn() -> bool) -> Result<(), Failure> {
        while self.begun.elapsed() < time && !self.has_ended {
            if stop() {
                return Err(interrupted());
            }
            match &mut self.session {
                Some(session) => {
                    let until = session.elapsed() + self.pause;
                    self.has_ended = session.wait(Some(until), stop)? == ObservationEnd::Program;
                }
                None => {
                    std::thread::sleep(self.pause);
                    let child = self.unobserved.as_mut();
                    self.has_ended = child.is_some_and(|one| matches!(one.try_wait(), Ok(Some(_))));
                }
            }
            let cpu_ns = own_cpu_ns();
            self.glance();
            let glance = Duration::from_nanos(own_cpu_ns().saturating_sub(cpu_ns));
            self.pause = (glance * GLANCE_REST).clamp(GLANCE, LONGEST_GLANCE);
        }
        Ok(())
    }

    fn glance(&mut self) {
        if self.watcher.is_none() && self.begun.elapsed() >= SETTLED {
            let pids: Vec<Tid> = self.command_pid().into_iter().collect();
            let choice = ProcessChoice::Processes { pids, with_children: true };
            self.watcher = Watcher::begin(&choice, &options()).ok();
        }
        if let Some(watcher) = &mut self.watcher {
            watcher.glance();
            if self.last_at.elapsed() >= self.last_pause {
                self.seat();
            }
        }
        let threads = self.threads();
        if self.glances.is_multiple_of(GLANCES_A_READING) {
            self.waits.read(threads.iter().map(|(_, tid)| *tid));
        }
        self.glances += 1;
        self.devices.glance(&threads);
    }

    fn seat(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        let cpu_ns = own_cpu_ns();
        let seating = watcher.so_far();
        if !seating.threads.is_empty() {
            self.note(&seating);
            self.last = Some(seating);
        }
        let cost = Duration::from_nanos(own_cpu_ns().saturating_sub(cpu_ns));
        self.last_pause = (cost * GLANCE_REST).max(LAST_SEATING);
        self.last_at = Instant::now();
    }

    fn note(&mut self, seating: &Seating) {
        self.has_openmp |= has_openmp(seating);
        self.has_goroutines |= has_goroutines(seating);
        let pids: Vec<Tid> = seating.processes.iter().map(|process| process.pid).collect();
        self.reaped_s = self.reaped_s.max(reaped_s(&pids) - self.reaped_before_s);
    }

    fn threads(&self) -> Vec<(Tid, Tid)> {
        if let Some(session) = &self.session {
            return session.threads();
        }
        let mut threads = Vec::new();
        for pid in self.watcher.as_ref().map(Watcher::pids).unwrap_or_default() {
            let tids = task::threads(pid).unwrap_or_default();
            threads.extend(tids.into_iter().map(|tid| (pid, tid)));
        }
        threads
    }

    fn command_pid(&self) -> Option<Tid> {
        let observed = self.session.as_ref().and_then(|session| session.child.as_ref());
        Tid::try_from(observed.or(self.unobserved.as_ref())?.id()).ok()
    }

    fn end(mut self, scope: &Scope, topology: &Topology) -> Result<ProgramEvidence, Failure> {
        let threads = self.threads();
        self.waits.read(threads.iter().map(|(_, tid)| *tid));
        let mut seating = self.watcher.as_mut().map(Watcher::seating).unwrap_or_default();
        let is_gone = seating.threads.is_empty();
        if let Some(last) = self.last.take().filter(|_| is_gone) {
            let cpus = std::mem::take(&mut seating.cpus);
            seating = Seating { cpus, ..last };
        }
        self.note(&seating);
        let looked_s = self.begun.elapsed().as_secs_f64();
        let own_percent = 100.0 * (own_s() - self.own_before_s) / looked_s.max(1e-3);
        let name = self.name(scope, &seating);
        let (observation, mut child) = match self.session {
            Some(session) => {
                let (observation, child) = session.finish();
                (Some(observation), child)
            }
            None => (None, self.unobserved),
        };
        let observed_s = self.begun.elapsed().as_secs_f64();
        let has_ended = self.has_ended || is_gone && child.is_none();
        let mut evidence = Evidence {
            name,
            command: typed(scope),
            chosen_by: scope.options(),
            pids: seating
                .processes
                .iter()
                .map(|process| process.pid)
                .filter(|pid| *pid != own_pid() && !has_ended)
                .collect(),
            looked_s,
            has_ended,
            has_openmp: self.has_openmp,
            has_goroutines: self.has_goroutines,
            quotas: seating
                .quotas
                .iter()
                .map(|quota| format!("{} ({})", counted(quota.cpus, "CPU"), quota.file))
                .collect(),
            quotas_unseen: quotas_unseen(&seating, has_ended),
            talk_unseen: self.unseen,
            device_wait_percent: self.devices.percent(),
            requests_unseen: self.devices.is_kept,
            ..Evidence::default()
        };
        let reaped_percent = 100.0 * self.reaped_s / looked_s.max(1e-3);
        if let Some(child) = &mut child {
            fill_failure(&mut evidence, child);
        }
        let seen = observation.as_ref().map(|seen| (seen, observed_s));
        fill_loads(&mut evidence, &seating, seen, reaped_percent);
        fill_cpus(&mut evidence, &seating, &self.waits);
        let demand = self.waits.demand(looked_s).or_else(|| demand_of(&seating.threads));
        if demand.is_none() {
            evidence.unseen.push(UnseenFact::Waits);
        }
        if self.devices.is_partial {
            evidence.unseen.push(UnseenFact::DeviceWaits);
        }
        let demand = demand.unwrap_or_default();
        evidence.waits_percent = demand.waits_percent();
        evidence.ready = demand.threads;
        evidence.wanted_percent =
            evidence.used_percent.max(demand.run_percent) + demand.wait_percent;
        // Clients are found first, because they are not neighbours.
        evidence.talk = observation.as_ref().map(|seen| talk(seen, &seating));
        neighbours::fill(&mut evidence, &seating, own_percent);
        faults::fill(&mut evidence, &seating, topology);
        if evidence.may_sleep_at_barriers()
            && sleeps_in_runtime(&evidence.busy)
            && !is_told_to_spin(&evidence.pids)
        {
            evidence.rival_setting = Some(SPINNING.to_owned());
        }
        Ok(ProgramEvidence { evidence, observation, child, profile: None })
    }

    /// The process's name, or the command's longer file name.
    fn name(&self, scope: &Scope, seating: &Seating) -> String {
        let process = seating.processes.first().map(|process| process.name.clone());
        let Scope::Command(command) = scope else {
            let first = process.or_else(|| self.first_name.clone());
            return first.unwrap_or_else(|| scope.words());
        };
        let program = command.words.first().cloned().unwrap_or_default();
        let file = Path::new(&program).file_name().unwrap_or_default();
        let file = file.to_string_lossy().into_owned();
        // `timeout` starts the program, but `taskset` becomes it.
        let inner = seating.processes.get(1).filter(|_| STARTERS.contains(&file.as_str()));
        if let Some(inner) = inner {
            return inner.name.clone();
        }
        process.filter(|name| !file.starts_with(name.as_str())).unwrap_or(file)
    }
}

fn is_told_to_spin(pids: &[Tid]) -> bool {
    let root = Root::new("/");
    let is_active = |(name, value): (String, String)| {
        name == "OMP_WAIT_POLICY" && value.trim().eq_ignore_ascii_case("active")
    };
    pids.iter().flat_map(|pid| task::environment(&root, *pid)).any(is_active)
}

/// These commands start the program and wait for it.
const STARTERS: [&str; 5] = ["timeout", "time", "sudo", "doas", "setsid"];

pub(crate) fn fill_failure(evidence: &mut Evidence, child: &mut Child) {
    let status = child.try_wait().ok().flatten();
    if let Some(ending) = status.map(Ending::of).filter(|ending| !ending.is_success()) {
        evidence.failure = Some(ending.to_string());
        evidence.is_cut = ending.is_cut();
    }
}

/// The CPU time of reaped children, in seconds. Short-lived ones appear nowhere else.
fn reaped_s(pids: &[Tid]) -> f64 {
    pids.iter().map(|pid| task::reaped_s(*pid)).sum()
}

fn own_s() -> f64 {
    process_cpu_ns(own_pid()).unwrap_or(0) as f64 / 1e9
}

fn own_pid() -> Tid {
    Tid::try_from(std::process::id()).unwrap_or(0)
}

fn options() -> WatchOptions {
    WatchOptions { every_cpu: true, memory_processes: 0, ..WatchOptions::default() }
}

fn typed(scope: &Scope) -> Option<String> {
    let Scope::Command(command) = scope else { return None };
    let words = command.words.iter().map(|word| shell_escaped(&word.to_string_lossy()));
    Some(joined(words, " "))
}

/// Those of an exited program cannot be read.
fn quotas_unseen(seating: &Seating, has_ended: bool) -> Option<String> {
    let unseen = seating.unseen.iter().find(|unseen| unseen.what == "quota");
    let is_gone = has_ended && seating.threads.is_empty();
    unseen.map(|unseen| unseen.why.clone()).or_else(|| is_gone.then(|| "it ended".to_owned()))
}

/// A process with unreadable mappings counts as one without OpenMP.
fn has_openmp(seating: &Seating) -> bool {
    seating.processes.iter().any(|process| {
        let maps = Root::new("/").read(&format!("/proc/{}/maps", process.pid)).unwrap_or_default();
        is_openmp(&maps)
    })
}

/// A line may end with a runtime of Debian or of a Python wheel.
fn is_openmp(paths: &str) -> bool {
    counts::in_maps(paths.as_bytes()).iter().any(|runtime| OPENMP.contains(&runtime.name))
}

/// A program may have the runtime loaded, and wait for something else.
fn sleeps_in_runtime(threads: &[BusyThread]) -> bool {
    (0..BARRIER_LOOKS).any(|_| {
        std::thread::sleep(BETWEEN_BARRIER_LOOKS);
        let mut files = threads.iter().filter_map(|thread| task::sleeps_in_file(thread.tid));
        files.any(|file| is_openmp(&file.to_string_lossy()))
    })
}

fn has_goroutines(seating: &Seating) -> bool {
    let mut files = seating.processes.iter().filter_map(|process| task::program_file(process.pid));
    files.any(|file| is_of_go(&file))
}

fn union<'a>(masks: impl Iterator<Item = &'a str>) -> CpuSet {
    let masks = masks.filter_map(CpuSet::of_list);
    masks.fold(CpuSet::default(), |all, mask| all.with(&mask))
}

/// The masks of exited threads are those of the last reading.
fn fill_cpus(evidence: &mut Evidence, seating: &Seating, waits: &Waits) {
    for thread in evidence.busy.iter_mut().filter(|thread| thread.cpus.is_empty()) {
        thread.cpus = waits.mask(thread.tid).map(CpuSet::to_string).unwrap_or_default();
    }
    let of_busy = union(evidence.busy.iter().map(|thread| &*thread.cpus));
    let of_all = union(seating.threads.iter().map(|thread| &*thread.mask));
    let known = [of_busy, of_all, waits.all_masks()].into_iter().find(|cpus| !cpus.is_empty());
    let cpus = known.unwrap_or_default();
    if cpus.is_empty() || evidence.busy.iter().any(|thread| thread.cpus.is_empty()) {
        evidence.unseen.push(UnseenFact::Masks);
    }
    evidence.cpus = cpus.to_string();
    evidence.cpu_count = cpus.len();
}

/// From the observation, which includes exited threads and has its time in seconds, or else from
/// the seating.
fn fill_loads(
    evidence: &mut Evidence,
    seating: &Seating,
    observation: Option<(&Observation, f64)>,
    reaped_percent: f64,
) {
    let seated = |tid: Tid| seating.threads.iter().find(|thread| thread.tid == tid);
    let mut threads: Vec<BusyThread> = match observation {
        Some((seen, seconds)) => {
            let percent = 100.0 / seconds.max(1e-3);
            let threads = seen.tasks.iter().map(|task| BusyThread {
                tid: task.tid,
                // The plain name, as in `ps`: an observation numbers equal names.
                name: seated(task.tid).map_or(&task.name, |thread| &thread.name).clone(),
                percent: task.cpu_s * percent,
                cpus: seated(task.tid).map(|thread| thread.mask.clone()).unwrap_or_default(),
            });
            threads.collect()
        }
        None => {
            let threads = seating.threads.iter().map(|thread| BusyThread {
                tid: thread.tid,
                name: thread.name.clone(),
                percent: thread.run_percent,
                cpus: thread.mask.clone(),
            });
            threads.collect()
        }
    };
    evidence.threads = threads.len();
    let observed: f64 = threads.iter().map(|thread| thread.percent).sum();
    let watched: f64 = seating.threads.iter().map(|thread| thread.run_percent).sum();
    evidence.used_percent = observed.max(watched + reaped_percent);
    let lasting = seating.threads.iter().filter(|one| 2.0 * one.age_s >= evidence.looked_s);
    evidence.lasting_percent = lasting.map(|thread| thread.run_percent).sum();
    threads.retain(|thread| thread.percent >= BUSY_PERCENT);
    threads.sort_by(|a, b| b.percent.total_cmp(&a.percent).then(a.tid.cmp(&b.tid)));
    evidence.busy = threads;
}

/// `None` if a wait is unknown, or there are no threads.
fn demand_of(threads: &[WatchedThread]) -> Option<CpuDemand> {
    let mut sum = CpuDemand::default();
    for thread in threads {
        sum.add(thread.run_percent, thread.wait_percent?);
    }
    (!threads.is_empty()).then_some(sum)
}

fn talk(seen: &Observation, seating: &Seating) -> ProgramTalk {
    let seconds = seen.seconds().max(1e-3);
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
                percent: threads_of(one.pid, &seating.cpus).sum(),
                busiest_percent: greatest(threads_of(one.pid, &seating.cpus)),
            })
            .collect(),
        misses: seen.misses().to_owned(),
    }
}

fn threads_of(pid: Tid, cpus: &[CpuActivity]) -> impl Iterator<Item = f64> {
    let strangers = cpus.iter().flat_map(|cpu| &cpu.strangers);
    strangers.filter(move |stranger| stranger.pid == pid).map(|stranger| stranger.run_percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openmp_of_a_python_wheel_is_recognized() {
        assert!(is_openmp("7f2-7f3 r-xp 0 8:1 9 /x/numpy.libs/libgomp-a34b3233.so.1.0.0\n"));
        assert!(is_openmp("/usr/lib/libgomp.so.1 (deleted)"));
        assert!(!is_openmp("/usr/lib/libtorch_cpu.so\n/usr/lib/libompitrace.so\n"));
    }
}
