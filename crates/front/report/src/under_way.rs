//! The events of a race or a comparison that is under way, a sentence each.

use crate::about::counted;
use seatmap_document::{visible, with_causes};
use seatmap_os::cpu_list;
use seatmap_tune::{BenchEvent, RaceEvent};

/// The sentence for something that a race tells; `None` for a run that was made.
#[must_use]
pub fn of_race(event: &RaceEvent<'_>) -> Option<String> {
    Some(match event {
        // The bar shows how many runs are made.
        RaceEvent::RunMade { .. } => return None,
        RaceEvent::CandidatesLeftOut { racing, all, run_s, limit_s } => format!(
            "{} of {all} race: a run takes {run_s:.2} s, and more do not fit in {limit_s:.0} s",
            counted(*racing, "candidate")
        ),
        RaceEvent::TooLong { needed_s, limit_s, runs, run_s } => format!(
            "this takes about {needed_s:.0} s, more than the {limit_s:.0} s of --seconds: {} are \
             the fewest of a race, and a run takes {run_s:.2} s",
            counted(*runs, "run")
        ),
        RaceEvent::TookLonger { taken_s, limit_s } => format!(
            "the runs took {taken_s:.0} s, {:.0} s more than --seconds allows",
            taken_s - limit_s
        ),
        RaceEvent::CpusTaken { cpus } => {
            let were = if cpus.parse::<u32>().is_ok() { "was" } else { "were" };
            let cpus = cpu_list::named(cpus);
            format!("{cpus} {were} taken from a run, which is void; it is made again")
        }
        RaceEvent::CpusetShrunk => {
            "some of the race's CPUs were taken from this process for a moment; the run is \
                                    made again"
                .to_owned()
        }
        RaceEvent::StartFailed { error } => format!(
            "a start of the job failed ({}); the run is made again",
            visible(&with_causes(*error))
        ),
        RaceEvent::ObservedStartFailed { error } => format!(
            "a start of the job failed ({}); it is started again",
            visible(&with_causes(*error))
        ),
        RaceEvent::RunsKept { runs } => {
            format!("its {} are kept, and --resume goes on with them", counted(*runs, "run"))
        }
        RaceEvent::RunLost { before } => format!(
            "this run could not be kept; --resume goes on with the {} before it",
            counted(*before, "run")
        ),
    })
}

/// The sentence for something that a comparison tells; `None` for a run that was made.
#[must_use]
pub fn of_bench(event: &BenchEvent<'_>) -> Option<String> {
    match event {
        BenchEvent::RunMade { .. } => None,
        BenchEvent::SettingLeft(left) => Some(left.to_string()),
        BenchEvent::CellStays { name, error } => {
            Some(format!("the cell '{name}' is still there: {}", with_causes(*error)))
        }
    }
}
