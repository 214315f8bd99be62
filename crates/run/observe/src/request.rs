//! An observation as it is meant: how, of what, and for how long; and what came of it.

use crate::c2c::{self, perf};
use crate::command::{self, SubjectCommand};
use crate::report::ReportRequest;
use crate::tsan::SharedLine;
use crate::{End, Means, Method, Observation, ObserveError, Session, Subject};
use seatmap_launch::Ending;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

/// How long processes that run already are observed, where nobody says.
const USUAL_TIME: Duration = Duration::from_secs(10);

/// How a program is to be observed, and which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObserveRequest {
    /// By the kernel, or by a library in the program that samples its pages.
    Watch(WatchRequest),
    /// By the reports of a program on itself.
    Report(ReportRequest),
    /// By perf(1), which records a command.
    Record(SubjectCommand),
    /// From a recording that perf(1) made before.
    Recording(PathBuf),
}

/// A program that is to be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchRequest {
    /// The method; `None` for the best that is allowed here.
    pub method: Option<Method>,
    /// How the kernel tells of wakeups.
    pub means: Means,
    /// `libseatmap_trace`, or why there is none.
    pub library: Result<PathBuf, String>,
    /// The program.
    pub subject: Subject,
    /// How long; `None` for a command to its end, and for processes that run 10 s.
    pub time: Option<Duration>,
}

/// The sighting of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Sighting {
    /// Its threads, and who talked to whom.
    pub observation: Observation,
    /// The cache lines that passed most often, where the method sees lines.
    pub lines: Vec<SharedLine>,
}

/// The outcome of an observation.
#[derive(Debug)]
pub struct Observed {
    /// The sighting, or why there is none. `Ok(None)` where another rank of the job has it, and
    /// where the command failed, which is reason enough.
    pub sighting: Result<Option<Sighting>, ObserveError>,
    /// The command's end, which may still have to come.
    pub end: CommandEnd,
}

/// The end of an observed command.
#[derive(Debug)]
pub struct CommandEnd {
    state: CommandState,
    /// The look that failed and ended the observation.
    broken: Option<ObserveError>,
    /// Why the program could not be seen.
    blind: Option<String>,
}

#[derive(Debug)]
enum CommandState {
    /// No command was started.
    None,
    Runs {
        child: Child,
        /// Whether the user has asked it to end.
        is_to_end: bool,
    },
    Ended(Ending),
}

impl ObserveRequest {
    /// Observes until the time is over, the program has ended, or `stop` says so.
    ///
    /// # Errors
    /// [`ObserveError`]: the observation could not begin.
    pub fn run(&self, stop: &dyn Fn() -> bool) -> Result<Observed, ObserveError> {
        match self {
            ObserveRequest::Watch(watch) => watch.run(stop),
            ObserveRequest::Report(report) => report.run(stop),
            ObserveRequest::Record(command) => perf::run(command, stop),
            ObserveRequest::Recording(path) => Ok(Observed {
                sighting: Sighting::of_recording(path).map(Some),
                end: CommandEnd { state: CommandState::None, broken: None, blind: None },
            }),
        }
    }
}

impl WatchRequest {
    fn run(&self, stop: &dyn Fn() -> bool) -> Result<Observed, ObserveError> {
        let mut session = self.begin()?;
        let usual = session.child.is_none().then_some(USUAL_TIME);
        let watched = session.watch(self.time.or(usual), stop);
        let blind = session.failure();
        let (observation, child) = session.finish();
        // A look that failed ends the observation, and what was seen before it is kept.
        let sighting = if observation.tasks.is_empty() {
            Err(ObserveError::NothingSeen)
        } else {
            Ok(Some(Sighting { observation, lines: Vec::new() }))
        };
        let is_to_end = matches!(watched, Ok(End::Stopped));
        let state =
            child.map_or(CommandState::None, |child| CommandState::Runs { child, is_to_end });
        Ok(Observed { sighting, end: CommandEnd { state, broken: watched.err(), blind } })
    }

    fn begin(&self) -> Result<Session, ObserveError> {
        match self.method {
            Some(Method::Pages) => {
                let library = self.library.clone().map_err(ObserveError::NoLibrary)?;
                Session::begin_pages(&library, self.means, &self.subject, None)
            }
            None => {
                let library = self.library.as_deref().map_err(Clone::clone);
                Session::begin_auto(library, self.means, &self.subject)
            }
            method => Session::begin(method, self.means, &self.subject),
        }
    }
}

impl Sighting {
    /// A recording of perf(1).
    pub(crate) fn of_recording(path: &Path) -> Result<Self, ObserveError> {
        let file = File::open(path).map_err(c2c::RecordingError::Open);
        let sampled = file.and_then(|file| c2c::read(BufReader::new(file)));
        let sampled = sampled.map_err(|source| ObserveError::Recording {
            path: path.display().to_string(),
            source,
        })?;
        Ok(Sighting { observation: sampled.observation, lines: sampled.lines })
    }

    /// The lines that pass between threads which do not use each other's bytes, the most frequent
    /// first.
    pub fn false_sharing(&self) -> impl Iterator<Item = &SharedLine> {
        self.lines.iter().filter(|line| line.is_false_sharing())
    }
}

impl Observed {
    /// A command that has ended with this sighting. One that failed has seen little of itself: its
    /// failure is the reason why there are no reports.
    pub(crate) fn of_ended(ending: Ending, sighting: Result<Sighting, ObserveError>) -> Self {
        let sighting = match sighting {
            Err(_) if ending != Ending::Exited(0) => Ok(None),
            sighting => sighting.map(Some),
        };
        Observed { sighting, ..Observed::elsewhere(ending) }
    }

    /// A command that has ended, and whose sighting another process has.
    pub(crate) fn elsewhere(ending: Ending) -> Self {
        let state = CommandState::Ended(ending);
        Observed { sighting: Ok(None), end: CommandEnd { state, broken: None, blind: None } }
    }
}

impl CommandEnd {
    /// Waits for the command's end. Where there is no command, the observation ended well.
    ///
    /// # Errors
    /// A look that failed, or a program that could not be seen though it did well.
    pub fn wait(self, stop: &dyn Fn() -> bool) -> Result<Ending, ObserveError> {
        let ending = match self.state {
            CommandState::None => Ok(Ending::Exited(0)),
            CommandState::Ended(ending) => Ok(ending),
            CommandState::Runs { child, is_to_end } => {
                command::attend(child, is_to_end, stop).map(Ending::of)
            }
        };
        // A look that failed says more than the ending: the program ran on unseen.
        match (self.broken, ending.map_err(ObserveError::System)?, self.blind) {
            (Some(error), ..) => Err(error),
            (None, Ending::Exited(0), Some(reason)) => Err(ObserveError::Unseen(reason)),
            (None, ending, _) => Ok(ending),
        }
    }
}

/// Observes one run of a command, from its first instruction to its end, by the best method that is
/// allowed. Its output goes to stderr.
///
/// # Errors
/// [`ObserveError`]; also where the command failed, or where `stop` said so meanwhile.
pub fn one_run(
    command: &SubjectCommand,
    stop: &dyn Fn() -> bool,
) -> Result<Observation, ObserveError> {
    let subject = Subject::Command(command.clone());
    let mut session = Session::begin(None, Means::Best, &subject)?;
    let watched = session.watch(None, stop);
    let (observation, child) = session.finish();
    let is_to_end = matches!(watched, Ok(End::Stopped));
    let status = child
        .map(|child| command::attend(child, is_to_end, stop))
        .transpose()
        .map_err(ObserveError::System)?;
    watched?;
    match status {
        _ if is_to_end => Err(ObserveError::Interrupted),
        Some(status) if !status.success() => Err(ObserveError::Failed(status)),
        _ => Ok(observation),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReportMethod;
    use seatmap_document::Blame;

    fn command(words: &[&str]) -> SubjectCommand {
        let words = words.iter().map(|word| (*word).into()).collect();
        SubjectCommand { words, leaves_stdout: true }
    }

    fn reports(words: &[&str]) -> Observed {
        let method = ReportMethod::Accesses;
        let request = ReportRequest { method, command: command(words) };
        ObserveRequest::Report(request).run(&|| false).unwrap()
    }

    #[test]
    fn a_program_that_did_well_without_reports_is_an_error() {
        let Observed { sighting, end } = reports(&["true"]);
        let error = sighting.unwrap_err();
        assert!(matches!(error, ObserveError::NoAccesses) && !error.is_input(), "{error}");
        assert_eq!(end.wait(&|| false).unwrap(), Ending::Exited(0));
    }

    #[test]
    fn a_program_that_failed_is_reason_enough_for_missing_reports() {
        let Observed { sighting, end } = reports(&["sh", "-c", "exit 3"]);
        assert_eq!(sighting.unwrap(), None);
        assert_eq!(end.wait(&|| false).unwrap(), Ending::Exited(3));
    }

    #[test]
    fn reports_are_read_from_the_folder_that_the_program_was_given() {
        let head = r#"{"format":"seatmap-trace/1","pid":7,"from_ns":0,"to_ns":9,"threads":1,"replaced_lines":0,"unnamed_transfers":0}"#;
        let thread = r#"{"task":0,"parent":0,"tid":7,"cpu_ns":5,"name":"app"}"#;
        let script = format!(
            "printf '%s\n' '{head}' '{thread}' '{{\"end\":true}}' > $SEATMAP_TRACE/threads-7.jsonl"
        );
        let Observed { sighting, .. } = reports(&["sh", "-c", &script]);
        let sighting = sighting.unwrap().unwrap();
        assert_eq!(sighting.observation.tasks[0].path, "0");
        assert_eq!(sighting.false_sharing().count(), 0);
    }

    #[test]
    fn a_library_that_is_not_there_keeps_the_program_from_starting() {
        let library = Err("no such file".to_owned());
        let method = ReportMethod::Messages { library, rank: None };
        let request = ReportRequest { method, command: command(&["true"]) };
        let error = ObserveRequest::Report(request).run(&|| false).unwrap_err();
        assert!(error.is_input() && error.to_string() == "no such file", "{error}");
    }

    #[test]
    fn a_recording_that_is_not_there_is_named() {
        let request = ObserveRequest::Recording("none.data".into());
        let error = request.run(&|| false).unwrap().sighting.unwrap_err();
        assert!(error.is_input() && error.to_string() == "none.data", "{error}");
    }
}
