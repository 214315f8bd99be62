//! The faults of a program in one run, by the record of its threads.
//!
//! This computer's load must not decide, because many pretended CPUs share its few. So a thread
//! counts as busy if it wanted a CPU, even in vain; and threads share a core only if their masks
//! force them.

use crate::PretendReport;
use crate::report::PretendedThread;
use seatmap_data::grouped::by_key;
use seatmap_data::machine::{CoreKind, Pu, Topology};
use seatmap_data::words::{counted, counted_figure};
use seatmap_launch::Ending;
use seatmap_launch::count::CpuCount;
use seatmap_os::CpuSet;
use seatmap_watch::{Finding, Gravity};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Helpers of scripts use less CPU time than this, in seconds.
const BUSY_RUN_S: f64 = 0.1;
/// A busy thread wants a CPU for this share of its life.
const BUSY_SHARE: f64 = 0.5;

/// The longest line of output that a fault quotes, in characters.
const MOST_QUOTED: usize = 60;

/// Something wrong in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ZooFault {
    /// `crash`, `timeout`, `refused`, `shared-core`, `slow-core`, `too-many`, `memory` or `output`;
    /// or a rule of `--check`.
    pub rule: String,
    /// The severity: other output is only a remark unless it was to be the same.
    pub gravity: Gravity,
    /// The fault, as a sentence.
    pub what: String,
}

impl ZooFault {
    /// A fault that fails the run.
    pub fn wrong(rule: &str, what: impl Into<String>) -> Self {
        ZooFault { rule: rule.to_owned(), gravity: Gravity::Wrong, what: what.into() }
    }

    /// Whether it fails the run.
    pub fn is_wrong(&self) -> bool {
        self.gravity == Gravity::Wrong
    }
}

/// The faults of a program's threads on a machine.
pub fn of_threads(report: &PretendReport, topology: &Topology) -> Vec<ZooFault> {
    let allowed = CpuSet::of_list(&report.allowed).unwrap_or_default();
    let pus = topology.pus.iter().filter(|pu| allowed.contains(pu.os)).collect();
    let busy = report.threads.iter().filter(|thread| {
        let is_alive = thread.born_s <= report.judged_at_s
            && thread.ended_s.is_none_or(|ended_s| ended_s >= report.judged_at_s);
        is_alive && is_busy(thread, report.lasted_s)
    });
    let masks =
        busy.map(|thread| CpuSet::of_list(&thread.mask).unwrap_or_default().within(&allowed));
    let crowd = BusyThreads { masks: masks.collect(), pus, quota_cpus: report.quota_cpus };
    let faults = [
        refused(report, &allowed),
        memory(report),
        crowd.too_many(),
        crowd.shared_core(),
        crowd.slow_core(),
    ];
    let mut faults: Vec<ZooFault> = faults.into_iter().flatten().collect();
    // The same sentence as ours.
    let checked = report.findings.iter().filter(|finding| finding.rule != "refused");
    faults.extend(checked.map(of_finding));
    faults
}

fn of_finding(finding: &Finding) -> ZooFault {
    ZooFault { rule: finding.rule.clone(), gravity: finding.gravity, what: finding.what.clone() }
}

fn is_busy(thread: &PretendedThread, lasted_s: f64) -> bool {
    let life_s = thread.ended_s.unwrap_or(lasted_s) - thread.born_s;
    thread.run_s >= BUSY_RUN_S && thread.run_s + thread.wait_s >= BUSY_SHARE * life_s
}

/// Threads whose last request for CPUs failed.
fn refused(report: &PretendReport, allowed: &CpuSet) -> Option<ZooFault> {
    let unbound: Vec<&PretendedThread> = report
        .threads
        .iter()
        .filter(|thread| {
            let last_s = thread.changes.last().map_or(f64::NEG_INFINITY, |change| change.at_s);
            thread.refused.last().is_some_and(|refused| refused.at_s >= last_s)
        })
        .collect();
    let masks = unbound.iter().flat_map(|thread| &thread.refused);
    let cpus: CpuSet =
        masks.filter_map(|refused| CpuSet::of_list(&refused.cpus)).flatten().collect();
    (!unbound.is_empty()).then(|| {
        let what = format!(
            "{} could not be bound to {}: the program may use {}",
            counted(unbound.len(), "thread"),
            cpus.named(),
            allowed.named()
        );
        ZooFault::wrong("refused", what)
    })
}

fn memory(report: &PretendReport) -> Option<ZooFault> {
    let asking: Vec<&str> =
        report.threads.iter().filter_map(|thread| thread.refused_nodes.as_deref()).collect();
    let nodes: CpuSet =
        asking.iter().filter_map(|nodes| CpuSet::of_list(nodes)).flatten().collect();
    (!asking.is_empty()).then(|| {
        let what = format!(
            "{} could not get memory of NUMA nodes without any: {nodes}",
            counted(asking.len(), "thread")
        );
        ZooFault::wrong("memory", what)
    })
}

/// The busy threads at the judged moment, and the program's CPUs.
struct BusyThreads<'a> {
    masks: Vec<CpuSet>,
    pus: Vec<&'a Pu>,
    quota_cpus: Option<f64>,
}

impl BusyThreads<'_> {
    fn too_many(&self) -> Option<ZooFault> {
        let mask = self.pus.len();
        let fit = CpuCount { mask, quota: self.quota_cpus, ..CpuCount::default() };
        (self.masks.len() > fit.threads()).then(|| {
            let cpus = match self.quota_cpus {
                Some(quota) if fit.is_limited_by_quota() => {
                    format!("a quota of {}", counted_figure(quota, 1, "CPU"))
                }
                _ => counted(mask, "CPU"),
            };
            let what = format!("{} for {cpus}", counted(self.masks.len(), "busy thread"));
            ZooFault::wrong("too-many", what)
        })
    }

    /// Busy threads that their masks force to share cores, although others are free.
    fn shared_core(&self) -> Option<ZooFault> {
        let cores = self.cores(|_| true);
        let used = self.most_seated(&cores);
        let wanted = self.masks.len().min(cores.len());
        (used < wanted).then(|| {
            let what = format!(
                "the masks of {} leave them {} of {}",
                counted(self.masks.len(), "busy thread"),
                counted(used, "core"),
                cores.len()
            );
            ZooFault::wrong("shared-core", what)
        })
    }

    /// Busy threads bound to slower cores while faster ones are free.
    fn slow_core(&self) -> Option<ZooFault> {
        let slow: CpuSet = self.pus.iter().filter(|pu| is_slow(pu)).map(|pu| pu.os).collect();
        let confined = self.masks.iter().filter(|mask| mask.is_subset(&slow));
        let on: Vec<&CpuSet> = confined.collect();
        let fast = self.cores(|pu| !is_slow(pu));
        let free = fast.len() - self.most_seated(&fast);
        (!on.is_empty() && free > 0).then(|| {
            let cpus = on.iter().fold(CpuSet::default(), |all, mask| all.with(mask));
            let what = format!(
                "{} may run only on slower cores ({}), while {} free",
                counted(on.len(), "busy thread"),
                cpus.named(),
                match free {
                    1 => "1 faster core is".to_owned(),
                    _ => format!("{free} faster cores are"),
                }
            );
            ZooFault::wrong("slow-core", what)
        })
    }

    /// The CPUs of each core.
    fn cores(&self, is_wanted: impl Fn(&Pu) -> bool) -> Vec<CpuSet> {
        let pus = self.pus.iter().filter(|pu| is_wanted(pu));
        let cores: BTreeMap<Option<u32>, CpuSet> = by_key(pus.map(|pu| (pu.core, pu.os)));
        cores.into_values().collect()
    }

    /// The most threads that can each have one of these cores: a maximum matching by augmenting
    /// paths (Kuhn 1955).
    fn most_seated(&self, cores: &[CpuSet]) -> usize {
        let all = cores.iter().fold(CpuSet::default(), |all, core| all.with(core));
        // These take what the others leave.
        let (anywhere, confined): (Vec<&CpuSet>, Vec<&CpuSet>) =
            self.masks.iter().partition(|mask| all.is_subset(mask));
        let mut sitters: Vec<Option<usize>> = vec![None; cores.len()];
        let reach: Vec<Vec<usize>> = confined
            .iter()
            .map(|mask| (0..cores.len()).filter(|core| cores[*core].meets(mask)).collect())
            .collect();
        let seated = (0..reach.len())
            .filter(|thread| seat(*thread, &reach, &mut sitters, &mut BTreeSet::new()))
            .count();
        (seated + anywhere.len()).min(cores.len())
    }
}

fn is_slow(pu: &Pu) -> bool {
    pu.kind.is_some_and(CoreKind::is_slower)
}

/// Finds a core for a thread; seated ones may have to move.
fn seat(
    thread: usize,
    reach: &[Vec<usize>],
    sitters: &mut [Option<usize>],
    tried: &mut BTreeSet<usize>,
) -> bool {
    for core in &reach[thread] {
        if !tried.insert(*core) {
            continue;
        }
        let is_free = match sitters[*core] {
            Some(sitter) => seat(sitter, reach, sitters, tried),
            None => true,
        };
        if is_free {
            sitters[*core] = Some(thread);
            return true;
        }
    }
    false
}

/// The end of a run, next to that on the whole machine.
pub fn of_ending(ending: Ending, whole: Option<Ending>) -> Option<ZooFault> {
    let is_as_whole = whole == Some(ending);
    (!ending.is_success() && !is_as_whole).then(|| {
        let than = if whole.is_some_and(Ending::is_success) {
            ", but not on the whole machine"
        } else {
            ""
        };
        ZooFault::wrong("crash", format!("the program {ending}{than}"))
    })
}

/// The first difference from the output on the whole machine.
pub fn of_output(output: &str, whole: &str, must_be_same: bool) -> Option<ZooFault> {
    let mut ours = output.lines();
    let mut theirs = whole.lines();
    let mut number = 1;
    loop {
        let pair = (ours.next(), theirs.next());
        match pair {
            (None, None) => return None,
            (ours, theirs) if ours == theirs => number += 1,
            (ours, theirs) => {
                let [ours, theirs] = [ours, theirs].map(quoted);
                let what = format!("line {number} is {ours}; on the whole machine it is {theirs}");
                let gravity = if must_be_same { Gravity::Wrong } else { Gravity::Remark };
                return Some(ZooFault { rule: "output".to_owned(), gravity, what });
            }
        }
    }
}

fn quoted(line: Option<&str>) -> String {
    let Some(line) = line else { return "missing".to_owned() };
    let shown: String = line.chars().take(MOST_QUOTED).collect();
    let rest = if shown.len() < line.len() { "..." } else { "" };
    format!("'{shown}{rest}'")
}

#[cfg(test)]
mod tests;
