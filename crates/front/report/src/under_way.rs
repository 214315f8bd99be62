//! The events of a running race or comparison, a sentence each.

use crate::words::{counted, lasting, visible};
use seatmap_data::document::with_causes;
use seatmap_os::cpu_list;
use seatmap_trial::tune::session::TooLong;
use seatmap_trial::tune::{BenchEvent, RaceEvent};

/// The sentence for an event of a race; `None` for a finished run.
pub fn of_race(event: &RaceEvent<'_>) -> Option<String> {
    use RaceEvent::*;
    Some(match event {
        RunMade { .. } => return None,
        CandidatesLeftOut { racing, all, run_s, limit_s } => format!(
            "racing only {} of {all}: a run takes {run_s:.2} s, and more do not fit in {}",
            counted(*racing, "candidate"),
            lasting(*limit_s)
        ),
        CountFound { setting, tried, runs } => format!(
            "{setting} is the best of {} in {}; it races against the default",
            counted(*tried, "number"),
            counted(*runs, "run")
        ),
        TooLong(late) => too_long("race", late, "the default's run"),
        TookLonger { taken_s, limit_s } => format!(
            "the runs took {taken_s:.0} s, {:.0} s more than --seconds allows",
            taken_s - limit_s
        ),
        CpusTaken { cpus, holder } => {
            let were = if cpus.parse::<u32>().is_ok() { "was" } else { "were" };
            let cpus = cpu_list::named(cpus);
            let by = if holder.is_unknown() { String::new() } else { holder.or("") + ": " };
            format!("{by}{cpus} {were} taken away during a run; the run is repeated")
        }
        // On a busy computer, one run in eight is repeated.
        Disturbed { runs: 2.., .. } => return None,
        Disturbed { percent, .. } => format!(
            "others took {percent:.0} % of the CPU time during a run; this run and later ones like \
             it are repeated"
        ),
        CpusetShrunk => {
            "this process briefly lost some of the race's CPUs; the run is repeated".to_owned()
        }
        StartFailed { error } => format!(
            "the job failed to start ({}); the run is repeated",
            visible(&with_causes(*error))
        ),
        ObservedStartFailed { error } => format!(
            "the job failed to start ({}); it is started again",
            visible(&with_causes(*error))
        ),
        RunsKept { runs } => {
            format!("{} saved; continue the race with --resume", counted(*runs, "run"))
        }
        RunLost { before } => format!(
            "this run could not be saved; --resume continues after the {} before it",
            counted(*before, "run")
        ),
    })
}

fn too_long(kind: &str, late: &TooLong, first: &str) -> String {
    let runs = counted(late.runs, "run");
    let with = if late.has_command { " with the metric's command" } else { "" };
    format!(
        "the {kind} needs about {}, but --seconds allows {}: it makes at least {runs}, and \
         {first} took {}{with}",
        lasting(late.needed_s),
        lasting(late.limit_s),
        lasting(late.run_s)
    )
}

/// The sentence for an event of a comparison; `None` for a finished run.
pub fn of_bench(event: &BenchEvent<'_>) -> Option<String> {
    match event {
        BenchEvent::RunMade { .. } => None,
        BenchEvent::TooLong(late) => Some(too_long("comparison", late, "each of the first")),
        BenchEvent::SettingLeft(left) => Some(left.to_string()),
        BenchEvent::CellStays { name, error } => {
            Some(format!("cannot destroy the cell '{name}': {}", with_causes(*error)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_estimate_names_its_runs() {
        let late =
            TooLong { needed_s: 65.0, limit_s: 3.0, runs: 13, run_s: 5.0, has_command: true };
        let sentence = "the comparison needs about 65 s, but --seconds allows 3.0 s: it makes at \
             least 13 runs, and each of the first took 5.0 s with the metric's command";
        assert_eq!(of_bench(&BenchEvent::TooLong(late)).unwrap(), sentence);
        let late =
            TooLong { needed_s: 4.0, limit_s: 2.0, runs: 30, run_s: 0.13, has_command: false };
        let sentence = "the race needs about 4.0 s, but --seconds allows 2.0 s: it makes at least \
             30 runs, and the default's run took 0.1 s";
        assert_eq!(of_race(&RaceEvent::TooLong(late)).unwrap(), sentence);
    }
}
