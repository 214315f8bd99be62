//! The limits on time and runs of a race, and the candidates that fit into them.

use crate::tune::program_race::field::RaceField;
use crate::tune::program_race::{RaceEvent, RaceRequest};
use crate::tune::race::{DEFAULT, fewest_runs};
use crate::tune::session::{TooLong, WORTH_TELLING};
use crate::tune::{CommandRunner, Tuned};
use seatmap_data::document::Failure;
use seatmap_data::statistics::words::counted;

const FEWEST: usize = 2;

/// Times a default run, and drops the last candidates if the shortest race exceeds the rest of the
/// limit.
///
/// # Errors
/// The program fails, or the user stopped it.
pub fn keep_to(
    field: &mut RaceField<'_>,
    spent_s: f64,
    stop: &dyn Fn() -> bool,
    hear: &mut dyn FnMut(RaceEvent<'_>),
) -> Result<(), Failure> {
    let request = field.request;
    let Some(limit_s) = request.time.map(|time| time.as_secs_f64()) else { return Ok(()) };
    let runner = CommandRunner::new(request.metric.clone(), request.time);
    let reading = runner.run(&field.contestant(DEFAULT), stop)?;
    let Some(reading) = reading else {
        return Err(Failure::work("interrupted before the first run of the race"));
    };
    let run_s = reading.seconds;
    let all = field.entrants.len();
    let left_s = limit_s - spent_s - run_s;
    let racing = fitting(all, left_s, run_s, request.confidence);
    field.entrants.truncate(racing);
    if racing < all {
        hear(RaceEvent::CandidatesLeftOut { racing, all, run_s, limit_s });
    }
    let runs = fewest_runs(racing, request.confidence);
    let needed_s = run_s * runs as f64;
    // Two candidates race in any case; the user is warned before.
    if needed_s > left_s {
        let has_command = request.metric.has_command();
        hear(RaceEvent::TooLong(TooLong { needed_s, limit_s, runs, run_s, has_command }));
    }
    Ok(())
}

pub fn tell_excess(request: &RaceRequest, tuned: &Tuned, hear: &mut dyn FnMut(RaceEvent<'_>)) {
    let Some(limit_s) = request.time.map(|time| time.as_secs_f64()) else { return };
    let taken_s = tuned.seconds_taken();
    // "0 s more" would be confusing.
    if taken_s > limit_s * WORTH_TELLING && (taken_s - limit_s).round() >= 1.0 {
        hear(RaceEvent::TookLonger { taken_s, limit_s });
    }
}

/// Checks that the requested runs are enough, if `searched` find the number of threads.
///
/// # Errors
/// [`Failure::Input`], with the number of candidates for which they are.
pub fn check_budget(
    request: &RaceRequest,
    candidates: usize,
    searched: usize,
) -> Result<(), Failure> {
    let fewest = searched + fewest_runs(candidates, request.confidence);
    let Some(runs) = request.runs.filter(|runs| *runs < fewest) else { return Ok(()) };
    let enough_for = (FEWEST..candidates)
        .rev()
        .find(|candidates| searched + fewest_runs(*candidates, request.confidence) <= runs);
    let fewer =
        enough_for.map_or_else(String::new, |fewer| format!(", or add --candidates {fewer}"));
    let search = match searched {
        0 => "",
        _ => " and a search for the count",
    };
    Err(Failure::input(format!(
        "a race of {}{search} needs at least {}; raise --budget{fewer}",
        counted(candidates, "candidate"),
        counted(fewest, "run")
    )))
}

fn fitting(all: usize, left_s: f64, run_s: f64, confidence: f64) -> usize {
    (FEWEST..=all)
        .rev()
        .find(|candidates| run_s * fewest_runs(*candidates, confidence) as f64 <= left_s)
        .unwrap_or(FEWEST.min(all))
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
    }
}
