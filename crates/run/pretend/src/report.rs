//! `seatmap-pretend/1`: where the threads of a program would have sat on another machine.

use crate::answers::BoundRange;
use crate::machine::PretendedMachine;
use crate::record::{MaskChange, RecordedThread};
use crate::run::PretendedRun;
use seatmap_data::statistics::words::counted;
use seatmap_launch::Ending;
use seatmap_os::{CpuSet, Tid};
use seatmap_watch::judge::judged::Judged;
use seatmap_watch::{
    Criteria, Finding, Process, Seating, Unseen, Verdict, WatchedThread, variables,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-pretend/1";

/// The things that a seating of a living program has, and that this computer knows nothing of.
const UNSEEN: [&str; 6] = ["memory", "cpu-time", "interrupts", "strangers", "devices", "quota"];

/// A program that saw another machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PretendReport {
    /// Name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: String,
    /// The machine that the program saw.
    pub machine: String,
    /// The CPUs that ran there, as a list.
    pub online: String,
    /// The CPUs that the program could use, as a list.
    pub allowed: String,
    /// The program's exit code; null where a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How long it ran, in seconds.
    pub lasted_s: f64,
    /// The number of calls that were answered for the machine, by name.
    pub calls: BTreeMap<String, u64>,
    /// The threads, in order of their arrival.
    pub threads: Vec<PretendedThread>,
    /// The ranges of memory with policies of their own, in order.
    pub ranges: Vec<PretendedRange>,
    /// The moment that is judged, in seconds since the program began: one at which most threads
    /// lived together.
    pub judged_at_s: f64,
    /// Everything that is wrong or worth knowing, by the rules or the plan that were given.
    pub findings: Vec<Finding>,
    /// The result in one word; null where nothing was to be judged.
    pub verdict: Option<Verdict>,
}

/// A thread of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PretendedThread {
    /// Its process.
    pub pid: Tid,
    /// Its number.
    pub tid: Tid,
    /// Its name.
    pub name: String,
    /// When it was created, in seconds since the program began.
    pub born_s: f64,
    /// When it ended; null where it outlived the program's first process.
    pub ended_s: Option<f64>,
    /// The CPUs of the thread that created it, as a list.
    pub inherited: String,
    /// The masks that it was given since, in order.
    pub changes: Vec<PretendedMask>,
    /// The masks that it was refused, in order: none of their CPUs is there for the program.
    #[serde(default)]
    pub refused: Vec<PretendedMask>,
    /// Its mask at the end, as a list.
    pub mask: String,
    /// Its memory policy at the end, as the kernel writes it: `default`, `bind:0`.
    pub policy: String,
    /// The time that it ran on this computer, in seconds.
    pub run_s: f64,
}

/// A mask that a thread was given or refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PretendedMask {
    /// When, in seconds since the program began.
    pub at_s: f64,
    /// The CPUs, as a list.
    pub cpus: String,
}

/// A range of memory with a policy of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PretendedRange {
    /// The process.
    pub pid: Tid,
    /// The thread that set it.
    pub tid: Tid,
    /// The first address, in hexadecimal.
    pub address: String,
    /// The length.
    pub bytes: u64,
    /// The policy, as the kernel writes it.
    pub policy: String,
}

impl From<&RecordedThread> for PretendedThread {
    fn from(thread: &RecordedThread) -> Self {
        PretendedThread {
            pid: thread.pid,
            tid: thread.tid,
            name: thread.name.clone(),
            born_s: thread.born_s,
            ended_s: thread.ended_s,
            inherited: thread.inherited.to_string(),
            changes: thread.changes.iter().map(PretendedMask::from).collect(),
            refused: thread.refused.iter().map(PretendedMask::from).collect(),
            mask: thread.mask().to_string(),
            policy: thread.policy.to_string(),
            run_s: seconds(thread.run_ns),
        }
    }
}

impl From<&MaskChange> for PretendedMask {
    fn from(change: &MaskChange) -> Self {
        PretendedMask { at_s: change.at_s, cpus: change.cpus.to_string() }
    }
}

impl From<&BoundRange> for PretendedRange {
    fn from(range: &BoundRange) -> Self {
        PretendedRange {
            pid: range.pid,
            tid: range.tid,
            address: format!("{:x}", range.start),
            bytes: range.bytes,
            policy: range.policy.to_string(),
        }
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

impl PretendedRun {
    /// The moment that is judged, in seconds since the program began.
    #[must_use]
    pub fn judged_at_s(&self) -> f64 {
        self.answers.record.fullest_s(self.lasted_s)
    }

    /// The document, with the judgement where there is one.
    #[must_use]
    pub fn report(&self, judged: Option<&Judged>) -> PretendReport {
        let machine = self.answers.machine();
        let (exit_code, signal) = match self.ending {
            Ending::Exited(code) => (Some(code), None),
            Ending::Killed(signal) => (None, Some(signal)),
        };
        let calls = self.answers.calls.iter();
        PretendReport {
            format: FORMAT.to_owned(),
            machine: machine.name.clone(),
            online: machine.online.to_string(),
            allowed: machine.allowed.to_string(),
            exit_code,
            signal,
            lasted_s: self.lasted_s,
            calls: calls.map(|(name, count)| ((*name).to_owned(), *count)).collect(),
            threads: self.answers.record.threads.iter().map(PretendedThread::from).collect(),
            ranges: self.answers.ranges.iter().map(PretendedRange::from).collect(),
            judged_at_s: self.judged_at_s(),
            findings: judged.map(|judged| judged.findings.clone()).unwrap_or_default(),
            verdict: judged.map(|judged| judged.verdict),
        }
    }

    /// Judges the threads by rules and seats, as `seatmap check` judges those of living programs.
    pub fn judge<T>(&self, criteria: &Criteria, of: impl FnOnce(&Judged) -> T) -> T {
        let seating = self.seating();
        let judged = Judged::new(&seating, &self.answers.machine().usable(), criteria);
        let mut judged = judged.with(self.refusals(), criteria.strict);
        // Commands of this computer mend nothing of another one.
        for finding in &mut judged.findings {
            finding.remedy = None;
            finding.remedy_kind = None;
        }
        of(&judged)
    }

    /// A finding for each process whose threads were refused masks. It is wrong where that was the
    /// last attempt to bind a thread. A program that tries others then is only worth a remark.
    fn refusals(&self) -> Vec<Finding> {
        let machine = self.answers.machine();
        let threads = &self.answers.record.threads;
        let mut of: BTreeMap<Tid, Vec<&RecordedThread>> = BTreeMap::new();
        for thread in threads.iter().filter(|thread| !thread.refused.is_empty()) {
            of.entry(thread.pid).or_default().push(thread);
        }
        of.into_iter().map(|(pid, threads)| refusal(machine, pid, &threads)).collect()
    }

    /// The seating of the machine at the moment that is judged.
    #[must_use]
    pub fn seating(&self) -> Seating {
        let at_s = self.judged_at_s();
        let machine = self.answers.machine();
        let record = &self.answers.record;
        let living: Vec<&RecordedThread> =
            record.threads.iter().filter(|thread| thread.lived_at(at_s)).collect();
        let processes = record.processes.iter().filter_map(|process| {
            let mut threads = living.iter().filter(|thread| thread.pid == process.pid);
            let first = threads.next()?;
            Some(Process {
                pid: process.pid,
                parent: process.parent,
                name: first.name.clone(),
                age_s: at_s - first.born_s,
                threads: 1 + threads.count(),
                variables: variables::binding(&environment()),
                ..Process::default()
            })
        });
        let threads = living.iter().map(|thread| seated(thread, at_s, self.lasted_s));
        let mut seating = Seating {
            format: seatmap_watch::seating::FORMAT.to_owned(),
            machine: machine.name.clone(),
            watched_s: self.lasted_s,
            looks: 1,
            processes: processes.collect(),
            threads: threads.collect(),
            unseen: UNSEEN.map(unseen).into(),
            ..Seating::default()
        };
        seating.processes.sort_by_key(|process| process.pid);
        seating.threads.sort_by_key(|thread| (thread.pid, thread.tid));
        seating.kernel.memory_nodes = Some(machine.memory_nodes().to_string());
        seating
    }

    /// The machine, as far as the program may use it.
    #[must_use]
    pub fn about(&self) -> String {
        let machine = self.answers.machine();
        format!(
            "on {}: {}, {} of them for the program",
            machine.name,
            counted(machine.online.len(), "CPU"),
            machine.allowed.len()
        )
    }

    /// Of each thread its process, number and name, the cores, CPUs and nodes of its mask, and the
    /// mask with how it came to be.
    #[must_use]
    pub fn threads(&self) -> Vec<[String; 7]> {
        self.answers.record.threads.iter().map(|thread| self.row(thread)).collect()
    }

    fn row(&self, thread: &RecordedThread) -> [String; 7] {
        let machine = self.answers.machine();
        let mask = thread.mask();
        let note = match (thread.changes.is_empty(), thread.refused.len()) {
            (true, 0) => "inherited".to_owned(),
            (false, 0) => "set".to_owned(),
            (true, refused) => format!("inherited, {}", refusals(refused)),
            (false, refused) => format!("set, {}", refusals(refused)),
        };
        [
            thread.pid.to_string(),
            thread.tid.to_string(),
            thread.name.clone(),
            cores(machine, mask).to_string(),
            mask.len().to_string(),
            nodes(machine, mask).to_string(),
            format!("{mask} ({note})"),
        ]
    }

    /// The moment that was judged.
    #[must_use]
    pub fn judged_when(&self, judged: &Judged) -> String {
        format!(
            "judged {:.3} s after the start, when {} of {} lived:",
            self.judged_at_s(),
            judged.seating.threads.len(),
            counted(self.answers.record.threads.len(), "thread")
        )
    }
}

fn seated(thread: &RecordedThread, at_s: f64, lasted_s: f64) -> WatchedThread {
    let life_s = (thread.ended_s.unwrap_or(lasted_s) - thread.born_s).max(1e-3);
    WatchedThread {
        pid: thread.pid,
        tid: thread.tid,
        name: thread.name.clone(),
        state: 'S',
        age_s: at_s - thread.born_s,
        mask: thread.mask_at(at_s).to_string(),
        policy: "other".to_owned(),
        run_s: seconds(thread.run_ns),
        run_percent: (seconds(thread.run_ns) / life_s * 100.0).min(100.0),
        wait_s: Some(seconds(thread.wait_ns)),
        // This computer's crowd says nothing of the machine's.
        wait_percent: None,
        ..WatchedThread::default()
    }
}

/// The masks that threads of a process were refused.
fn refusal(machine: &PretendedMachine, pid: Tid, threads: &[&RecordedThread]) -> Finding {
    let masks = threads.iter().flat_map(|thread| &thread.refused);
    let cpus: CpuSet = masks.flat_map(|refused| refused.cpus.iter()).collect();
    let what = format!(
        "{} could not be bound to {}: the program may use {}",
        counted(threads.len(), "thread"),
        cpus.named(),
        machine.allowed.named()
    );
    Finding::wrong("refused", what)
        .grave_if(threads.iter().any(|thread| thread.is_refused()))
        .of(pid)
        .tids(threads.iter().map(|thread| thread.tid))
        .on(&cpus)
}

fn refusals(count: usize) -> String {
    format!("{} refused", counted(count, "mask"))
}

fn unseen(what: &str) -> Unseen {
    let why = "the machine is not there, and only its CPUs and their masks are known".to_owned();
    Unseen { what: what.to_owned(), pids: Vec::new(), why }
}

/// The environment that the program was given, as `/proc/PID/environ` has it.
fn environment() -> Vec<u8> {
    let mut text = Vec::new();
    for (name, value) in std::env::vars_os() {
        text.extend([name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat());
    }
    text
}

fn cores(machine: &PretendedMachine, mask: &CpuSet) -> usize {
    let pus = mask.iter().filter_map(|cpu| machine.topology.pu(cpu));
    pus.map(|pu| pu.core).collect::<std::collections::BTreeSet<_>>().len()
}

fn nodes(machine: &PretendedMachine, mask: &CpuSet) -> CpuSet {
    mask.iter().map(|cpu| machine.node_of(cpu)).collect()
}
