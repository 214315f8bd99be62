//! Runs base and head of all benchmarks by turns in one job.
//!
//! In each round every benchmark runs one block, in random order: base once and head twice. So a
//! temporary neighbour affects only a part of each. The runs of a block follow each other, to
//! minimise drift.

use crate::gate::adapter::{Adapter, AdapterError};
use crate::gate::family;
use crate::gate::file::{PlannedBenchmark, ProgramVersion, ReadingSource};
use crate::gate::report::{BenchmarkReadings, GateHeader, GateReport};
use crate::tune::bench::room::QuietSeats;
use crate::tune::bench::{NamedCommand, RoomError, RoomRequest};
use crate::tune::document::SeatsUsed;
use crate::tune::metric::Metric;
use crate::tune::session::unless_void;
use crate::tune::{
    BenchEvent, BlockRun, Blocks, CommandRunner, Contestant, Fingerprint, RunReading, SessionEnd,
    TrialError,
};
use seatmap_data::document::Blame;
use seatmap_data::statistics::words::counted;
use seatmap_data::statistics::{Xoshiro, signed_rank};
use seatmap_launch::{Executable, ProgramError};
use seatmap_machines::host::environment;
use seatmap_os::quota::QuotaWatch;
use seatmap_os::scratch::Scratch;
use std::path::Path;

/// A comparison of base and head.
#[derive(Clone, Debug)]
pub struct GateRequest {
    /// The benchmarks.
    pub benchmarks: Vec<PlannedBenchmark>,
    /// The confidence of all claims together, 0 to 1.
    pub confidence: f64,
    /// The seed of the random order.
    pub seed: u64,
    /// The request for quiet CPUs.
    pub room: RoomRequest,
    /// The name of head in a history, such as its commit.
    pub label: Option<String>,
    /// The computer's name.
    pub machine: String,
    /// Returns the current time (RFC 3339).
    pub now: fn() -> String,
}

impl GateRequest {
    /// Checks that the commands exist, except those that a setup may create.
    ///
    /// # Errors
    /// [`ProgramError`]: a program does not exist.
    pub fn check(&self) -> Result<(), ProgramError> {
        let without_setup = self.benchmarks.iter().filter(|planned| planned.setup.is_none());
        let mut commands = without_setup.flat_map(|planned| &planned.words);
        commands.try_for_each(|words| Executable::find(words).map(drop))
    }
}

/// Why nothing ran.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The requested seats do not exist.
    #[error(transparent)]
    Room(#[from] RoomError),
}

impl Blame for GateError {
    fn is_input(&self) -> bool {
        let GateError::Room(error) = self;
        error.is_input()
    }
}

/// Why a session has fewer blocks than requested.
#[derive(Debug, thiserror::Error)]
pub enum GateEnd {
    /// The user stopped it.
    #[error("interrupted after {}", counted(*.runs, "run"))]
    Stopped {
        /// The finished runs.
        runs: usize,
    },
    /// The setup command failed.
    #[error("the setup of benchmark '{name}' failed")]
    Setup {
        /// The benchmark.
        name: String,
        /// Its error.
        source: TrialError,
    },
    /// A run failed.
    #[error("benchmark '{name}', {side}", side = .side.word())]
    Run {
        /// The benchmark.
        name: String,
        /// The side.
        side: ProgramVersion,
        /// Its error.
        source: TrialError,
    },
    /// The report of a run gives no readings.
    #[error("benchmark '{name}', {side}", side = .side.word())]
    Report {
        /// The benchmark.
        name: String,
        /// The side.
        side: ProgramVersion,
        /// The reason.
        source: AdapterError,
    },
}

/// Runs all benchmarks and judges the finished runs, also after an early end. `stop` also ends a
/// run.
///
/// # Errors
/// [`GateError`]: nothing ran.
pub fn run(
    request: &GateRequest,
    stop: &dyn Fn() -> bool,
    hear: &mut dyn FnMut(BenchEvent<'_>),
) -> Result<(GateReport, Result<(), GateEnd>), GateError> {
    let room = QuietSeats::take(&request.room, None, hear)?;
    let mut header = header(request, &room);
    let quotas = QuotaWatch::begin();
    let tracks = request.benchmarks.iter().enumerate();
    let mut tracks: Vec<Track<'_>> =
        tracks.map(|(at, planned)| Track::new(planned, at as u64, request, &room)).collect();
    let mut job = Job { stop, hear, header: &mut header, runs: 0 };
    let end = job.run(&mut tracks, request);
    header.throttled = quotas.used_up();
    header.complete = end.is_ok();
    room.leave(hear);
    let rows = tracks.into_iter().flat_map(|track| track.rows).collect();
    Ok((GateReport::judged(header, rows), end))
}

fn header(request: &GateRequest, room: &QuietSeats) -> GateHeader {
    GateHeader {
        begun: (request.now)(),
        complete: false,
        label: request.label.clone(),
        fingerprint: Fingerprint::new(
            request.machine.clone(),
            environment::read(),
            room.size(),
            room.kept_by().to_owned(),
        ),
        confidence: request.confidence,
        seed: request.seed,
        seats: SeatsUsed {
            cpus: room.cpus.list().to_string(),
            notes: room.notes.clone(),
            others_percent: room.others_percent,
        },
        throttled: None,
    }
}

struct Track<'a> {
    planned: &'a PlannedBenchmark,
    contestants: [Contestant; 2],
    runner: CommandRunner,
    order: Blocks,
    blocks: usize,
    spent_s: f64,
    rows: Vec<BenchmarkReadings>,
}

impl<'a> Track<'a> {
    fn new(
        planned: &'a PlannedBenchmark,
        at: u64,
        request: &GateRequest,
        room: &QuietSeats,
    ) -> Self {
        let metric = match &planned.source {
            ReadingSource::Metric(metric) => metric.clone(),
            ReadingSource::Adapter(_) => Metric::Time,
        };
        let sides = [0, 1].map(|side| NamedCommand {
            name: ProgramVersion::BOTH[side].word().to_owned(),
            words: planned.words[side].clone(),
        });
        let runner = CommandRunner::new(metric).raised(room.is_preferred());
        Track {
            planned,
            contestants: sides.map(|side| room.contestant(&side)),
            runner: runner.within(planned.length.limit),
            order: Blocks::new(2, request.seed.wrapping_add(at)),
            blocks: 0,
            spent_s: 0.0,
            rows: Vec::new(),
        }
    }

    fn is_over(&mut self, confidence: f64, comparisons: usize) -> bool {
        let mut length = self.planned.length;
        // More comparisons need more blocks, unless the user fixed their number.
        if length.most_blocks > length.least_blocks {
            let fewest = signed_rank::fewest(family::each(confidence, comparisons));
            length.least_blocks = length.least_blocks.max(fewest);
        }
        let per_block = self.spent_s / self.blocks.max(1) as f64;
        let is_late = self.spent_s + per_block > length.time.as_secs_f64();
        match self.rows.first_mut() {
            None => false,
            Some(row) => length.is_over(self.blocks, is_late, &mut row.results),
        }
    }

    fn add(&mut self, readings: Vec<(String, f64)>, run: &BlockRun, header: &GateHeader) {
        for (name, value) in readings {
            let own = self.rows.iter().position(|row| row.name == name);
            let at = own.unwrap_or_else(|| {
                self.rows.push(BenchmarkReadings::new(name, self.planned, header));
                self.rows.len() - 1
            });
            self.rows[at].results.add(BlockRun { value, ..run.clone() });
        }
    }

    fn readings(
        &self,
        reading: RunReading,
        folder: Option<&Scratch>,
        printed: &str,
    ) -> Result<Vec<(String, f64)>, AdapterError> {
        let own = &self.planned.name;
        match (&self.planned.source, folder) {
            (ReadingSource::Adapter(adapter), Some(folder)) => {
                let found = adapter.read(folder.path(), printed)?;
                let named = found.into_iter();
                Ok(named.map(|found| (format!("{own}: {}", found.name), found.value_s)).collect())
            }
            _ => Ok(vec![(own.clone(), reading.value)]),
        }
    }
}

struct Job<'a> {
    stop: &'a dyn Fn() -> bool,
    hear: &'a mut dyn FnMut(BenchEvent<'_>),
    header: &'a mut GateHeader,
    runs: usize,
}

impl Job<'_> {
    fn run(&mut self, tracks: &mut [Track<'_>], request: &GateRequest) -> Result<(), GateEnd> {
        let expected: usize =
            tracks.iter().map(|track| track.planned.length.runs(track.contestants.len())).sum();
        for track in tracks.iter_mut() {
            self.set_up(track)?;
            for side in (0..track.planned.length.warm_ups).flat_map(|_| [0, 1]) {
                let (reading, _) = self.once(track, side)?;
                track.spent_s += reading.seconds;
                self.count(expected);
            }
        }
        let mut random = Xoshiro::new(request.seed);
        loop {
            let comparisons = tracks.iter().map(|track| track.rows.len()).sum();
            let mut open: Vec<usize> = (0..tracks.len())
                .filter(|at| !tracks[*at].is_over(request.confidence, comparisons))
                .collect();
            if open.is_empty() {
                return Ok(());
            }
            random.shuffle(&mut open);
            for at in open {
                self.block(&mut tracks[at], expected)?;
            }
        }
    }

    fn set_up(&self, track: &Track<'_>) -> Result<(), GateEnd> {
        let Some(line) = &track.planned.setup else { return Ok(()) };
        let command = ["/bin/sh", "-c", line].map(Into::into).to_vec();
        // The time of a setup does not count.
        let contestant = Contestant { command, ..Contestant::default() };
        let made = CommandRunner::new(Metric::Time).run(&contestant, self.stop);
        match made {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(GateEnd::Stopped { runs: self.runs }),
            Err(source) => Err(GateEnd::Setup { name: track.planned.name.clone(), source }),
        }
    }

    fn block(&mut self, track: &mut Track<'_>, expected: usize) -> Result<(), GateEnd> {
        for (side, again) in track.order.next_block() {
            let (reading, readings) = self.once(track, side)?;
            track.spent_s += reading.seconds;
            let run = BlockRun {
                again,
                seconds: reading.seconds,
                disturbance: Some(reading.disturbance),
                ..BlockRun::new(track.blocks, side, reading.value)
            };
            track.add(readings, &run, self.header);
            self.count(expected);
        }
        track.blocks += 1;
        Ok(())
    }

    fn count(&mut self, expected: usize) {
        self.runs += 1;
        (self.hear)(BenchEvent::RunMade { runs: self.runs, of: expected.max(self.runs) });
    }

    fn once(
        &mut self,
        track: &Track<'_>,
        side: usize,
    ) -> Result<(RunReading, Vec<(String, f64)>), GateEnd> {
        let name = &track.planned.name;
        let seats = &mut self.header.seats;
        let made = unless_void(
            || with_report(track, &track.contestants[side], self.stop),
            self.stop,
            &mut |cpus, holder| seats.tell_void(cpus, holder),
        );
        let made = made.map_err(|end| match end {
            SessionEnd::Failed(source) => {
                GateEnd::Run { name: name.clone(), side: ProgramVersion::BOTH[side], source }
            }
            SessionEnd::Stopped | SessionEnd::Complete => GateEnd::Stopped { runs: self.runs },
        })?;
        let (reading, (folder, printed)) = made;
        let readings = track.readings(reading, folder.as_ref(), &printed).map_err(|source| {
            GateEnd::Report { name: name.clone(), side: ProgramVersion::BOTH[side], source }
        })?;
        Ok((reading, readings))
    }
}

type Reported = (RunReading, (Option<Scratch>, String));

fn with_report(
    track: &Track<'_>,
    contestant: &Contestant,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Reported>, TrialError> {
    let ReadingSource::Adapter(adapter) = track.planned.source else {
        let reading = track.runner.run(contestant, stop)?;
        return Ok(reading.map(|reading| (reading, (None, String::new()))));
    };
    // An earlier run's report would pass for this one's.
    let folder = Scratch::new("bench").map_err(TrialError::Output)?;
    let reporting = reporting(adapter, contestant, folder.path());
    let made = track.runner.run_with_output(&reporting, stop)?;
    Ok(made.map(|(reading, printed)| (reading, (Some(folder), printed))))
}

fn reporting(adapter: Adapter, contestant: &Contestant, folder: &Path) -> Contestant {
    let command = adapter.reporting(&contestant.command, folder);
    let mut launcher = contestant.launcher.clone();
    launcher.extend(command.launcher);
    Contestant { command: command.words, launcher, ..contestant.clone() }
}

#[cfg(test)]
mod tests;
