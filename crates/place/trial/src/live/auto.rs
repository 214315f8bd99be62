//! Runs one program from start to end: observes it, tries seats and keeps a log.

use crate::live::candidates::Ground;
use crate::live::conductor::ConductorSetup;
use crate::live::log::{FORMAT, LogFile, LogHeader};
use crate::live::meter::MetricReader;
use crate::live::running::{RunningProgram, seats};
use crate::live::{AutoRemark, Conductor, DecisionRules, LiveOutcome, WorkMetric};
use seatmap_data::document::Failure;
use seatmap_data::machine::Profile;
use seatmap_launch::Ending;
use seatmap_observe::{
    Method, ObservationEnd, ObservationSession, Subject, TracingMechanism, command,
};
use seatmap_os::guardian::{Guardian, GuardianCommand};
use std::time::Duration;

/// Default time of observation: about 100 messages of each pair.
pub const OBSERVED: Duration = Duration::from_secs(2);

/// Long against a scheduler slice (a few ms), short against drift (many seconds).
const PERIOD: Duration = Duration::from_millis(500);

/// A request to seek seats for a running program.
#[derive(Debug)]
pub struct AutoRequest {
    /// The program; with running processes also their descendants.
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
    /// How the command ended; success for a program that already ran.
    pub ending: Ending,
    /// Why seating ended early, if it did.
    pub failure: Option<Failure>,
}

impl AutoRequest {
    /// Seeks seats until the program or the time ends, or `stop` returns true. `tell` receives what
    /// limits the seats, the first remarks before the observation.
    ///
    /// # Errors
    /// [`Failure`]: nothing was changed, and no command runs.
    pub fn run(
        mut self,
        stop: &dyn Fn() -> bool,
        tell: &dyn Fn(AutoRemark),
    ) -> Result<AutoRun, Failure> {
        let topology = seatmap_machines::host::topology::reachable().map_err(Failure::work)?;
        let running = match &self.subject {
            Subject::Processes(pids) => Some(RunningProgram::find(pids)?),
            _ => None,
        };
        let allowed = match &running {
            Some(running) => running.allowed.clone(),
            None => seats([])?,
        };
        // A command runs even without seats to try.
        if let Some(running) = &running {
            let here = topology.os_indices().filter(|cpu| allowed.contains(*cpu)).collect();
            running.check(here).map_err(Failure::input)?;
            running.remarks().into_iter().for_each(tell);
            self.subject = Subject::Survivors(running.pids.clone());
        }
        // The guardian must run before the first mask changes.
        let guardian = Guardian::post(&mut self.guardian.command()?)?;
        // The counter counts the next executed program.
        let is_command = matches!(self.subject, Subject::Command(_));
        let meter = MetricReader::new(self.metric.take(), is_command).map_err(Failure::input)?;
        let session = ObservationSession::begin(
            Some(Method::Wakeups),
            TracingMechanism::Best,
            &self.subject,
        )?;
        let setting = ConductorSetup {
            ground: Ground {
                topology: &topology,
                profile: self.profile.as_ref(),
                allowed: &allowed,
                soft: self.soft,
            },
            observe: self.observe.unwrap_or(OBSERVED),
            period: self.period.unwrap_or(PERIOD),
            stop,
            tell,
            no_seats: running.as_ref().and_then(RunningProgram::no_seats),
            time: self.time,
        };
        let mut log = self.log.take();
        if let Some(log) = &mut log {
            log.begin(&self.header(&meter.metric, session.mechanism()));
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
        Ok(AutoRun { outcome, ending, failure: done.err() })
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
