//! `seatmap-pretend/1`: the CPUs that a program's threads would have on another machine.

use crate::record::{MaskChange, RecordedThread};
use crate::{PretendedMachine, PretendedRun};
use seatmap_data::grouped::by_key;
use seatmap_data::words::counted;
use seatmap_launch::Ending;
use seatmap_os::{CpuSet, Tid};
use seatmap_watch::judge::judged::Judged;
use seatmap_watch::{
    Criteria, Finding, Process, Seating, Unseen, Verdict, WatchedThread, variables,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;

/// The value of the `format` key.
pub const FORMAT: &str = "seatmap-pretend/1";

/// Parts of a seating that are unknown for a pretended machine.
const UNSEEN: [&str; 6] = ["memory", "cpu-time", "interrupts", "strangers", "devices", "quota"];

/// A program that saw another machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PretendReport {
    /// The format's name and version.
    pub format: String,
    /// The pretended machine.
    pub machine: String,
    /// The machine's online CPUs, as a list.
    pub online: String,
    /// The program's CPUs, as a list.
    pub allowed: String,
    /// Its quota of CPU time, in CPUs; null without a limit.
    #[serde(default)]
    pub quota_cpus: Option<f64>,
    /// The exit code; null if a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if any.
    pub signal: Option<i32>,
    /// The running time, in seconds.
    pub lasted_s: f64,
    /// Answered calls, by name.
    pub calls: BTreeMap<String, u64>,
    /// The threads, in order of arrival.
    pub threads: Vec<PretendedThread>,
    /// Memory ranges with separate policies, in order.
    pub ranges: Vec<PretendedRange>,
    /// A moment with the most living threads, in seconds since the program began.
    pub judged_at_s: f64,
    /// Everything wrong or worth knowing, by the rules or plan.
    pub findings: Vec<Finding>,
    /// The result in one word; null if none was requested.
    pub verdict: Option<Verdict>,
}

/// A thread of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PretendedThread {
    /// The number of its process.
    pub pid: Tid,
    /// The thread's number.
    pub tid: Tid,
    /// The thread's name.
    pub name: String,
    /// Its start, in seconds since the program began.
    pub born_s: f64,
    /// Its end, in the same seconds; null if it outlived the first process.
    pub ended_s: Option<f64>,
    /// Its creator's mask, as a list.
    pub inherited: String,
    /// Later masks, in order.
    pub changes: Vec<PretendedMask>,
    /// Refused masks, in order, without a usable CPU.
    #[serde(default)]
    pub refused: Vec<PretendedMask>,
    /// The last mask, as a list.
    pub mask: String,
    /// The last memory policy, as the kernel writes it: `default`, `bind:0`.
    pub policy: String,
    /// NUMA nodes without memory of which it requested some in vain, as a list; absent if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_nodes: Option<String>,
    /// The CPU time on this computer, in seconds.
    pub run_s: f64,
    /// The time for which it waited for a CPU of this computer, in seconds.
    #[serde(default)]
    pub wait_s: f64,
}

/// A mask requested for a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PretendedMask {
    /// The time, in seconds since the program began.
    pub at_s: f64,
    /// The CPUs, as a list.
    pub cpus: String,
}

/// A memory range with a separate policy.
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

impl PretendedThread {
    fn of(thread: &RecordedThread) -> Self {
        let masks = |changes: &[MaskChange]| {
            let masks = changes
                .iter()
                .map(|change| PretendedMask { at_s: change.at_s, cpus: change.cpus.to_string() });
            masks.collect()
        };
        PretendedThread {
            pid: thread.pid,
            tid: thread.tid,
            name: thread.name.clone(),
            born_s: thread.born_s,
            ended_s: thread.ended_s,
            inherited: thread.inherited.to_string(),
            changes: masks(&thread.changes),
            refused: masks(&thread.refused),
            mask: thread.mask().to_string(),
            policy: thread.policy.to_string(),
            refused_nodes: Some(thread.refused_nodes.to_string()).filter(|list| !list.is_empty()),
            run_s: seconds(thread.run_ns),
            wait_s: seconds(thread.wait_ns),
        }
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

impl PretendedRun {
    /// The judged moment, in seconds since the program began.
    pub fn judged_at_s(&self) -> f64 {
        self.answers.record.fullest_s(self.lasted_s)
    }

    /// The document, with the judgement if there is one.
    pub fn report(&self, judged: Option<&Judged>) -> PretendReport {
        let machine = &self.answers.machine;
        let (exit_code, signal) = match self.ending {
            Ending::Exited(code) => (Some(code), None),
            Ending::Killed(signal) => (None, Some(signal)),
        };
        let calls = self.answers.calls.iter();
        let ranges = self.answers.ranges.iter().map(|range| PretendedRange {
            pid: range.pid,
            tid: range.tid,
            address: format!("{:x}", range.start),
            bytes: range.bytes,
            policy: range.policy.to_string(),
        });
        PretendReport {
            format: FORMAT.to_owned(),
            machine: machine.name.clone(),
            online: machine.online.to_string(),
            allowed: machine.allowed.to_string(),
            quota_cpus: machine.group.quota_cpus(),
            exit_code,
            signal,
            lasted_s: self.lasted_s,
            calls: calls.map(|(name, count)| ((*name).to_owned(), *count)).collect(),
            threads: self.answers.record.threads.iter().map(PretendedThread::of).collect(),
            ranges: ranges.collect(),
            judged_at_s: self.judged_at_s(),
            findings: judged.map(|judged| judged.findings.clone()).unwrap_or_default(),
            verdict: judged.map(|judged| judged.verdict),
        }
    }

    /// Judges the threads by rules and seats, like `seatmap check`.
    pub fn judge<T>(&self, criteria: &Criteria, of: impl FnOnce(&Judged) -> T) -> T {
        let seating = self.seating();
        let judged = Judged::new(&seating, &self.answers.machine.usable(), criteria);
        let mut judged = judged.with(self.refusals(), criteria.strict);
        // Commands on this computer cannot fix another one.
        for finding in &mut judged.findings {
            finding.remedy = None;
            finding.remedy_kind = None;
        }
        of(&judged)
    }

    /// A finding per process with refused masks: wrong if the last attempt failed, else a remark.
    fn refusals(&self) -> Vec<Finding> {
        let machine = &self.answers.machine;
        let threads = self.answers.record.threads.iter();
        let refused = threads.filter(|thread| !thread.refused.is_empty());
        let of: BTreeMap<Tid, Vec<&RecordedThread>> =
            by_key(refused.map(|thread| (thread.pid, thread)));
        of.into_iter().map(|(pid, threads)| refusal(machine, pid, &threads)).collect()
    }

    /// The seating at the judged moment.
    pub fn seating(&self) -> Seating {
        let at_s = self.judged_at_s();
        let machine = &self.answers.machine;
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
    pub fn about(&self) -> String {
        let machine = &self.answers.machine;
        let quota = machine.group.quota_cpus();
        let quota = quota.map_or_else(String::new, |cpus| format!(", with a quota of {cpus}"));
        format!(
            "on {}: {}, {} of them for the program{quota}",
            machine.name,
            counted(machine.online.len(), "CPU"),
            machine.allowed.len()
        )
    }

    /// A row for each thread.
    pub fn threads(&self) -> Vec<[String; 7]> {
        self.answers.record.threads.iter().map(|thread| self.row(thread)).collect()
    }

    fn row(&self, thread: &RecordedThread) -> [String; 7] {
        let machine = &self.answers.machine;
        let mask = thread.mask();
        let mut note = if thread.changes.is_empty() { "inherited" } else { "set" }.to_owned();
        if !thread.refused.is_empty() {
            note += &format!(", {} refused", counted(thread.refused.len(), "mask"));
        }
        let pus = mask.iter().filter_map(|cpu| machine.topology.pu(cpu));
        let cores = BTreeSet::from_iter(pus.map(|pu| pu.core));
        let nodes = CpuSet::from_iter(mask.iter().map(|cpu| machine.node_of(cpu)));
        [
            thread.pid.to_string(),
            thread.tid.to_string(),
            thread.name.clone(),
            cores.len().to_string(),
            mask.len().to_string(),
            nodes.to_string(),
            format!("{mask} ({note})"),
        ]
    }

    /// The moment that was judged.
    pub fn judged_when(&self, judged: &Judged) -> String {
        format!(
            "judged {:.3} s after the start, with {} of {} alive:",
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
        wait_percent: None,
        ..WatchedThread::default()
    }
}

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

fn unseen(what: &str) -> Unseen {
    let why = "the machine is pretended: only its CPUs and the masks are known".to_owned();
    Unseen { what: what.to_owned(), pids: Vec::new(), why }
}

fn environment() -> Vec<u8> {
    let mut text = Vec::new();
    for (name, value) in std::env::vars_os() {
        text.extend([name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat());
    }
    text
}
