//! Runs base and head of all benchmarks by turns in one job ([`crate::tune::session`]).

use crate::gate::file::{PlannedBenchmark, ProgramVersion};
use crate::gate::report::{BenchmarkReadings, GateHeader, GateReport, begun};
use crate::tune::bench::RoomRequest;
use crate::tune::bench::room::QuietSeats;
use crate::tune::metric::Metric;
use crate::tune::session::{NamedReadings, Session, Track, TrackProgress};
use crate::tune::trial::unstored;
use crate::tune::{BenchEvent, CommandRunner, Contestant, SessionEnd, TrialError};
use seatmap_data::document::Failure;
use seatmap_data::statistics::trial::Schedule;
use seatmap_data::statistics::words::counted;
use seatmap_launch::{Executable, ProgramError};
use seatmap_os::quota::QuotaWatch;
use seatmap_os::scratch::Scratch;

/// A comparison of base and head.
#[derive(Debug)]
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

/// Runs all and judges the finished runs, also after an early end. `stop` also ends a run.
///
/// # Errors
/// [`Failure`]: the requested seats do not exist, and nothing ran.
pub fn run(
    request: &GateRequest,
    stop: &dyn Fn() -> bool,
    hear: &mut dyn FnMut(BenchEvent<'_>),
) -> Result<(GateReport, Result<(), SessionEnd>), Failure> {
    let room = QuietSeats::take(&request.room, None, hear)?;
    let quotas = QuotaWatch::begin();
    let mut header = GateHeader {
        begun: (request.now)(),
        complete: false,
        label: request.label.clone(),
        fingerprint: room.fingerprint(&request.machine),
        confidence: request.confidence,
        seed: request.seed,
        seats: room.seats.clone(),
        throttled: None,
    };
    let planned = request.benchmarks.iter();
    let mut tracks: Vec<Track<'_>> =
        planned.clone().zip(0..).map(|(planned, at)| track(planned, at, request, &room)).collect();
    let expected = planned.clone().map(|planned| planned.length.runs(planned.words.len())).sum();
    let mut session = Session { stop, hear, seats: room.seats.clone(), expected, runs: 0 };
    let end = played(&mut session, &mut tracks, request);
    header.seats = session.seats;
    header.throttled = quotas.used_up();
    header.complete = end.is_ok();
    room.leave(hear);
    let rows = tracks.into_iter().zip(planned).flat_map(|(track, planned)| {
        let fail_above_percent = planned.fail_above_percent;
        let rows = track.rows.into_iter();
        rows.map(move |(name, results)| BenchmarkReadings { name, fail_above_percent, results })
    });
    Ok((GateReport::judged(header, rows.collect()), end))
}

fn played(
    session: &mut Session<'_>,
    tracks: &mut [Track<'_>],
    request: &GateRequest,
) -> Result<(), SessionEnd> {
    for (planned, track) in request.benchmarks.iter().zip(tracks.iter_mut()) {
        set_up(planned, session)?;
        session.warm_up(track)?;
    }
    session.rounds(tracks, request.seed)
}

/// The time of a setup does not count.
fn set_up(planned: &PlannedBenchmark, session: &Session<'_>) -> Result<(), SessionEnd> {
    let Some(line) = &planned.setup else { return Ok(()) };
    let runner = CommandRunner::new(Metric::Time, None);
    match runner.run(&Contestant::shell(line), session.stop) {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(SessionEnd::Stopped(counted(session.runs, "run"))),
        Err(error) => {
            let what = format!("the setup of benchmark '{}' failed", planned.name);
            Err(Failure::work_at(what)(error).into())
        }
    }
}

fn track<'a>(
    planned: &'a PlannedBenchmark,
    at: u64,
    request: &GateRequest,
    room: &QuietSeats,
) -> Track<'a> {
    let contestants = ProgramVersion::BOTH.iter().zip(&planned.words).map(|(side, words)| {
        let name = side.word().to_owned();
        let command = words.clone();
        room.seated(Contestant { name, command, ..Contestant::default() })
    });
    let runner = room.runner(&planned.metric, &planned.length);
    let mut length = planned.length;
    // A gate does not estimate its time.
    length.limit = None;
    Track {
        name: Some(&planned.name),
        contestants: contestants.collect(),
        length,
        has_command: planned.metric.has_command(),
        make: Box::new(move |contestant, stop| made(planned, &runner, contestant, stop)),
        schedule: Schedule::new(request.seed.wrapping_add(at)),
        begun: begun(planned, request.confidence, request.seed),
        rows: Vec::new(),
        file: None,
        done: TrackProgress::default(),
    }
}

fn made(
    planned: &PlannedBenchmark,
    runner: &CommandRunner,
    contestant: &Contestant,
    stop: &dyn Fn() -> bool,
) -> Result<Option<NamedReadings>, TrialError> {
    let own = &planned.name;
    let Some(adapter) = planned.adapter else {
        let reading = runner.run(contestant, stop)?;
        return Ok(reading.map(|reading| (reading, vec![(own.clone(), reading.value)])));
    };
    // An earlier run's report would pass for this one's.
    let folder = Scratch::new("bench").map_err(unstored)?;
    let reporting = adapter.reporting(contestant, folder.path());
    let Some((reading, printed)) = runner.run_printing(&reporting, stop)? else { return Ok(None) };
    let found = adapter.read(folder.path(), &printed.stdout()?)?;
    let named = found.into_iter().map(|(name, value_s)| (format!("{own}: {name}"), value_s));
    Ok(Some((reading, named.collect())))
}

#[cfg(test)]
mod tests;
