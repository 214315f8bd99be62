//! The outcome of an observation.

use crate::tsan::SharedLine;
use crate::{Observation, ObserveError, c2c, command};
use seatmap_data::words::times;
use seatmap_launch::Ending;
use seatmap_os::{StopCheck, named_file};
use std::io::BufReader;
use std::path::Path;
use std::process::Child;

const MOST_LINES: usize = 5;

/// The observation of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Sighting {
    /// Its threads and their messages.
    pub observation: Observation,
    /// The most moved cache lines, if the method observes lines.
    pub lines: Vec<SharedLine>,
}

/// The outcome of an observation.
#[derive(Debug)]
pub struct ObservationOutcome {
    /// The result, or why there is none. `Ok(None)` if another rank has it, or the command failed.
    pub sighting: Result<Option<Sighting>, ObserveError>,
    /// The command's end, perhaps still to come.
    pub end: CommandEnd,
}

/// The end of an observed command.
#[derive(Debug)]
pub struct CommandEnd {
    pub state: CommandState,
    pub broken: Option<ObserveError>,
}

#[derive(Debug)]
pub enum CommandState {
    None,
    Runs {
        child: Child,
        /// Whether the user has requested its end.
        is_to_end: bool,
    },
    Ended(Ending),
}

impl Sighting {
    pub(crate) fn of_recording(path: &Path) -> Result<Self, ObserveError> {
        let file = named_file::open(path).map_err(c2c::PerfDataError::Open);
        let sighting = file.and_then(|file| c2c::read(BufReader::new(file)));
        sighting
            .map_err(|source| ObserveError::Recording { path: path.display().to_string(), source })
    }

    /// Sentences about the lines most moved by false sharing.
    pub fn false_sharing(&self) -> impl Iterator<Item = String> {
        let lines = self.lines.iter().filter(|line| line.is_false_sharing());
        lines.take(MOST_LINES).map(|line| {
            let [from, to] = [line.from, line.to].map(|task| {
                self.observation.tasks.get(task).map_or("?", |task| task.name.as_str())
            });
            format!(
                "false sharing: '{from}' writes {} and '{to}' uses {}, on one cache line that \
                 passed between them {}",
                line.written,
                line.accessed,
                times(line.falsely)
            )
        })
    }
}

impl ObservationOutcome {
    /// An ended command with its result. Its failure explains missing reports.
    pub fn of_ended(ending: Ending, sighting: Result<Sighting, ObserveError>) -> Self {
        let sighting = match sighting {
            Err(_) if ending != Ending::Exited(0) => Ok(None),
            sighting => sighting.map(Some),
        };
        ObservationOutcome { sighting, ..ObservationOutcome::elsewhere(ending) }
    }

    /// An ended command with its result in another process.
    pub fn elsewhere(ending: Ending) -> Self {
        let state = CommandState::Ended(ending);
        ObservationOutcome { sighting: Ok(None), end: CommandEnd { state, broken: None } }
    }
}

impl CommandEnd {
    /// Whether the user has requested the end of a running command.
    pub fn is_requested(&self) -> bool {
        matches!(self.state, CommandState::Runs { is_to_end: true, .. })
    }

    /// Waits for the command's end. Without a command the ending is a success.
    ///
    /// # Errors
    /// A failed look, or the wait.
    pub fn wait(self, stop: StopCheck) -> Result<Ending, ObserveError> {
        let ending = match self.state {
            CommandState::None => Ok(Ending::Exited(0)),
            CommandState::Ended(ending) => Ok(ending),
            CommandState::Runs { child, is_to_end } => {
                command::attend(child, is_to_end, stop).map(Ending::of)
            }
        };
        // A failed look matters more, because the program continued unobserved.
        let ending = ending.map_err(ObserveError::System)?;
        self.broken.map_or(Ok(ending), Err)
    }
}
