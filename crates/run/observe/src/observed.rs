//! The outcome of an observation: what was seen, and the command's end.

use crate::c2c;
use crate::command;
use crate::tsan::SharedLine;
use crate::{Observation, ObserveError};
use seatmap_data::statistics::words::times;
use seatmap_launch::Ending;
use seatmap_os::named_file;
use std::io::BufReader;
use std::path::Path;
use std::process::Child;

/// The most lines of falsely shared memory that a sighting speaks of.
const MOST_LINES: usize = 5;

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
pub struct ObservationOutcome {
    /// The sighting, or why there is none. `Ok(None)` where another rank of the job has it, and
    /// where the command failed, which is reason enough.
    pub sighting: Result<Option<Sighting>, ObserveError>,
    /// The command's end, which may still have to come.
    pub end: CommandEnd,
}

/// The end of an observed command.
#[derive(Debug)]
pub struct CommandEnd {
    pub(crate) state: CommandState,
    /// The look that failed and ended the observation.
    pub(crate) broken: Option<ObserveError>,
}

#[derive(Debug)]
pub(crate) enum CommandState {
    /// No command was started.
    None,
    Runs {
        child: Child,
        /// Whether the user has asked it to end.
        is_to_end: bool,
    },
    Ended(Ending),
}

impl Sighting {
    /// A recording of perf(1).
    pub(crate) fn of_recording(path: &Path) -> Result<Self, ObserveError> {
        let file = named_file::open(path).map_err(c2c::PerfDataError::Open);
        let sampled = file.and_then(|file| c2c::read(BufReader::new(file)));
        let sampled = sampled.map_err(|source| ObserveError::Recording {
            path: path.display().to_string(),
            source,
        })?;
        Ok(Sighting { observation: sampled.observation, lines: sampled.lines })
    }

    /// A sentence for each of the lines that passed most often between threads which do not use
    /// each other's bytes, the most frequent first.
    pub fn false_sharing(&self) -> impl Iterator<Item = String> {
        let lines = self.lines.iter().filter(|line| line.is_false_sharing());
        lines.take(MOST_LINES).map(|line| {
            let [from, to] = [line.from, line.to].map(|task| {
                self.observation.tasks.get(task).map_or("?", |task| task.name.as_str())
            });
            format!(
                "false sharing: '{from}' writes {} and '{to}' uses {}, on one cache line that \
                 passed {}",
                line.written,
                line.accessed,
                times(line.falsely)
            )
        })
    }
}

impl ObservationOutcome {
    /// A command that has ended with this sighting. One that failed has seen little of itself: its
    /// failure is the reason why there are no reports.
    pub(crate) fn of_ended(ending: Ending, sighting: Result<Sighting, ObserveError>) -> Self {
        let sighting = match sighting {
            Err(_) if ending != Ending::Exited(0) => Ok(None),
            sighting => sighting.map(Some),
        };
        ObservationOutcome { sighting, ..ObservationOutcome::elsewhere(ending) }
    }

    /// A command that has ended, and whose sighting another process has.
    pub(crate) fn elsewhere(ending: Ending) -> Self {
        let state = CommandState::Ended(ending);
        ObservationOutcome { sighting: Ok(None), end: CommandEnd { state, broken: None } }
    }
}

impl CommandEnd {
    /// Waits for the command's end. An observation of a process that ran before ends well.
    ///
    /// # Errors
    /// A look that failed, or the wait.
    pub fn wait(self, stop: &dyn Fn() -> bool) -> Result<Ending, ObserveError> {
        let ending = match self.state {
            CommandState::None => Ok(Ending::Exited(0)),
            CommandState::Ended(ending) => Ok(ending),
            CommandState::Runs { child, is_to_end } => {
                command::attend(child, is_to_end, stop).map(Ending::of)
            }
        };
        // A look that failed says more than the ending: the program ran on unseen.
        let ending = ending.map_err(ObserveError::System)?;
        self.broken.map_or(Ok(ending), Err)
    }
}
