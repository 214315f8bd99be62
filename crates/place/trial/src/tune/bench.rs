//! Compares commands: from a request to the result.
//!
//! | module | contents |
//! |---|---|
//! | [`room`] | the CPUs of the commands, and how they are kept quiet |
//! | `lease` | a cell that is renewed while the commands run |

mod lease;
pub mod room;

use crate::tune::BenchResults;
use crate::tune::document::{BenchCommand, FORMAT};
use crate::tune::metric::{Better, Metric};
use crate::tune::session::{Length, Session, SessionEnd, TooLong, Track, TrackProgress};
use crate::tune::trial::{Contestant, texts};
use room::QuietSeats;
use seatmap_cell::undo::Left;
use seatmap_cell::{GuardianCommand, Name};
use seatmap_data::document::Failure;
use seatmap_data::statistics::trial::Schedule;
use seatmap_data::statistics::words::counted;
use seatmap_launch::{Executable, ProgramError};
use seatmap_os::CpuSet;
use seatmap_os::quota::QuotaWatch;
use std::ffi::OsString;
use std::path::PathBuf;

/// A command that exists. Its default name is its command line.
///
/// # Errors
/// [`ProgramError`]: it cannot be started.
pub fn named(name: Option<&str>, words: &[OsString]) -> Result<Contestant, ProgramError> {
    // Checked before all runs, so that a misspelt second command does not cost a block.
    Executable::find(words)?;
    let command = words.to_vec();
    let unnamed = Contestant { command, ..Contestant::default() };
    Ok(Contestant { name: name.map_or_else(|| unnamed.line(), str::to_owned), ..unnamed })
}

/// Numbers repeated names, so that messages are clear.
pub fn told_apart(mut commands: Vec<Contestant>) -> Vec<Contestant> {
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

/// A comparison of commands.
#[derive(Debug)]
pub struct BenchRequest {
    /// The commands; the first is compared with each of the others.
    pub commands: Vec<Contestant>,
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
    /// The file for the runs so far.
    pub kept: Option<PathBuf>,
    /// The computer's name.
    pub machine: String,
    /// Returns the current time (RFC 3339).
    pub now: fn() -> String,
}

impl BenchRequest {
    /// Why no run can show that the first command is worse, if so.
    pub fn limit_problem(&self) -> Option<String> {
        let problem = if self.better.is_none() {
            "needs to know which readings are worse: add --higher-is-better or --lower-is-better"
        } else if self.commands.len() < 2 && self.baseline.is_none() {
            "has nothing to compare COMMAND with: add --compare LINE or --baseline FILE"
        } else {
            return None;
        };
        Some(format!("--fail-above {problem}"))
    }
}

/// A request for quiet CPUs.
#[derive(Clone, Debug)]
pub struct RoomRequest {
    /// The requested CPUs, if any.
    pub cpus: Option<CpuSet>,
    /// The words that named them, if it was not by number.
    pub words: Option<String>,
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
        error: &'a Failure,
    },
}

/// Runs the commands in blocks on quiet seats, and compares them. `stop` also ends a run.
///
/// # Errors
/// [`Failure`]: the seats do not exist, and nothing ran.
pub fn run(
    request: &BenchRequest,
    stop: &dyn Fn() -> bool,
    hear: &mut dyn FnMut(BenchEvent<'_>),
) -> Result<(BenchResults, Result<(), SessionEnd>), Failure> {
    let earlier = request.baseline.as_ref().map(|then| &then.seats);
    let room = QuietSeats::take(&request.room, earlier, hear)?;
    let runner = room.runner(&request.metric, &request.length);
    let contestants = request.commands.iter().cloned().map(|command| room.seated(command));
    let mut track = Track {
        name: None,
        contestants: contestants.collect(),
        length: request.length,
        has_command: request.metric.has_command(),
        make: Box::new(|contestant, stop| {
            let reading = runner.run(contestant, stop)?;
            Ok(reading.map(|reading| (reading, vec![(String::new(), reading.value)])))
        }),
        schedule: Schedule::new(request.seed),
        begun: begun(request, &room),
        rows: Vec::new(),
        file: request.kept.as_deref(),
        done: TrackProgress::default(),
    };
    let expected = request.length.runs(request.commands.len());
    let quotas = QuotaWatch::begin();
    let mut session = Session { stop, hear, seats: room.seats.clone(), expected, runs: 0 };
    let end = session
        .warm_up(&mut track)
        .and_then(|()| session.rounds(std::slice::from_mut(&mut track), request.seed));
    let seats = session.seats;
    let rows = track.rows.pop();
    let mut results = rows.map_or(track.begun, |(_, results)| results);
    results.seats = seats;
    results.throttled = quotas.used_up();
    results.complete = end.is_ok();
    results.judge();
    room.leave(hear);
    if let Some(then) = &request.baseline {
        results.compare_with(then);
    }
    let end = end.map_err(|end| match end {
        SessionEnd::Stopped(_) => {
            SessionEnd::Stopped(counted(results.blocks().len(), "whole block"))
        }
        failed => failed,
    });
    Ok((results, end))
}

fn begun(request: &BenchRequest, room: &QuietSeats) -> BenchResults {
    let commands = request.commands.iter().map(|command| BenchCommand {
        name: command.name.clone(),
        command: texts(&command.command),
        median: None,
    });
    BenchResults {
        format: FORMAT.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        begun: (request.now)(),
        fingerprint: room.fingerprint(&request.machine),
        metric: request.metric.to_string(),
        unit: request.metric.unit().to_owned(),
        better: request.better,
        confidence: request.confidence,
        seed: request.seed,
        seats: room.seats.clone(),
        commands: commands.collect(),
        ..BenchResults::default()
    }
}

#[cfg(test)]
mod tests;
