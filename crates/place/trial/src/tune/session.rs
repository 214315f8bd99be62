//! A session of runs: warm-ups, then blocks until there are enough.

use crate::tune::blocks::{BlockRun, Blocks};
use crate::tune::document::BenchResults;
use crate::tune::trial::{CommandRunner, Contestant, RunReading, TrialError};
use seatmap_data::statistics::signed_rank;
use seatmap_data::statistics::words::counted;
use seatmap_os::holder::Holder;
use seatmap_os::quota::QuotaWatch;
use std::time::{Duration, Instant};

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

/// More blocks fit into this time, up to a limit, if commands are short.
const USUAL_TIME: Duration = Duration::from_secs(3);
const MOST_USUAL_BLOCKS: usize = 100;

impl Length {
    /// The given number of blocks; or those that fit in the time, but enough for an interval; or
    /// the default, with more for short commands.
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

/// How a session ended.
#[derive(Debug)]
pub enum SessionEnd {
    /// All blocks have run.
    Complete,
    /// The user stopped it.
    Stopped,
    /// A run failed.
    Failed(TrialError),
}

/// Why a session has fewer blocks than requested.
#[derive(Debug, thiserror::Error)]
pub enum Unfinished {
    /// The user stopped it.
    #[error("interrupted after {}", counted(*.blocks, "whole block"))]
    Stopped {
        /// Complete blocks.
        blocks: usize,
    },
    /// A run failed.
    #[error(transparent)]
    Failed(TrialError),
}

impl SessionEnd {
    /// Checks that all blocks have run.
    ///
    /// # Errors
    /// [`Unfinished`]: the results contain the runs before that.
    pub fn check(self, results: &BenchResults) -> Result<(), Unfinished> {
        match self {
            SessionEnd::Complete => Ok(()),
            SessionEnd::Stopped => Err(Unfinished::Stopped { blocks: results.blocks().len() }),
            SessionEnd::Failed(error) => Err(Unfinished::Failed(error)),
        }
    }
}

/// A running session.
pub struct RunSession<'a> {
    /// Runs the commands.
    pub runner: &'a CommandRunner,
    /// The commands; the first one runs twice in each block.
    pub contestants: &'a [Contestant],
    /// Returns whether to stop, also during a run.
    pub stop: &'a dyn Fn() -> bool,
    /// Receives the events.
    pub hear: &'a mut dyn FnMut(SessionEvent<'_>),
}

/// An event of a session.
#[derive(Clone, Copy, Debug)]
pub enum SessionEvent<'a> {
    /// A run or warm-up has ended: the results so far, and the number of runs.
    RunMade(&'a BenchResults, usize),
    /// The session takes longer than the user's limit.
    TooLong(TooLong),
}

impl RunSession<'_> {
    /// Runs the session and judges all finished runs, also after an early end.
    ///
    /// # Panics
    /// The results have another number of commands.
    pub fn run(mut self, length: &Length, results: &mut BenchResults) -> SessionEnd {
        assert_eq!(
            self.contestants.len(),
            results.commands.len(),
            "results are of the commands that run"
        );
        let quotas = QuotaWatch::begin();
        // As an error, an early end leaves the loops by `?`.
        let end = self.blocks(length, results).unwrap_or_else(|end| end);
        results.throttled = quotas.used_up();
        results.complete = matches!(end, SessionEnd::Complete);
        results.judge();
        end
    }

    fn blocks(
        &mut self,
        length: &Length,
        results: &mut BenchResults,
    ) -> Result<SessionEnd, SessionEnd> {
        let begun = Instant::now();
        let mut done = 0;
        for contestant in std::iter::repeat_n(self.contestants, length.warm_ups).flatten() {
            self.once(contestant, results)?;
            done += 1;
            (self.hear)(SessionEvent::RunMade(results, done));
        }
        self.check_limit(length, begun.elapsed(), done);
        let warm = Instant::now();
        let mut order = Blocks::new(self.contestants.len(), results.seed);
        for block in 0.. {
            let is_late = begun.elapsed() + per_block(warm, block) > length.time;
            if length.is_over(block, is_late, results) {
                break;
            }
            for (command, again) in order.next_block() {
                let reading = self.once(&self.contestants[command], results)?;
                results.add(BlockRun {
                    again,
                    seconds: reading.seconds,
                    disturbance: Some(reading.disturbance),
                    ..BlockRun::new(block, command, reading.value)
                });
                done += 1;
                (self.hear)(SessionEvent::RunMade(results, done));
            }
            if block == 0 && length.warm_ups == 0 {
                self.check_limit(length, begun.elapsed(), done);
            }
        }
        let of_block = self.contestants.len() + 1;
        assert!(
            results.runs.len().is_multiple_of(of_block),
            "a whole session has {} runs in blocks of {of_block}",
            results.runs.len()
        );
        Ok(SessionEnd::Complete)
    }

    fn check_limit(&mut self, length: &Length, taken: Duration, made: usize) {
        let Some(limit) = length.limit.filter(|_| made > 0) else { return };
        let runs = length.runs(self.contestants.len());
        let run_s = taken.as_secs_f64() / made as f64;
        let needed_s = run_s * runs as f64;
        let limit_s = limit.as_secs_f64();
        if needed_s > limit_s * WORTH_TELLING {
            let has_command = self.runner.metric().has_command();
            let late = TooLong { needed_s, limit_s, runs, run_s, has_command };
            (self.hear)(SessionEvent::TooLong(late));
        }
    }

    fn once(
        &self,
        contestant: &Contestant,
        results: &mut BenchResults,
    ) -> Result<RunReading, SessionEnd> {
        let made = unless_void(
            || Ok(self.runner.run(contestant, self.stop)?.map(|reading| (reading, ()))),
            self.stop,
            &mut |cpus, holder| results.seats.tell_void(cpus, holder),
        );
        Ok(made?.0)
    }
}

/// Makes a run, repeated while its CPUs are missing. `tell_void` receives these and the cell that
/// held them.
///
/// # Errors
/// [`SessionEnd::Stopped`] and [`SessionEnd::Failed`].
pub fn unless_void<T>(
    run: impl Fn() -> Result<Option<(RunReading, T)>, TrialError>,
    stop: &dyn Fn() -> bool,
    tell_void: &mut dyn FnMut(&str, &Holder),
) -> Result<(RunReading, T), SessionEnd> {
    let mut tries = 0;
    loop {
        match run() {
            Ok(Some((mut reading, output))) => {
                reading.disturbance.void_tries = tries;
                return Ok((reading, output));
            }
            Ok(None) => return Err(SessionEnd::Stopped),
            Err(TrialError::CpusTaken { cpus, holder, .. }) if tries < VOID_TRIES && !stop() => {
                tries += 1;
                tell_void(&cpus, &holder);
                std::thread::sleep(VOID_PAUSE);
            }
            Err(error) => return Err(SessionEnd::Failed(error)),
        }
    }
}

fn per_block(began: Instant, blocks: usize) -> Duration {
    began.elapsed() / u32::try_from(blocks.max(1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::Metric;
    use crate::tune::document::tests::made;
    use std::cell::Cell;

    fn contestants(scripts: &[&str]) -> Vec<Contestant> {
        scripts
            .iter()
            .map(|script| Contestant {
                command: ["sh", "-c", script].map(Into::into).to_vec(),
                ..Contestant::default()
            })
            .collect()
    }

    fn session(
        scripts: &[&str],
        length: Length,
        stop_after: usize,
    ) -> (SessionEnd, BenchResults, usize) {
        let _turn = crate::tune::trial::one_at_a_time();
        let runner = CommandRunner::new(Metric::parse("regex:([0-9.]+)").unwrap());
        let mut results = made(0);
        let done = Cell::new(0);
        let late = Cell::new(None);
        results.commands.truncate(scripts.len());
        let session = RunSession {
            runner: &runner,
            contestants: &contestants(scripts),
            stop: &|| done.get() >= stop_after,
            hear: &mut |event| match event {
                SessionEvent::RunMade(_, count) => done.set(count),
                SessionEvent::TooLong(too_long) => late.set(Some(too_long)),
            },
        };
        let end = session.run(&length, &mut results);
        let is_short = length.limit.is_some_and(|limit| limit.is_zero());
        assert_eq!(late.get().is_some(), is_short, "{late:?}");
        (end, results, done.get())
    }

    const LENGTH: Length =
        Length { warm_ups: 1, least_blocks: 6, most_blocks: 6, time: Duration::ZERO, limit: None };

    #[test]
    fn a_session_runs_all_its_blocks_and_judges() {
        let (end, results, done) = session(&["echo 2", "echo 1"], LENGTH, usize::MAX);
        assert!(matches!(end, SessionEnd::Complete) && results.complete);
        // Neighbours that start during this test cause repeated blocks.
        let runs = results.runs.len();
        assert!((18..=36).contains(&runs) && runs.is_multiple_of(3), "{runs}");
        assert_eq!((done, LENGTH.runs(2)), (runs + 2, 20));
        assert_eq!(
            (results.comparisons[0].verdict, results.comparisons[0].ratio.round()),
            (crate::tune::ComparisonVerdict::Worse, 2.0)
        );
    }

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
        let is_over = |blocks, of_them| LENGTH.is_over(blocks, true, &mut session(blocks, of_them));
        assert!(is_over(6, 0) && !is_over(5, 0));
        assert!(!is_over(6, 2) && !is_over(7, 2) && is_over(8, 2));
        assert!(is_over(12, 8), "neighbours who stay");
    }

    #[test]
    fn failure_or_stop_keeps_earlier_runs() {
        let folder = tempfile::tempdir().unwrap();
        let script = format!(
            "echo x >> {0}/n; test $(wc -l < {0}/n) -lt 9; s=$?; echo 1; exit $s",
            folder.path().display()
        );
        let (end, results, _) = session(&[&script], LENGTH, usize::MAX);
        assert!(matches!(end, SessionEnd::Failed(TrialError::Failed { .. })) && !results.complete);
        assert_eq!(results.runs.len(), 7);
        let (end, results, done) = session(&["echo 1; sleep 0.06"], LENGTH, 5);
        assert!(matches!(end, SessionEnd::Stopped) && !results.complete);
        assert_eq!((results.runs.len(), done), (4, 5));
    }

    fn blocks_in(length: Length) -> usize {
        session(&["echo 1"], length, usize::MAX).1.blocks().len()
    }

    #[test]
    fn time_limit_respects_block_bounds() {
        let bounds = |least_blocks, time| Length {
            warm_ups: 0,
            least_blocks,
            most_blocks: 4,
            time,
            limit: Some(time),
        };
        assert!((2..=4).contains(&blocks_in(bounds(2, Duration::ZERO))));
        assert_eq!(blocks_in(bounds(2, Duration::from_secs(1000))), 4);
    }
}
