//! Runs one program from start to end: observes it, tries seats and keeps a log.

use crate::live::conductor::ConductorSetup;
use crate::live::log::{FORMAT, LogFile, LogHeader};
use crate::live::meter::MetricReader;
use crate::live::{Conductor, DecisionRules, LiveError, LiveOutcome, Soft, WorkMetric};
use seatmap_data::document::Blame;
use seatmap_data::machine::Profile;
use seatmap_launch::Ending;
use seatmap_machines::host::topology::TopologyError;
use seatmap_observe::{
    Method, ObservationEnd, ObservationSession, ObserveError, Subject, TracingMechanism, command,
};
use seatmap_os::cpus::Cpus;
use seatmap_os::guardian::{Guardian, GuardianCommand};
use seatmap_os::{CpuSet, Tid, task};
use std::io;
use std::time::Duration;

/// Default time of observation: about 100 messages of each pair.
pub const OBSERVED: Duration = Duration::from_secs(2);

/// Default length of a period: long against a scheduler slice (a few ms), short against drift (many
/// seconds).
const PERIOD: Duration = Duration::from_millis(500);

/// A request to seek seats for a running program.
#[derive(Debug)]
pub struct AutoRequest {
    /// The program.
    pub subject: Subject,
    /// Its name, for the log.
    pub program: String,
    /// The distances of this computer, if measured.
    pub profile: Option<Profile>,
    /// The metric of its work; by default the meter chooses.
    pub metric: Option<WorkMetric>,
    /// The time of observation; 2 s by default.
    pub observe: Option<Duration>,
    /// The length of a period; 500 ms by default.
    pub period: Option<Duration>,
    /// The time limit; `None`: until the program ends.
    pub time: Option<Duration>,
    /// Whether seats are the CPUs of a cache.
    pub soft: bool,
    /// The log, if any.
    pub log: Option<LogFile>,
    /// This computer's name, for the log.
    pub machine: String,
    /// The start time for the log, as `2026-01-31T12:00:00Z`.
    pub begun: String,
    /// Starts the guardian, which restores masks if this process is killed.
    pub guardian: GuardianCommand,
}

/// The result of an [`AutoRequest`].
#[derive(Debug)]
pub struct AutoRun {
    /// The tried and kept seats.
    pub outcome: LiveOutcome,
    /// The metric of its work.
    pub metric: WorkMetric,
    /// How the command ended; success for a program that already ran.
    pub ending: Ending,
    /// Why seating ended early, if it did.
    pub failure: Option<LiveError>,
}

/// Why seats cannot be sought.
#[derive(Debug, thiserror::Error)]
pub enum AutoError {
    /// The CPUs or threads cannot be read, or no guardian started.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The topology of this computer cannot be read.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// The metric is unavailable: a sentence.
    #[error("{0}")]
    Metric(String),
    /// The program cannot be observed.
    #[error(transparent)]
    Observe(#[from] ObserveError),
    /// A running program has only one CPU.
    #[error(
        "no seats can be tried: this process may only use {}; allow it more CPUs",
        .0.named()
    )]
    OneCpu(CpuSet),
}

impl Blame for AutoError {
    fn is_input(&self) -> bool {
        match self {
            AutoError::Metric(_) | AutoError::OneCpu(_) => true,
            AutoError::Observe(error) => error.is_input(),
            AutoError::System(_) | AutoError::Topology(_) => false,
        }
    }
}

impl AutoRequest {
    /// Seeks seats until the program or the time ends, or `stop` returns true.
    ///
    /// # Errors
    /// [`AutoError`]: nothing was changed, and no command runs.
    pub fn run(mut self, stop: &dyn Fn() -> bool) -> Result<AutoRun, AutoError> {
        let pids = match &self.subject {
            Subject::Processes(pids) => &pids[..],
            _ => &[],
        };
        let allowed = seats(pids)?;
        let topology = seatmap_machines::host::topology::reachable()?;
        // A command runs even without seats to try.
        let here: CpuSet = topology.os_indices().filter(|cpu| allowed.contains(*cpu)).collect();
        if here.len() < 2 && matches!(self.subject, Subject::Processes(_)) {
            return Err(AutoError::OneCpu(here));
        }
        // The guardian must run before the first mask changes.
        let guardian = Guardian::post(&mut self.guardian.command()?)?;
        // The counter counts the next executed program.
        let is_command = matches!(self.subject, Subject::Command(_));
        let meter = MetricReader::new(self.metric.take(), is_command).map_err(AutoError::Metric)?;
        let metric = meter.metric().clone();
        let session = ObservationSession::begin(
            Some(Method::Wakeups),
            TracingMechanism::Best,
            &self.subject,
        )?;
        let setting = ConductorSetup {
            topology: &topology,
            profile: self.profile.as_ref(),
            allowed: &allowed,
            soft: self.soft.then_some(Soft),
            observe: self.observe.unwrap_or(OBSERVED),
            period: self.period.unwrap_or(PERIOD),
            rules: DecisionRules::default(),
            stop,
            time: self.time,
        };
        let mut log = self.log.take();
        if let Some(log) = &mut log {
            log.begin(&self.header(&metric, session.mechanism()));
        }
        let (outcome, done, session) =
            Conductor::new(setting, session, meter, guardian, &mut |line| {
                log.as_mut().map_or(Ok(()), |log| log.add(line))
            })
            .conduct();
        let (_, child) = session.finish();
        let is_to_end = outcome.end == Some(ObservationEnd::Stopped);
        let status = child.map(|child| command::attend(child, is_to_end, stop)).transpose()?;
        let ending = status.map_or(Ending::Exited(0), Ending::of);
        Ok(AutoRun { outcome, metric, ending, failure: done.err() })
    }

    fn header(&self, metric: &WorkMetric, means: String) -> LogHeader {
        LogHeader {
            format: FORMAT.to_owned(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            begun: self.begun.clone(),
            machine: self.machine.clone(),
            program: self.program.clone(),
            metric: metric.to_string(),
            means,
            period_s: self.period.unwrap_or(PERIOD).as_secs_f64(),
            soft: self.soft,
            rules: DecisionRules::default(),
        }
    }
}

/// This process's CPUs, and isolated CPUs (kernel parameter) already in the program's masks.
fn seats(pids: &[Tid]) -> io::Result<CpuSet> {
    let own = CpuSet::of_thread(0)?;
    let set_apart: CpuSet = Cpus::read()?.set_apart.into_iter().collect();
    let mut tids = Vec::new();
    for pid in pids {
        tids.extend(task::threads(*pid)?);
    }
    // A thread may have ended since it was listed.
    let masks = tids.into_iter().filter_map(|tid| CpuSet::of_thread(tid).ok());
    Ok(with_named(own, &set_apart, masks))
}

fn with_named(own: CpuSet, set_apart: &CpuSet, masks: impl Iterator<Item = CpuSet>) -> CpuSet {
    masks.fold(own, |all, mask| all.with(&mask.within(set_apart)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isolated_cpus_are_used_only_if_in_mask() {
        let set = |list: &str| CpuSet::of_list(list).unwrap();
        let seats = |masks: &[&str]| {
            with_named(set("0-1"), &set("4-7"), masks.iter().map(|mask| set(mask)))
        };
        assert_eq!(seats(&["4", "0-5"]), set("0-1,4-5"));
        assert_eq!(seats(&["0-3"]), set("0-1"), "CPUs that another mask keeps from this process");
        assert_eq!(seats(&[]), set("0-1"));
    }
}
