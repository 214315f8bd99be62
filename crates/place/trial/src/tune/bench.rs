//! Compares commands: from a request to the result.
//!
//! | module | contents |
//! |---|---|
//! | [`room`] | the CPUs of the commands, and how they are kept quiet |
//! | `lease` | a cell that is renewed while the commands run |

mod lease;
pub mod room;

use crate::tune::document::{BenchCommand, FORMAT, SeatsUsed};
use crate::tune::metric::{Better, Metric};
use crate::tune::session::{Length, RunSession, SessionEnd, SessionEvent, TooLong};
use crate::tune::trial::{CommandRunner, Contestant};
use crate::tune::{BenchResults, Fingerprint};
pub use lease::LeaseError;
use room::QuietSeats;
pub use room::RoomError;
use seatmap_cell::undo::Left;
use seatmap_cell::{GuardianCommand, Name};
use seatmap_launch::{Executable, ProgramError};
use seatmap_os::{CpuSet, whole_file};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The pause between writes of the result, in multiples of the time of a write.
const KEPT_SHARE: u32 = 20;

/// A command with its name.
#[derive(Clone, Debug)]
pub struct NamedCommand {
    /// Its name in the result.
    pub name: String,
    /// The program and its arguments.
    pub words: Vec<OsString>,
}

impl NamedCommand {
    /// A command that exists. Its default name is its command line.
    ///
    /// # Errors
    /// [`ProgramError`]: it cannot be started.
    pub fn new(name: Option<&str>, words: &[OsString]) -> Result<Self, ProgramError> {
        // Checked before all runs, so that a misspelt second command does not cost a block.
        Executable::find(words)?;
        let words = words.to_vec();
        let unnamed = Contestant { command: words.clone(), ..Contestant::default() };
        Ok(NamedCommand { name: name.map_or_else(|| unnamed.line(), str::to_owned), words })
    }
}

/// Numbers repeated names, so that messages are clear.
pub fn told_apart(mut commands: Vec<NamedCommand>) -> Vec<NamedCommand> {
    for at in 1..commands.len() {
        let own = commands[at].name.clone();
        let numbered = (2..).map(|number| format!("{own} ({number})"));
        let mut names = std::iter::once(own.clone()).chain(numbered);
        let free = |name: &String| commands[..at].iter().all(|other| other.name != *name);
        if let Some(name) = names.find(free) {
            commands[at].name = name;
        }
    }
    commands
}

/// Why no run can show that the first command is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NothingToShow {
    /// It is unknown which readings are worse.
    #[error(
        "--fail-above needs to know which readings are worse: add --higher-is-better or \
         --lower-is-better"
    )]
    NoDirection,
    /// There is no other command.
    #[error(
        "--fail-above has nothing to compare COMMAND with: add --compare LINE or --baseline FILE"
    )]
    NoOther,
}

/// A comparison of commands.
#[derive(Clone, Debug)]
pub struct BenchRequest {
    /// The commands; the first is compared with each of the others.
    pub commands: Vec<NamedCommand>,
    /// The metric.
    pub metric: Metric,
    /// Whether lower or higher readings are better, if known.
    pub better: Option<Better>,
    /// The confidence of all intervals, 0 to 1.
    pub confidence: f64,
    /// The seed of the random order.
    pub seed: u64,
    /// The length of the session.
    pub length: Length,
    /// An earlier result to compare with the first command.
    pub baseline: Option<BenchResults>,
    /// The request for quiet CPUs.
    pub room: RoomRequest,
    /// The file for the runs so far, if any.
    pub kept: Option<PathBuf>,
    /// The computer's name.
    pub machine: String,
    /// Returns the current time (RFC 3339).
    pub now: fn() -> String,
}

impl BenchRequest {
    /// Checks that the runs can show a difference.
    ///
    /// # Errors
    /// [`NothingToShow`].
    pub fn check_limit(&self) -> Result<(), NothingToShow> {
        if self.better.is_none() {
            return Err(NothingToShow::NoDirection);
        }
        let has_other = self.commands.len() > 1 || self.baseline.is_some();
        if has_other { Ok(()) } else { Err(NothingToShow::NoOther) }
    }
}

/// A request for quiet CPUs.
#[derive(Clone, Debug)]
pub struct RoomRequest {
    /// The requested CPUs, if any.
    pub cpus: Option<CpuSet>,
    /// The number of CPUs to choose; by default all equal and quiet cores.
    pub seats: Option<usize>,
    /// Whether to keep other programs away.
    pub is_quiet: bool,
    /// How this program handles cells.
    pub cells: OwnCells,
}

/// The command lines by which this program handles cells.
#[derive(Clone, Debug)]
pub struct OwnCells {
    /// Destroys a cell if its creator is killed.
    pub guardian: GuardianCommand,
    /// The prefix that runs a command in a cell.
    pub in_cell: fn(&Name) -> Vec<OsString>,
}

/// An event of a session.
#[derive(Debug)]
pub enum BenchEvent<'a> {
    /// A run has ended.
    RunMade {
        /// Runs so far, warm-ups too.
        runs: usize,
        /// Runs until the end, as far as known.
        of: usize,
    },
    /// The session takes longer than its limit.
    TooLong(TooLong),
    /// A setting of the cell was not restored.
    SettingLeft(&'a Left),
    /// The cell could not be destroyed.
    CellStays {
        /// Its name.
        name: &'a Name,
        /// The reason.
        error: &'a LeaseError,
    },
}

/// Runs the commands in blocks on quiet seats, and compares them. `stop` also ends a run.
///
/// # Errors
/// [`RoomError`]: the seats do not exist, and nothing ran.
pub fn run(
    request: &BenchRequest,
    stop: &dyn Fn() -> bool,
    hear: &mut dyn FnMut(BenchEvent<'_>),
) -> Result<(BenchResults, SessionEnd), RoomError> {
    let earlier = request.baseline.as_ref().map(|then| &then.seats);
    let room = QuietSeats::take(&request.room, earlier, hear)?;
    let contestants: Vec<Contestant> =
        request.commands.iter().map(|command| room.contestant(command)).collect();
    let mut results = begun(request, &room);
    let runner = CommandRunner::new(request.metric.clone()).raised(room.is_preferred());
    let runner = runner.within(request.length.limit);
    let mut kept = request.kept.as_deref().map(Kept::new);
    let steps = request.length.runs(contestants.len());
    let session = RunSession {
        runner: &runner,
        contestants: &contestants,
        stop,
        hear: &mut |event| match event {
            SessionEvent::RunMade(results, runs) => {
                hear(BenchEvent::RunMade { runs, of: steps.max(runs) });
                if let Some(kept) = &mut kept {
                    kept.keep(results);
                }
            }
            SessionEvent::TooLong(late) => hear(BenchEvent::TooLong(late)),
        },
    };
    let end = session.run(&request.length, &mut results);
    room.leave(hear);
    if let Some(then) = &request.baseline {
        results.compare_with(then);
    }
    Ok((results, end))
}

fn begun(request: &BenchRequest, room: &QuietSeats) -> BenchResults {
    let commands = request.commands.iter().map(|named| BenchCommand {
        name: named.name.clone(),
        command: named.words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        median: None,
    });
    BenchResults {
        format: FORMAT.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        begun: (request.now)(),
        complete: false,
        fingerprint: Fingerprint::new(
            request.machine.clone(),
            seatmap_machines::host::environment::read(),
            room.size(),
            room.kept_by().to_owned(),
        ),
        metric: request.metric.to_string(),
        unit: request.metric.unit().to_owned(),
        better: request.better,
        confidence: request.confidence,
        seed: request.seed,
        seats: SeatsUsed {
            cpus: room.cpus.list().to_string(),
            notes: room.notes.clone(),
            others_percent: room.others_percent,
        },
        commands: commands.collect(),
        throttled: None,
        disturbed: None,
        itself: None,
        comparisons: Vec::new(),
        baseline: None,
        runs: Vec::new(),
    }
}

struct Kept<'a> {
    file: &'a Path,
    next: Instant,
}

impl<'a> Kept<'a> {
    fn new(file: &'a Path) -> Self {
        Kept { file, next: Instant::now() }
    }

    /// Saves the runs after a block. Each write contains all runs, so writes must be rare. The end
    /// reports errors.
    fn keep(&mut self, results: &BenchResults) {
        let of_block = results.commands.len() + 1;
        let is_whole = !results.runs.is_empty() && results.runs.len().is_multiple_of(of_block);
        let began = Instant::now();
        if is_whole && self.next <= began {
            let _ = whole_file::replace(self.file, results.to_json().as_bytes());
            self.next = Instant::now() + began.elapsed() * KEPT_SHARE;
        }
    }
}

#[cfg(test)]
mod tests;
