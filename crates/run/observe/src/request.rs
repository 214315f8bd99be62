//! An observation request.

use crate::c2c::perf;
use crate::command::{self, SubjectCommand};
use crate::mpi::job;
use crate::observed::{CommandEnd, CommandState, ObservationOutcome, Sighting};
use crate::report::{ReportMethod, ReportRequest};
use crate::{
    Method, Observation, ObservationEnd, ObservationSession, ObserveError, Subject,
    TracingMechanism,
};
use seatmap_os::Ending;
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
    pub fn run(&self, stop: &dyn Fn() -> bool) -> Result<ObservationOutcome, ObserveError> {
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
    fn run(&self, stop: &dyn Fn() -> bool) -> Result<ObservationOutcome, ObserveError> {
        let mut session = ObservationSession::begin(self.method, self.means, &self.subject)?;
        let usual = session.child.is_none().then_some(USUAL_TIME);
        let watched = session.watch(self.time.or(usual), stop);
        let (observation, child) = session.finish();
        // A failed look ends the observation; earlier results are kept.
        let sighting = if observation.tasks.is_empty() {
            Err(ObserveError::NothingSeen)
        } else {
            Ok(Some(Sighting { observation, lines: Vec::new() }))
        };
        // The user's Ctrl-C has also reached the command.
        let is_to_end = matches!(watched, Ok(ObservationEnd::Stopped));
        let state =
            child.map_or(CommandState::None, |child| CommandState::Runs { child, is_to_end });
        Ok(ObservationOutcome { sighting, end: CommandEnd { state, broken: watched.err() } })
    }
}

/// Observes a command from its first instruction to its end, by the best permitted method. Its
/// output goes to stderr.
///
/// # Errors
/// [`ObserveError`]; also if the command failed, or `stop` returned true.
pub fn one_run(
    command: &SubjectCommand,
    stop: &dyn Fn() -> bool,
) -> Result<Observation, ObserveError> {
    let subject = Subject::Command(command.clone());
    let mut session = ObservationSession::begin(None, TracingMechanism::Best, &subject)?;
    let watched = session.watch(None, stop);
    let (observation, child) = session.finish();
    let is_to_end = matches!(watched, Ok(ObservationEnd::Stopped));
    let ending = child
        .map(|child| command::attend(child, is_to_end, stop))
        .transpose()
        .map_err(ObserveError::System)?
        .map(Ending::of);
    // The command continues after a failed look, so its end comes before the failure's report.
    watched?;
    match ending {
        _ if is_to_end => Err(ObserveError::Interrupted),
        Some(ending) if !ending.is_success() => Err(ObserveError::Failed(ending)),
        _ => Ok(observation),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::document::Blame;

    fn command(words: &[&str]) -> SubjectCommand {
        let words = words.iter().map(|word| (*word).into()).collect();
        SubjectCommand { words, leaves_stdout: true }
    }

    fn reports(words: &[&str]) -> ObservationOutcome {
        let method = ReportMethod::Accesses;
        let request = ReportRequest { method, command: command(words) };
        ObserveRequest::Report(request).run(&|| false).unwrap()
    }

    #[test]
    fn successful_program_without_reports_is_an_error() {
        let ObservationOutcome { sighting, end } = reports(&["true"]);
        let error = sighting.unwrap_err();
        assert!(matches!(error, ObserveError::NoAccesses) && !error.is_input(), "{error}");
        assert_eq!(end.wait(&|| false).unwrap(), Ending::Exited(0));
    }

    #[test]
    fn failed_program_explains_missing_reports() {
        let ObservationOutcome { sighting, end } = reports(&["sh", "-c", "exit 3"]);
        assert_eq!(sighting.unwrap(), None);
        assert_eq!(end.wait(&|| false).unwrap(), Ending::Exited(3));
    }

    #[test]
    fn reports_are_read_from_trace_folder() {
        let head = r#"{"format":"seatmap-trace/1","pid":7,"from_ns":0,"to_ns":9,"threads":1,"replaced_lines":0,"unnamed_transfers":0}"#;
        let thread = r#"{"task":0,"parent":0,"tid":7,"cpu_ns":5,"name":"app"}"#;
        let script = format!(
            "printf '%s\n' '{head}' '{thread}' '{{\"end\":true}}' > $SEATMAP_TRACE/threads-7.jsonl"
        );
        let ObservationOutcome { sighting, .. } = reports(&["sh", "-c", &script]);
        let sighting = sighting.unwrap().unwrap();
        assert_eq!(sighting.observation.tasks[0].path, "0");
        assert_eq!(sighting.false_sharing().count(), 0);
    }

    #[test]
    fn missing_recording_is_named() {
        let request = ObserveRequest::Recording("none.data".into());
        let error = request.run(&|| false).unwrap().sighting.unwrap_err();
        assert!(error.is_input() && error.to_string() == "none.data", "{error}");
    }
}
