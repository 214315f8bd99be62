//! A session of runs: warm-ups, then rounds until there are enough blocks.
//!
//! In each round every benchmark runs one block, in random order, so a temporary neighbour affects
//! only a part of each. A block's runs follow each other, to minimise drift.

use crate::tune::bench::BenchEvent;
use crate::tune::blocks::{BlockRun, next_block};
use crate::tune::document::{BenchResults, SeatsUsed};
use crate::tune::trial::{Contestant, RunReading, TrialError};
use seatmap_data::document::Failure;
use seatmap_data::statistics::signed_rank;
use seatmap_data::statistics::trial::{Schedule, each};
use seatmap_data::statistics::words::counted;
use seatmap_os::whole_file;
use std::path::Path;
use std::time::{Duration, Instant};

/// Between writes of the result, in multiples of a write's time.
const KEPT_SHARE: u32 = 20;

/// For CPUs lost to another program's cell for a moment: 10 s in all.
const VOID_TRIES: u32 = 50;
const VOID_PAUSE: Duration = Duration::from_millis(200);

/// The last run ends after the limit, so a session is late only beyond this factor.
pub(crate) const WORTH_TELLING: f64 = 1.05;

/// The length of a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Length {
    /// Warm-up runs of each command.
    pub warm_ups: usize,
    /// The fewest undisturbed blocks, unless twice as many have run.
    pub least_blocks: usize,
    /// The most blocks, not counting repeated ones.
    pub most_blocks: usize,
    /// Between the two, another block starts if it is likely to end within this time, including
    /// warm-ups.
    pub time: Duration,
    /// The user's time limit for the whole session.
    pub limit: Option<Duration>,
}

/// The fewest runs exceed the user's limit, estimated from the first runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooLong {
    /// The time for the fewest runs, in seconds.
    pub needed_s: f64,
    /// The user's limit, in seconds.
    pub limit_s: f64,
    /// The fewest runs.
    pub runs: usize,
    /// The mean time of the first runs, in seconds, with the metric's own command.
    pub run_s: f64,
    /// Whether the metric has a command of its own.
    pub has_command: bool,
}

/// With 5 % scatter, 82 % of sessions of 8 blocks show a difference of 10 %, and 98 % of sessions
/// of 15.
const USUAL_BLOCKS: usize = 15;

/// More blocks fit into this time if commands are short.
const USUAL_TIME: Duration = Duration::from_secs(3);
const MOST_USUAL_BLOCKS: usize = 100;

impl Length {
    /// The given blocks; or those that fit in the time, but enough for an interval; or the default,
    /// more for short commands.
    pub fn new(
        warm_ups: usize,
        blocks: Option<usize>,
        time: Option<Duration>,
        confidence: f64,
    ) -> Self {
        let fewest = signed_rank::fewest(confidence);
        let (least_blocks, most_blocks, usual) = match (blocks, time) {
            (Some(blocks), _) => (blocks, blocks, Duration::ZERO),
            (None, Some(time)) => (fewest, usize::MAX, time),
            (None, None) => (USUAL_BLOCKS.max(fewest), MOST_USUAL_BLOCKS, USUAL_TIME),
        };
        let limit = time.filter(|_| blocks.is_none());
        Length { warm_ups, least_blocks, most_blocks, time: usual, limit }
    }

    /// Whether these blocks are enough. `is_late`: another one would end after the time.
    pub fn is_over(&self, blocks: usize, is_late: bool, results: &mut BenchResults) -> bool {
        let Length { least_blocks, most_blocks, .. } = *self;
        if blocks < least_blocks {
            return false;
        }
        // Neighbours that stay must at most double the blocks.
        let may_repeat = blocks < least_blocks.saturating_mul(2);
        if may_repeat && results.quiet_blocks() < least_blocks {
            return false;
        }
        is_late || blocks >= most_blocks
    }

    /// The least number of runs of a session with this many commands.
    pub fn runs(&self, commands: usize) -> usize {
        self.warm_ups * commands + self.least_blocks * (commands + 1)
    }
}

/// Why a session has fewer blocks than requested.
#[derive(Debug, thiserror::Error)]
pub enum SessionEnd {
    /// The user stopped it after this much, in words.
    #[error("interrupted after {0}")]
    Stopped(String),
    /// A run failed.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// A run with its readings by name.
pub type NamedReadings = (RunReading, Vec<(String, f64)>);

/// Makes a run of a command; `None` if the flag became true.
pub type MakeRun<'a> =
    dyn Fn(&Contestant, &dyn Fn() -> bool) -> Result<Option<NamedReadings>, TrialError> + 'a;

/// A benchmark: commands compared in blocks, and their runs so far.
pub struct Track<'a> {
    /// Its name in errors; `None` if it is the only one.
    pub name: Option<&'a str>,
    /// The commands; the first one runs twice in each block.
    pub contestants: Vec<Contestant>,
    /// How long it runs.
    pub length: Length,
    /// Whether its metric has a command of its own.
    pub has_command: bool,
    /// Makes a run.
    pub make: Box<MakeRun<'a>>,
    /// The order of its runs.
    pub schedule: Schedule,
    /// Its results before the first run.
    pub begun: BenchResults,
    /// The results of each reading's name.
    pub rows: Vec<(String, BenchResults)>,
    /// The file for the runs so far, if any.
    pub file: Option<&'a Path>,
    /// Its progress.
    pub done: TrackProgress,
}

/// The progress of a benchmark.
#[derive(Default)]
pub struct TrackProgress {
    blocks: usize,
    spent: Duration,
    warm: Duration,
    /// No write before.
    next_write: Option<Instant>,
}

impl Track<'_> {
    /// The comparisons of all benchmarks share the error allowed for one.
    fn is_over(&mut self, comparisons: usize) -> bool {
        let mut length = self.length;
        let TrackProgress { blocks, spent, warm, .. } = self.done;
        let Some((_, results)) = self.rows.first_mut() else { return false };
        // More comparisons need more blocks, unless the user fixed their number.
        if comparisons > 1 && length.most_blocks > length.least_blocks {
            let fewest = signed_rank::fewest(each(results.confidence, comparisons));
            length.least_blocks = length.least_blocks.max(fewest);
        }
        let per_block = (spent - warm) / u32::try_from(blocks.max(1)).unwrap_or(u32::MAX);
        length.is_over(blocks, spent + per_block > length.time, results)
    }

    fn add(&mut self, readings: Vec<(String, f64)>, run: &BlockRun) {
        for (name, value) in readings {
            let own = self.rows.iter().position(|(row, _)| *row == name);
            let at = own.unwrap_or_else(|| {
                self.rows.push((name, self.begun.clone()));
                self.rows.len() - 1
            });
            self.rows[at].1.runs.push(BlockRun { value, ..run.clone() });
        }
    }

    /// Each write contains all runs, so writes must be rare. The end reports errors.
    fn save(&mut self, seats: &SeatsUsed) {
        let began = Instant::now();
        let is_due = self.done.next_write.is_none_or(|next| next <= began);
        let Some((file, (_, results))) = self.file.zip(self.rows.first_mut()) else { return };
        if is_due {
            results.seats.clone_from(seats);
            let _ = whole_file::replace(file, results.to_json().as_bytes());
            self.done.next_write = Some(Instant::now() + began.elapsed() * KEPT_SHARE);
        }
    }
}

/// A running session.
pub struct Session<'a> {
    /// Returns whether to stop, also during a run.
    pub stop: &'a dyn Fn() -> bool,
    /// Receives the events.
    pub hear: &'a mut dyn FnMut(BenchEvent<'_>),
    /// The seats of all commands.
    pub seats: SeatsUsed,
    /// The runs until the end, as far as known.
    pub expected: usize,
    /// The runs so far.
    pub runs: usize,
}

impl Session<'_> {
    /// Makes the warm-up runs of a benchmark.
    ///
    /// # Errors
    /// [`SessionEnd`].
    pub fn warm_up(&mut self, track: &mut Track<'_>) -> Result<(), SessionEnd> {
        let commands = track.contestants.len();
        for command in (0..track.length.warm_ups).flat_map(|_| 0..commands) {
            self.once(track, command)?;
            self.count();
        }
        track.done.warm = track.done.spent;
        self.check_limit(track);
        Ok(())
    }

    /// Runs blocks of these benchmarks until all have enough. The rounds' seed orders them.
    ///
    /// # Errors
    /// [`SessionEnd`].
    pub fn rounds(&mut self, tracks: &mut [Track<'_>], seed: u64) -> Result<(), SessionEnd> {
        let mut schedule = Schedule::new(seed);
        loop {
            let comparisons = tracks.iter().map(|track| track.rows.len()).sum();
            let mut open: Vec<&mut Track<'_>> = tracks.iter_mut().collect();
            open.retain_mut(|track| !track.is_over(comparisons));
            if open.is_empty() {
                return Ok(());
            }
            for at in schedule.order(open.len()) {
                self.block(open[at])?;
            }
        }
    }

    fn block(&mut self, track: &mut Track<'_>) -> Result<(), SessionEnd> {
        for (command, again) in next_block(&mut track.schedule, track.contestants.len()) {
            let (reading, readings) = self.once(track, command)?;
            let run = BlockRun {
                again,
                seconds: reading.seconds,
                disturbance: Some(reading.disturbance),
                ..BlockRun::new(track.done.blocks, command, reading.value)
            };
            track.add(readings, &run);
            self.count();
        }
        track.save(&self.seats);
        track.done.blocks += 1;
        if track.done.blocks == 1 && track.length.warm_ups == 0 {
            self.check_limit(track);
        }
        Ok(())
    }

    fn count(&mut self) {
        self.runs += 1;
        (self.hear)(BenchEvent::RunMade { runs: self.runs, of: self.expected.max(self.runs) });
    }

    fn check_limit(&mut self, track: &Track<'_>) {
        let Some(limit) = track.length.limit.filter(|_| self.runs > 0) else { return };
        let runs = track.length.runs(track.contestants.len());
        let run_s = track.done.spent.as_secs_f64() / self.runs as f64;
        let needed_s = run_s * runs as f64;
        let limit_s = limit.as_secs_f64();
        if needed_s > limit_s * WORTH_TELLING {
            let has_command = track.has_command;
            let late = TooLong { needed_s, limit_s, runs, run_s, has_command };
            (self.hear)(BenchEvent::TooLong(late));
        }
    }

    /// Repeated while its CPUs are missing.
    fn once(&mut self, track: &mut Track<'_>, command: usize) -> Result<NamedReadings, SessionEnd> {
        let contestant = &track.contestants[command];
        let begun = Instant::now();
        let mut tries = 0;
        loop {
            match (track.make)(contestant, self.stop) {
                Ok(Some((mut reading, readings))) => {
                    reading.disturbance.void_tries = tries;
                    track.done.spent += begun.elapsed();
                    return Ok((reading, readings));
                }
                Ok(None) => return Err(SessionEnd::Stopped(counted(self.runs, "run"))),
                Err(TrialError::CpusTaken { cpus, holder, .. })
                    if tries < VOID_TRIES && !(self.stop)() =>
                {
                    tries += 1;
                    self.seats.tell_void(&cpus, &holder);
                    std::thread::sleep(VOID_PAUSE);
                }
                Err(error) => {
                    return Err(match track.name {
                        Some(name) => {
                            let what = format!("benchmark '{name}', {}", contestant.name);
                            Failure::work_at(what)(error).into()
                        }
                        None => SessionEnd::Failed(error.into()),
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::document::tests::made;

    #[test]
    fn disturbed_blocks_are_repeated_up_to_twice() {
        // These runs stay quiet, so that the usual load is known.
        let beside = |run: &BlockRun, loud: usize| {
            let percent = if run.block < loud && !run.again { 50.0 } else { 0.0 };
            crate::tune::Disturbance { foreign_percent: Some(percent), ..Default::default() }
        };
        let session = |blocks, loud| {
            let mut results = made(blocks);
            for run in &mut results.runs {
                run.disturbance = Some(beside(run, loud));
            }
            results
        };
        let length = Length::new(1, Some(6), None, 0.95);
        let is_over = |blocks, of_them| length.is_over(blocks, true, &mut session(blocks, of_them));
        assert!(is_over(6, 0) && !is_over(5, 0));
        assert!(!is_over(6, 2) && !is_over(7, 2) && is_over(8, 2));
        assert!(is_over(12, 8), "neighbours who stay");
    }
}
