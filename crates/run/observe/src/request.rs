//! An observation request.

use crate::c2c::perf;
use crate::mpi::job;
use crate::observed::{CommandEnd, CommandState};
use crate::{
    Method, Observation, ObservationEnd, ObservationOutcome, ObservationSession, ObserveError,
    ReportMethod, ReportRequest, Sighting, Subject, SubjectCommand, TracingMechanism,
};
use seatmap_os::StopCheck;
use std::path::PathBuf;
use std::time::Duration;

/// The default duration for processes that already run.
pub const USUAL_TIME: Duration = Duration::from_secs(10);

/// An observation's method and program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObserveRequest {
    /// By the kernel.
    Watch(WatchRequest),
    /// By a program's reports on itself.
    Report(ReportRequest),
    /// By perf(1), which records a command.
    Record(SubjectCommand),
    /// From an existing recording of perf(1).
    Recording(PathBuf),
}

/// A program to watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchRequest {
    /// The method; `None` for the best permitted one.
    pub method: Option<Method>,
    /// The kernel mechanism for wakeups.
    pub means: TracingMechanism,
    /// The program.
    pub subject: Subject,
    /// The duration; `None` for a command to its end, and 10 s for running processes.
    pub time: Option<Duration>,
}

impl ObserveRequest {
    /// Observes until the time is over, the program ends, or `stop` returns true.
    ///
    /// # Errors
    /// [`ObserveError`]: the observation could not begin.
    pub fn run(&self, stop: StopCheck) -> Result<ObservationOutcome, ObserveError> {
        match self {
            ObserveRequest::Watch(watch) => watch.run(stop),
            ObserveRequest::Report(report) => match &report.method {
                ReportMethod::Messages { rank: Some(rank) } => job::run(report, rank, stop),
                _ => report.run(stop),
            },
            ObserveRequest::Record(command) => perf::run(command, stop),
            ObserveRequest::Recording(path) => Ok(ObservationOutcome {
                sighting: Sighting::of_recording(path).map(Some),
                end: CommandEnd { state: CommandState::None, broken: None },
            }),
        }
    }
}

impl WatchRequest {
    fn run(&self, stop: StopCheck) -> Result<ObservationOutcome, ObserveError> {
        let (observation, end) = self.watch(stop)?;
        // A failed look ends the observation; earlier results are kept.
        let sighting = if observation.tasks.is_empty() {
            Err(ObserveError::NothingSeen)
        } else {
            Ok(Some(Sighting { observation, lines: Vec::new() }))
        };
        Ok(ObservationOutcome { sighting, end })
    }

    fn watch(&self, stop: StopCheck) -> Result<(Observation, CommandEnd), ObserveError> {
        let mut session = ObservationSession::begin(self.method, self.means, &self.subject)?;
        let usual = session.child.is_none().then_some(USUAL_TIME);
        let watched = session.watch(self.time.or(usual), stop);
        let (observation, child) = session.finish();
        // The user's Ctrl-C has also reached the command.
        let is_to_end = matches!(watched, Ok(ObservationEnd::Stopped));
        let state =
            child.map_or(CommandState::None, |child| CommandState::Runs { child, is_to_end });
        Ok((observation, CommandEnd { state, broken: watched.err() }))
    }
}

/// Observes a command from start to end, by the best permitted method. Its output goes to stderr.
///
/// # Errors
/// [`ObserveError`]; also if the command failed, or `stop` returned true.
pub fn one_run(command: &SubjectCommand, stop: StopCheck) -> Result<Observation, ObserveError> {
    let subject = Subject::Command(command.clone());
    let request = WatchRequest { method: None, means: TracingMechanism::Best, subject, time: None };
    let (observation, end) = request.watch(stop)?;
    let is_interrupted = end.is_requested();
    match end.wait(stop)? {
        _ if is_interrupted => Err(ObserveError::Interrupted),
        ending if !ending.is_success() => Err(ObserveError::Failed(ending)),
        _ => Ok(observation),
    }
}
