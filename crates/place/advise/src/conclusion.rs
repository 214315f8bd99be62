//! The strongest causes come first, so that a quota, a neighbour or a client precludes advice about
//! seats. Only a wrong setting, or a trial that showed better seats, leads to *do this*, never a
//! model.

use self::Confidence::{High, Low, Medium};
use crate::evidence::{Evidence, NoTrial};
use crate::trial::TriedSeats;
use seatmap_watch::Finding;
use serde::{Deserialize, Serialize};

/// A program with less CPU time hardly runs, in percent of one CPU.
pub const HARDLY_RUNS_PERCENT: f64 = 5.0;

/// Other programs with this share of the program's CPUs, in percent, are the cause.
pub const NEIGHBOURS_PERCENT: f64 = 15.0;

/// As [`NEIGHBOURS_PERCENT`], for an OpenMP program with a thread for each CPU, in percent of one
/// CPU: a barrier waits for the last thread.
pub const NEIGHBOURS_OF_A_BARRIER_PERCENT: f64 = 50.0;

/// The least time lost to them, in percent of one thread's.
pub const LOST_TO_NEIGHBOURS_PERCENT: f64 = 25.0;

/// The share of a program's CPUs, in percent, whose loss to a hypervisor decides without a trial.
pub const STEAL_DECIDES_PERCENT: f64 = 50.0;

/// Waiting for a CPU that matters, in percent of the time in which busy threads could run.
pub const WAITS_PERCENT: f64 = 10.0;

/// Waiting for a device that decides, in percent of one thread's time.
pub const DEVICE_WAIT_PERCENT: f64 = 50.0;

/// A program that exits within this time, in seconds, shows too little.
pub const LEAST_LOOK_S: f64 = 0.5;

/// The busy threads' least share of the CPU time for seats to matter; short-lived threads have the
/// rest.
pub const BUSY_SHARE: f64 = 0.5;

/// A thread with this share of the program's CPU time does the work.
pub const ONE_THREAD_SHARE: f64 = 0.9;

/// A client is at its limit if one of its threads uses this percentage of a CPU.
pub const CLIENT_LIMIT_PERCENT: f64 = 80.0;

/// The smallest gain that a trial can show, in percent of the program's time.
pub const SHOWABLE_PERCENT: f64 = 1.0;

/// The verdict.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AdviceVerdict {
    /// A command improves the program.
    DoThis,
    /// Seats cannot improve it.
    LeaveIt,
    /// The evidence on this computer is not enough.
    CannotTell,
}

/// The certainty of a conclusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Facts that could change it are unknown.
    Low,
    /// It rests on figures that may change.
    Medium,
    /// It was measured.
    High,
}

/// The reason for a verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Reason {
    /// A mask, quota or other setting is wrong.
    Setting {
        /// The fault, with its remedy.
        finding: Finding,
    },
    /// The program hardly runs.
    HardlyRuns,
    /// Other programs use its CPUs while it waits for them.
    Neighbours,
    /// The hypervisor gives its CPUs to other guests.
    Steal,
    /// It waits for a disk or another device.
    Device,
    /// It may use only one CPU.
    OneCpu,
    /// Its own mask excludes CPUs that other programs also use.
    OwnMask,
    /// The command failed.
    Failed,
    /// One thread does the work.
    OneThread,
    /// Short-lived processes or threads do the work.
    ShortTasks,
    /// Many threads share the work, each has little of it, and they communicate much.
    SmallTasks,
    /// It exited too early to observe it.
    TooShort,
    /// It exited during the look, without an observation.
    EndedUnseen,
    /// Its client is at its limit.
    ClientAtLimit,
    /// The messages could not be observed.
    TalkUnseen,
    /// The distances of the machine are unknown.
    NotMeasured,
    /// Its messages take too little of its time.
    LittleTalk,
    /// Seats could matter, but were not tried.
    NotTried {
        /// The reason.
        why: NoTrial,
    },
    /// Neighbours or changing CPUs left too few rounds of the trial.
    TrialVoid,
    /// The default differed from itself in the trial.
    Drift,
    /// Switches and user time changed, but need not follow the work.
    Unclear {
        /// The seats.
        seats: TriedSeats,
    },
    /// The trial showed no better seats.
    NoneBetter,
    /// The trial showed better seats.
    Better {
        /// The seats.
        seats: TriedSeats,
    },
}

/// A verdict with its reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conclusion {
    /// The verdict.
    pub verdict: AdviceVerdict,
    /// Its reason.
    pub reason: Reason,
    /// How certain it is.
    pub confidence: Confidence,
}

impl Conclusion {
    /// Lowers the confidence if facts that could decide are unknown. Trials and settings with
    /// counted effects do not need them.
    fn capped_by_unseen(self, evidence: &Evidence) -> Self {
        // Seats for both could matter even if the program alone leaves nothing to seat.
        let is_alone = evidence.forbidden_clients.is_empty();
        let is_whole = is_alone && evidence.unseen.is_empty() && evidence.quotas_unseen.is_none();
        let most = match self.reason {
            Reason::Setting { .. } | Reason::Better { .. } => High,
            _ if is_whole || evidence.is_elsewhere => High,
            // A thread stopped by a quota also seems to wait for a neighbour.
            Reason::Neighbours => Low,
            _ => Medium,
        };
        Conclusion { confidence: self.confidence.min(most), ..self }
    }
}

fn leave(reason: Reason, confidence: Confidence) -> Conclusion {
    Conclusion { verdict: AdviceVerdict::LeaveIt, reason, confidence }
}

fn cannot(reason: Reason, confidence: Confidence) -> Conclusion {
    Conclusion { verdict: AdviceVerdict::CannotTell, reason, confidence }
}

fn first<const N: usize>(rules: [(bool, Conclusion); N]) -> Option<Conclusion> {
    rules.into_iter().find_map(|(holds, conclusion)| holds.then_some(conclusion))
}

/// The conclusion from the look alone, if it is enough.
pub fn at_first_sight(evidence: &Evidence) -> Option<Conclusion> {
    let found = if evidence.is_elsewhere {
        // Neighbours, masks and quotas here say nothing about another computer.
        by_load(evidence).or_else(|| by_threads(evidence)).or_else(|| by_talk(evidence))
    } else {
        by_everything_here(evidence)
    };
    found.map(|conclusion| conclusion.capped_by_unseen(evidence))
}

fn by_everything_here(evidence: &Evidence) -> Option<Conclusion> {
    by_settings(evidence)
        .or_else(|| by_load(evidence))
        .or_else(|| by_mask(evidence))
        .or_else(|| by_faults(evidence))
        .or_else(|| by_others(evidence))
        .or_else(|| by_structure(evidence))
        .or_else(|| by_talk(evidence))
}

/// The conclusion from all evidence.
pub fn conclude(evidence: &Evidence) -> Conclusion {
    let conclusion = at_first_sight(evidence).unwrap_or_else(|| by_trial(evidence));
    conclusion.capped_by_unseen(evidence)
}

/// Wrong settings with a measured cost and a correction. Too many threads and a quota come before
/// all, because the kernel counts a stopped program as waiting for a CPU.
fn by_settings(evidence: &Evidence) -> Option<Conclusion> {
    let candidates = evidence.findings.iter();
    let candidates = candidates.filter(|one| rank(one) < 2 || one.remedy.is_some());
    let finding = candidates.min_by_key(|one| (rank(one), one.remedy.is_none()))?.clone();
    let is_corrected = finding.remedy.is_some() || rank(&finding) == 0;
    let verdict = if is_corrected { AdviceVerdict::DoThis } else { AdviceVerdict::CannotTell };
    Some(Conclusion { verdict, reason: Reason::Setting { finding }, confidence: High })
}

fn rank(finding: &Finding) -> usize {
    let first = ["too-many-threads", "quota"];
    first.iter().position(|rule| *rule == finding.rule).unwrap_or(first.len())
}

/// The other wrong settings, which no command for this program corrects.
fn by_faults(evidence: &Evidence) -> Option<Conclusion> {
    let finding = evidence.findings.first()?.clone();
    Some(cannot(Reason::Setting { finding }, High))
}

fn by_load(evidence: &Evidence) -> Option<Conclusion> {
    let device_percent = evidence.device_wait_percent;
    // A program that waits for busy CPUs does not sleep.
    let needed = evidence.used_percent.max(evidence.wanted_percent);
    let hardly = if evidence.requests_unseen { Medium } else { High };
    first([
        (evidence.failure.is_some() && !evidence.is_cut, cannot(Reason::Failed, Low)),
        (evidence.has_ended && evidence.looked_s < LEAST_LOOK_S, cannot(Reason::TooShort, Low)),
        // Without an observation nothing is known of exited threads.
        (
            evidence.has_ended && evidence.talk.is_none() && evidence.threads == 0,
            cannot(Reason::EndedUnseen, Low),
        ),
        (
            device_percent >= DEVICE_WAIT_PERCENT && evidence.used_percent < device_percent,
            leave(Reason::Device, Medium),
        ),
        (needed < HARDLY_RUNS_PERCENT, leave(Reason::HardlyRuns, hardly)),
    ])
}

/// If CPUs outside a narrow mask are idle, `seatmap check` reports it; if they are busy, the
/// program's share of them is unknown.
fn by_mask(evidence: &Evidence) -> Option<Conclusion> {
    evidence.is_held_by_its_mask().then(|| cannot(Reason::OwnMask, Medium))
}

fn by_others(evidence: &Evidence) -> Option<Conclusion> {
    let is_crowded = evidence.neighbours.percent >= NEIGHBOURS_PERCENT
        && evidence.waits_for_others_percent() >= WAITS_PERCENT;
    first([
        (evidence.neighbours.steal_percent >= STEAL_DECIDES_PERCENT, cannot(Reason::Steal, High)),
        (is_crowded || is_held_up_at_barriers(evidence), cannot(Reason::Neighbours, High)),
    ])
}

/// With a thread for each CPU, all wait at a barrier for the delayed one.
fn is_held_up_at_barriers(evidence: &Evidence) -> bool {
    let busy = evidence.busy.len();
    let held_percent = evidence.neighbours.percent * evidence.cpu_count as f64;
    let lost_percent = evidence.waits_for_others_percent() * busy as f64;
    evidence.has_team()
        && busy >= evidence.cpu_count
        && held_percent >= NEIGHBOURS_OF_A_BARRIER_PERCENT
        && lost_percent >= LOST_TO_NEIGHBOURS_PERCENT
}

fn by_structure(evidence: &Evidence) -> Option<Conclusion> {
    let one = (evidence.cpu_count == 1).then(|| leave(Reason::OneCpu, High));
    one.or_else(|| by_threads(evidence))
}

fn by_threads(evidence: &Evidence) -> Option<Conclusion> {
    let client = evidence.first_client();
    if client.is_some_and(|client| {
        client.busiest_percent >= CLIENT_LIMIT_PERCENT
            && evidence.used_percent < 100.0 * evidence.busy.len() as f64 * 0.9
    }) {
        return Some(leave(Reason::ClientAtLimit, Medium));
    }
    if evidence.busy_share() < BUSY_SHARE {
        if !evidence.is_done_by_lasting_threads() {
            return Some(leave(Reason::ShortTasks, Medium));
        }
        return by_talk(evidence).or(Some(cannot(Reason::SmallTasks, Low)));
    }
    (evidence.busy.len() < 2 || evidence.busiest_share() >= ONE_THREAD_SHARE)
        .then(|| leave(Reason::OneThread, High))
}

fn by_talk(evidence: &Evidence) -> Option<Conclusion> {
    if evidence.talk.is_none() {
        return Some(cannot(Reason::TalkUnseen, Low));
    }
    let Some(most) = &evidence.most_gain else { return Some(cannot(Reason::NotMeasured, Low)) };
    // Parallel threads of a process may share memory, which was not observed.
    let confidence = if most.effect.saw_memory { High } else { Medium };
    (most.percent < SHOWABLE_PERCENT).then(|| leave(Reason::LittleTalk, confidence))
}

/// Also next to a hypervisor, if it took equal shares in all periods.
fn by_trial(evidence: &Evidence) -> Conclusion {
    let tells = evidence.trial.as_ref().is_some_and(|trial| !trial.is_void() && !trial.drifts());
    if !tells && evidence.neighbours.steal_percent >= NEIGHBOURS_PERCENT {
        return cannot(Reason::Steal, High);
    }
    by_seats(evidence)
}

fn by_seats(evidence: &Evidence) -> Conclusion {
    let Some(trial) = &evidence.trial else {
        return match evidence.no_trial.clone().unwrap_or(NoTrial::Ended) {
            why @ NoTrial::NoSeats => leave(Reason::NotTried { why }, Medium),
            why => cannot(Reason::NotTried { why }, Low),
        };
    };
    let early = first([
        (trial.refused > 0, cannot(Reason::NotTried { why: NoTrial::Refused }, Low)),
        (trial.is_void() && trial.has_ended, cannot(Reason::NotTried { why: NoTrial::Ended }, Low)),
        (trial.lost_its_threads(), leave(Reason::ShortTasks, Medium)),
        (trial.is_void(), cannot(Reason::TrialVoid, Low)),
        (trial.drifts(), cannot(Reason::Drift, Low)),
    ]);
    early.unwrap_or_else(|| match (trial.best(), trial.unclear()) {
        (Some(seats), _) => {
            // A single race may show a gain that passes. Switches and user time are indirect.
            let is_sure = seats.repeat.is_some() && seats.user_time.is_none();
            let confidence = if is_sure { High } else { Medium };
            let reason = Reason::Better { seats: seats.clone() };
            Conclusion { verdict: AdviceVerdict::DoThis, reason, confidence }
        }
        (None, Some(seats)) => cannot(Reason::Unclear { seats: seats.clone() }, Low),
        (None, None) => leave(Reason::NoneBetter, Medium),
    })
}

#[cfg(test)]
mod tests;
