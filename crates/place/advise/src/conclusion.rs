//! The verdict that follows from the evidence.
//!
//! The causes that decide most are asked first, so that seats are not advised where a quota, a
//! neighbour or a client decides. No rule says *do this* by a model: only a setting that is wrong,
//! or seats that were shown to be better by a trial.

use crate::evidence::{Evidence, NoTrial};
use crate::trial::TriedSeats;
use seatmap_watch::Finding;
use serde::{Deserialize, Serialize};

/// Below this CPU time of the program, in percent of one CPU, it hardly runs.
pub const HARDLY_RUNS_PERCENT: f64 = 5.0;

/// The share of a program's CPUs that others must have to be the cause, in percent.
pub const NEIGHBOURS_PERCENT: f64 = 15.0;

/// The time of one CPU, in percent, that others must have for a program of OpenMP with a thread for
/// each CPU to wait for them: however many threads there are, a barrier waits for the last.
pub const NEIGHBOURS_OF_A_BARRIER_PERCENT: f64 = 50.0;

/// The part of one thread, in percent, that such a program must have lost to them.
pub const LOST_TO_NEIGHBOURS_PERCENT: f64 = 25.0;

/// The share of a program's CPUs, in percent, whose loss to the computer's host is the answer
/// whatever seats would do. Below it a trial tells.
pub const STEAL_DECIDES_PERCENT: f64 = 50.0;

/// The share of the time in which its busy threads could run that they must have waited for a CPU,
/// in percent.
pub const WAITS_PERCENT: f64 = 10.0;

/// Threads that waited for a device all the time, in percent of one thread's time.
pub const DEVICE_WAIT_PERCENT: f64 = 50.0;

/// A program that ended before this time, in seconds, has shown too little.
pub const LEAST_LOOK_S: f64 = 0.5;

/// The share of the program's CPU time that its busy threads must have used together, for seats of
/// threads to matter: the rest is that of threads too short-lived to be seated.
pub const BUSY_SHARE: f64 = 0.5;

/// The share of the program's CPU time that one thread must have used to be the only one that
/// counts.
pub const ONE_THREAD_SHARE: f64 = 0.9;

/// A program outside is at its limit where one of its threads uses this share of a CPU, in percent.
pub const CLIENT_LIMIT_PERCENT: f64 = 80.0;

/// Gains below this share of the program's time cannot be shown by a trial of this length, in
/// percent.
pub const SHOWABLE_PERCENT: f64 = 1.0;

/// The verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AdviceVerdict {
    /// A command makes the program better.
    DoThis,
    /// Nothing is to be gained by seats.
    LeaveIt,
    /// This computer, or this look, cannot tell.
    CannotTell,
}

/// How certain a conclusion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// It rests on things that were not seen.
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
    /// A mask, a quota or another setting is wrong.
    Setting {
        /// The fault, with its remedy.
        finding: Finding,
    },
    /// The program hardly runs.
    HardlyRuns,
    /// Others use its CPUs while it waits for them.
    Neighbours,
    /// The host of this virtual machine gives its CPUs to others.
    Steal,
    /// It waits for a disk or another device.
    Device,
    /// It may use one CPU.
    OneCpu,
    /// Its own mask keeps CPUs from it that others use as well.
    OwnMask,
    /// The command failed.
    Failed,
    /// One thread does the work.
    OneThread,
    /// Processes or threads that live for a moment do the work.
    ShortTasks,
    /// Many threads share the work, each of them has little of it, and they talk much.
    SmallTasks,
    /// It ended before there was anything to see.
    TooShort,
    /// It ended within the look, and nobody had observed it until then.
    EndedUnseen,
    /// The program outside that asks it is at its limit.
    ClientAtLimit,
    /// The talk could not be seen.
    TalkUnseen,
    /// The distances of the machine are not known.
    NotMeasured,
    /// Its messages take too little of its time.
    LittleTalk,
    /// Seats could matter, and they were not tried.
    NotTried {
        /// Why not.
        why: NoTrial,
    },
    /// Neighbours, or CPUs that came and went, left too few rounds of the trial.
    TrialVoid,
    /// The default differed from itself.
    Drift,
    /// The trial showed no seats to be better.
    NoneBetter,
    /// The trial showed these seats to be better.
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
    fn new(verdict: AdviceVerdict, reason: Reason, confidence: Confidence) -> Self {
        Conclusion { verdict, reason, confidence }
    }

    fn leave(reason: Reason, confidence: Confidence) -> Self {
        Conclusion::new(AdviceVerdict::LeaveIt, reason, confidence)
    }

    /// The same conclusion, with less confidence if facts that decide were not seen. Seats that a
    /// trial compared and settings whose effect the kernel counted rest on none of them.
    fn capped_by_unseen(self, evidence: &Evidence) -> Self {
        let is_whole = evidence.unseen.is_empty() && evidence.quotas_unseen.is_none();
        let most = match self.reason {
            Reason::Setting { .. } | Reason::Better { .. } => Confidence::High,
            _ if is_whole || evidence.is_elsewhere => Confidence::High,
            // A thread that a quota stops waits as one does whose CPU a neighbour has.
            Reason::Neighbours => Confidence::Low,
            _ => Confidence::Medium,
        };
        Conclusion { confidence: self.confidence.min(most), ..self }
    }

    fn cannot(reason: Reason, confidence: Confidence) -> Self {
        Conclusion::new(AdviceVerdict::CannotTell, reason, confidence)
    }
}

/// The conclusion from the first look, where it is decisive: nothing has to be tried.
#[must_use]
pub fn at_first_sight(evidence: &Evidence) -> Option<Conclusion> {
    let found = if evidence.is_elsewhere {
        // Neighbours, masks and quotas of this computer say nothing of the other one.
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

/// The conclusion from everything that was seen.
#[must_use]
pub fn conclude(evidence: &Evidence) -> Conclusion {
    let conclusion = at_first_sight(evidence).unwrap_or_else(|| by_trial(evidence));
    conclusion.capped_by_unseen(evidence)
}

/// A setting that is wrong comes first: what it costs was measured, and a command mends it. One of
/// a control group that stops the program comes before all, with a command or without: the kernel
/// counts it, and counts the program as waiting for a CPU meanwhile.
fn by_settings(evidence: &Evidence) -> Option<Conclusion> {
    let candidates = evidence.findings.iter();
    let candidates = candidates.filter(|one| one.rule == "quota" || one.remedy.is_some());
    // Of two that are alike, the first.
    let finding = candidates.min_by_key(|one| (one.rule != "quota", one.remedy.is_none()))?.clone();
    let verdict =
        if finding.remedy.is_some() { AdviceVerdict::DoThis } else { AdviceVerdict::CannotTell };
    Some(Conclusion::new(verdict, Reason::Setting { finding }, Confidence::High))
}

/// A setting that is wrong, and that no command for this program mends.
fn by_faults(evidence: &Evidence) -> Option<Conclusion> {
    let finding = evidence.findings.first()?.clone();
    Some(Conclusion::cannot(Reason::Setting { finding }, Confidence::High))
}

fn by_load(evidence: &Evidence) -> Option<Conclusion> {
    if evidence.failure.is_some() && !evidence.is_cut {
        return Some(Conclusion::cannot(Reason::Failed, Confidence::Low));
    }
    if evidence.has_ended && evidence.looked_s < LEAST_LOOK_S {
        return Some(Conclusion::cannot(Reason::TooShort, Confidence::Low));
    }
    // Only an observation knows threads that have ended: without one nothing is left to read.
    if evidence.has_ended && evidence.talk.is_none() && evidence.threads == 0 {
        return Some(Conclusion::cannot(Reason::EndedUnseen, Confidence::Low));
    }
    if evidence.device_wait_percent >= DEVICE_WAIT_PERCENT
        && evidence.used_percent < evidence.device_wait_percent
    {
        return Some(Conclusion::leave(Reason::Device, Confidence::Medium));
    }
    // A program that waits for CPUs which others have does not sleep.
    let needed = evidence.used_percent.max(evidence.wanted_percent);
    let confidence = if evidence.requests_unseen { Confidence::Medium } else { Confidence::High };
    (needed < HARDLY_RUNS_PERCENT).then(|| Conclusion::leave(Reason::HardlyRuns, confidence))
}

/// Where the other CPUs are idle, `seatmap check` finds the mask wrong. Where they are busy, nobody
/// knows how much of them the program would get.
fn by_mask(evidence: &Evidence) -> Option<Conclusion> {
    evidence.is_held_by_its_mask().then(|| Conclusion::cannot(Reason::OwnMask, Confidence::Medium))
}

/// Neighbours decide where the program waits for the CPUs that they have.
fn by_others(evidence: &Evidence) -> Option<Conclusion> {
    if evidence.neighbours.steal_percent >= STEAL_DECIDES_PERCENT {
        return Some(Conclusion::cannot(Reason::Steal, Confidence::High));
    }
    let is_crowded = evidence.neighbours.percent >= NEIGHBOURS_PERCENT
        && evidence.waits_for_others_percent() >= WAITS_PERCENT;
    (is_crowded || is_held_up_at_barriers(evidence))
        .then(|| Conclusion::cannot(Reason::Neighbours, Confidence::High))
}

/// On many CPUs one neighbour is a small share of them all, and each thread loses little. A thread
/// for each CPU leaves none to go to, and at a barrier all of them lose what one has lost.
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
    if evidence.cpu_count == 1 {
        return Some(Conclusion::leave(Reason::OneCpu, Confidence::High));
    }
    by_threads(evidence)
}

fn by_threads(evidence: &Evidence) -> Option<Conclusion> {
    let client = evidence.first_client();
    if client.is_some_and(|client| {
        client.busiest_percent >= CLIENT_LIMIT_PERCENT
            && evidence.used_percent < 100.0 * evidence.busy.len() as f64 * 0.9
    }) {
        return Some(Conclusion::leave(Reason::ClientAtLimit, Confidence::Medium));
    }
    if evidence.busy_share() < BUSY_SHARE {
        if !evidence.is_done_by_lasting_threads() {
            return Some(Conclusion::leave(Reason::ShortTasks, Confidence::Medium));
        }
        let spread = Conclusion::cannot(Reason::SmallTasks, Confidence::Low);
        return by_talk(evidence).or(Some(spread));
    }
    (evidence.busy.len() < 2 || evidence.busiest_share() >= ONE_THREAD_SHARE)
        .then(|| Conclusion::leave(Reason::OneThread, Confidence::High))
}

fn by_talk(evidence: &Evidence) -> Option<Conclusion> {
    if evidence.talk.is_none() {
        return Some(Conclusion::cannot(Reason::TalkUnseen, Confidence::Low));
    }
    let Some(most) = &evidence.most_gain else {
        return Some(Conclusion::cannot(Reason::NotMeasured, Confidence::Low));
    };
    // Threads of one process that work side by side may share memory, which was not looked at.
    let confidence = if most.effect.saw_memory { Confidence::High } else { Confidence::Medium };
    (most.percent < SHOWABLE_PERCENT).then(|| Conclusion::leave(Reason::LittleTalk, confidence))
}

/// Rounds in which the host took as much in all periods count, so that a trial may tell what a look
/// cannot.
fn by_trial(evidence: &Evidence) -> Conclusion {
    let tells = evidence.trial.as_ref().is_some_and(|trial| !trial.is_void() && !trial.drifts());
    if !tells && evidence.neighbours.steal_percent >= NEIGHBOURS_PERCENT {
        return Conclusion::cannot(Reason::Steal, Confidence::High);
    }
    by_seats(evidence)
}

fn by_seats(evidence: &Evidence) -> Conclusion {
    let Some(trial) = &evidence.trial else {
        let why = evidence.no_trial.clone().unwrap_or(NoTrial::Ended);
        // Where the kernel's choice is the only one, there is nothing to do.
        return if why == NoTrial::NoSeats {
            Conclusion::leave(Reason::NotTried { why }, Confidence::Medium)
        } else {
            Conclusion::cannot(Reason::NotTried { why }, Confidence::Low)
        };
    };
    if trial.refused > 0 {
        let why = NoTrial::Refused;
        return Conclusion::cannot(Reason::NotTried { why }, Confidence::Low);
    }
    if trial.is_void() && trial.has_ended {
        let why = NoTrial::Ended;
        return Conclusion::cannot(Reason::NotTried { why }, Confidence::Low);
    }
    if trial.lost_its_threads() {
        return Conclusion::leave(Reason::ShortTasks, Confidence::Medium);
    }
    if trial.is_void() {
        return Conclusion::cannot(Reason::TrialVoid, Confidence::Low);
    }
    if trial.drifts() {
        return Conclusion::cannot(Reason::Drift, Confidence::Low);
    }
    match trial.best() {
        Some(seats) => Conclusion::new(
            AdviceVerdict::DoThis,
            Reason::Better { seats: seats.clone() },
            Confidence::High,
        ),
        None => Conclusion::leave(Reason::NoneBetter, Confidence::Medium),
    }
}

#[cfg(test)]
mod tests;
