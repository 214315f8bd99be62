//! The events of a running race or comparison, a sentence each.

use crate::about::counted;
use seatmap_data::document::{visible, with_causes};
use seatmap_data::statistics::words::lasting;
use seatmap_os::cpu_list;
use seatmap_trial::tune::session::TooLong;
use seatmap_trial::tune::{BenchEvent, RaceEvent};

/// The sentence for an event of a race; `None` for a finished run.
#[must_use]
pub fn of_race(event: &RaceEvent<'_>) -> Option<String> {
    Some(match event {
        // The bar shows the number of runs.
        RaceEvent::RunMade { .. } => return None,
        RaceEvent::CandidatesLeftOut { racing, all, run_s, limit_s } => format!(
            "{} of {all} race: a run takes {run_s:.2} s, and more do not fit in {}",
            counted(*racing, "candidate"),
            lasting(*limit_s)
        ),
        RaceEvent::TooLong(late) => too_long("race", late, "that of the default that was timed"),
        RaceEvent::TookLonger { taken_s, limit_s } => format!(
            "the runs took {taken_s:.0} s, {:.0} s more than --seconds allows",
            taken_s - limit_s
        ),
        RaceEvent::CpusTaken { cpus, holder } => {
            let were = if cpus.parse::<u32>().is_ok() { "was" } else { "were" };
            let cpus = cpu_list::named(cpus);
            let by = if holder.is_unknown() { String::new() } else { holder.or("") + ": " };
            format!("{by}{cpus} {were} taken from a run, which is void; it is made again")
        }
        // On a busy computer, one run in eight is repeated.
        RaceEvent::Disturbed { runs: 2.., .. } => return None,
        RaceEvent::Disturbed { percent, .. } => format!(
            "others took {percent:.0} % of the CPUs from a run, which is void; it is made again, \
             as others like it will be"
        ),
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

/// Explains that the minimum of runs exceeds the time.
fn too_long(kind: &str, late: &TooLong, first: &str) -> String {
    let runs = counted(late.runs, "run");
    let with = if late.has_command { " with the metric's own command" } else { "" };
    format!(
        "the {kind} takes about {}, more than the {} of --seconds: {runs} are its fewest, each as \
         long as {first}, {}{with}",
        lasting(late.needed_s),
        lasting(late.limit_s),
        lasting(late.run_s)
    )
}

/// The sentence for an event of a comparison; `None` for a finished run.
#[must_use]
pub fn of_bench(event: &BenchEvent<'_>) -> Option<String> {
    match event {
        BenchEvent::RunMade { .. } => None,
        BenchEvent::TooLong(late) => Some(too_long("comparison", late, "the first ones")),
        BenchEvent::SettingLeft(left) => Some(left.to_string()),
        BenchEvent::CellStays { name, error } => {
            Some(format!("the cell '{name}' is still there: {}", with_causes(*error)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_says_of_which_runs_it_is() {
        let late =
            TooLong { needed_s: 65.0, limit_s: 3.0, runs: 13, run_s: 5.0, has_command: true };
        let sentence = "the comparison takes about 65 s, more than the 3.0 s of --seconds: 13 \
             runs are its fewest, each as long as the first ones, 5.0 s with the \
             metric's own command";
        assert_eq!(of_bench(&BenchEvent::TooLong(late)).unwrap(), sentence);
        let late =
            TooLong { needed_s: 4.0, limit_s: 2.0, runs: 30, run_s: 0.13, has_command: false };
        let sentence = "the race takes about 4.0 s, more than the 2.0 s of --seconds: 30 runs \
             are its fewest, each as long as that of the default that was timed, 0.1 \
             s";
        assert_eq!(of_race(&RaceEvent::TooLong(late)).unwrap(), sentence);
    }
}
