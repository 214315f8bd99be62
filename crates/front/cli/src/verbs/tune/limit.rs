//! The time that a race may take, and what fits into it.

use super::entrants::Field;
use crate::args::Tune;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::output;
use seatmap_report::counted;
use seatmap_tune::race::{Budget, DEFAULT, Rules};
use seatmap_tune::{Runner, Tuned};

/// The fewest candidates of a race: the default, and one to beat it.
pub const FEWEST: usize = 2;

/// Times one run of the default, and drops the last candidates if the fewest runs of a race with
/// all of them take longer than `--seconds` allows. Says so before the race begins.
///
/// # Errors
/// The program fails, or the user ended it.
pub fn keep_to(typed: &Tune, field: &mut Field, interrupt: &Interrupt) -> Result<(), CliError> {
    let Some(limit) = typed.seconds.map(|time| time.as_secs_f64()) else { return Ok(()) };
    let runner = Runner::new(typed.metric.clone());
    let reading = runner
        .run(&field.contestant(typed, DEFAULT), &|| interrupt.asked())
        .map_err(CliError::work)?;
    let Some(reading) = reading else {
        return Err(CliError::work("interrupted before the first run of the race"));
    };
    let all = field.entrants.len();
    let left = limit - reading.seconds;
    let fitting = fitting(all, left, reading.seconds, typed.confidence);
    field.entrants.truncate(fitting);
    let needed = reading.seconds * fewest_runs(fitting, typed.confidence) as f64;
    if fitting < all {
        output::tell(&format!(
            "{} of {all} race: a run takes {:.2} s, and more do not fit in {limit:.0} s",
            counted(fitting, "candidate"),
            reading.seconds
        ));
    }
    if needed > left {
        output::tell(&format!(
            "this takes about {needed:.0} s, more than the {limit:.0} s of --seconds: {} are the fewest of a race, and a \
             run takes {:.2} s",
            counted(fewest_runs(fitting, typed.confidence), "run"),
            reading.seconds
        ));
    }
    Ok(())
}

/// Says by how much a race took longer than it was allowed.
pub fn tell_excess(typed: &Tune, tuned: &Tuned) {
    let Some(limit) = typed.seconds.map(|time| time.as_secs_f64()) else { return };
    let taken: f64 = tuned.runs.iter().map(|run| run.seconds).sum();
    if taken > limit * WORTH_TELLING {
        output::tell(&format!(
            "the runs took {taken:.0} s, {:.0} s more than --seconds allows",
            taken - limit
        ));
    }
}

/// A race that takes less than this times its limit kept to it: the last run ends when it ends.
const WORTH_TELLING: f64 = 1.05;

/// The fewest runs of a race.
pub fn fewest_runs(candidates: usize, confidence: f64) -> usize {
    Rules { candidates, budget: Budget::Runs(0), confidence, seed: 1 }.fewest_runs()
}

/// The most candidates whose fewest runs fit.
fn fitting(all: usize, left_s: f64, run_s: f64, confidence: f64) -> usize {
    let fits = |candidates: &usize| run_s * fewest_runs(*candidates, confidence) as f64 <= left_s;
    (FEWEST..=all).rev().find(fits).unwrap_or(FEWEST.min(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_dropped_until_the_fewest_runs_fit() {
        let runs = |candidates| fewest_runs(candidates, 0.95) as f64;
        assert_eq!(fitting(12, runs(12), 1.0, 0.95), 12);
        assert_eq!(fitting(12, runs(12) - 0.5, 1.0, 0.95), 11);
        assert_eq!(fitting(12, 2.0 * runs(5), 2.0, 0.95), 5);
        assert_eq!(fitting(12, 1.0, 1.0, 0.95), 2, "a race has two");
        assert_eq!(fitting(1, 0.0, 1.0, 0.95), 1);
        assert_eq!(fewest_runs(2, 0.95), 30, "two blocks, a warm-up, and six groups of four");
    }
}
