//! One program from its start to its end: it is observed, seats are tried on it, and a log tells of
//! them.

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

/// The time for which a program is observed before seats are tried, where nobody says: about a
/// hundred messages of each pair.
pub const OBSERVED: Duration = Duration::from_secs(2);

/// A period where nobody says: long beside a slice of the scheduler (a few ms) and short beside a
/// drift (many seconds).
const PERIOD: Duration = Duration::from_millis(500);

/// A program for which seats are sought while it runs.
#[derive(Debug)]
pub struct AutoRequest {
    /// The program.
    pub subject: Subject,
    /// Its name in the log.
    pub program: String,
    /// The distances of this computer, where it was measured.
    pub profile: Option<Profile>,
    /// The work by which seats are judged; the meter's own choice where nothing is said.
    pub metric: Option<WorkMetric>,
    /// How long the program is observed before seats are tried; 2 s where nothing is said.
    pub observe: Option<Duration>,
    /// The length of a period; 500 ms where nothing is said.
    pub period: Option<Duration>,
    /// When to stop at the latest; `None` for the program's end.
    pub time: Option<Duration>,
    /// Whether threads get the caches of their seats.
    pub soft: bool,
    /// The log, where one is kept.
    pub log: Option<LogFile>,
    /// This computer's name, and the time, for the log.
    pub machine: String,
    /// When it begins, as `2026-01-31T12:00:00Z`.
    pub begun: String,
    /// The command that becomes the guardian, which gives masks back if this process is killed.
    pub guardian: GuardianCommand,
}

/// The outcome of an [`AutoRequest`].
#[derive(Debug)]
pub struct AutoRun {
    /// The seats that were tried and kept.
    pub outcome: LiveOutcome,
    /// The work by which they were judged.
    pub metric: WorkMetric,
    /// How the command ended; well, where the program ran already.
    pub ending: Ending,
    /// Why the seats are in charge of nobody any more, where that was not the end.
    pub failure: Option<LiveError>,
}

/// Why seats cannot be sought.
#[derive(Debug, thiserror::Error)]
pub enum AutoError {
    /// The CPUs or threads could not be read, or no guardian could be started.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The parts of this computer could not be read.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// The metric cannot be read here: a sentence.
    #[error("{0}")]
    Metric(String),
    /// The program could not be observed.
    #[error(transparent)]
    Observe(#[from] ObserveError),
    /// Seats of a program that runs are sought on one CPU.
    #[error(
        "no seats can be tried: this process may use {} alone; run it where it may use more CPUs",
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
    /// Seeks seats until the program ends, the time is over, or `stop` says so.
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
        // A program that runs goes on without Seatmap. A command must be run all the same.
        let here: CpuSet = topology.os_indices().filter(|cpu| allowed.contains(*cpu)).collect();
        if here.len() < 2 && matches!(self.subject, Subject::Processes(_)) {
            return Err(AutoError::OneCpu(here));
        }
        // The guardian is there before the first mask is changed.
        let guardian = Guardian::post(&mut self.guardian.command()?)?;
        // The counter counts what is executed next, so the program comes right after it.
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

/// The CPUs for seats: those of this process's mask, and those that the kernel was started to set
/// apart where threads of the program were put there already.
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

/// A process's CPUs with those that are set apart and stand in one of these masks.
fn with_named(own: CpuSet, set_apart: &CpuSet, masks: impl Iterator<Item = CpuSet>) -> CpuSet {
    masks.fold(own, |all, mask| all.with(&mask.within(set_apart)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_set_apart_are_for_a_program_that_was_put_there() {
        let set = |list: &str| CpuSet::of_list(list).unwrap();
        let seats = |masks: &[&str]| {
            with_named(set("0-1"), &set("4-7"), masks.iter().map(|mask| set(mask)))
        };
        assert_eq!(seats(&["4", "0-5"]), set("0-1,4-5"));
        assert_eq!(seats(&["0-3"]), set("0-1"), "CPUs that another mask keeps from this process");
        assert_eq!(seats(&[]), set("0-1"));
    }
}
