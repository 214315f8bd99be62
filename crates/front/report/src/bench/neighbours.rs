//! The CPU time that other programs took from the runs of a comparison, in words and curves.

use super::digits;
use crate::axis::AxisUnit;
use crate::page::Block;
use crate::svg::{PlotCurve, Title};
use crate::words::{agreeing, counted, figure};
use seatmap_trial::tune::{BenchResults, Disturbance};

/// `other programs used 41 % of CPU 0`.
fn taken(disturbance: &Disturbance, cpus: &str) -> String {
    let foreign = disturbance.foreign_percent.unwrap_or(0.0);
    let steal = disturbance.steal_percent.unwrap_or(0.0);
    let quota = disturbance.throttled_percent;
    if quota > foreign.max(steal) {
        // The sum over groups may exceed all of the time.
        format!("quotas throttled {cpus} for {} ms per second", figure(10.0 * quota, 0))
    } else if steal > foreign {
        format!("the hypervisor gave {} % of {cpus} to others", digits(steal))
    } else {
        format!("other programs used {} % of {cpus}", digits(foreign))
    }
}

/// The same kind of share in another disturbance, with its unit.
fn same_share(largest_in: &Disturbance, of: &Disturbance) -> String {
    let foreign = largest_in.foreign_percent.unwrap_or(0.0);
    let steal = largest_in.steal_percent.unwrap_or(0.0);
    if largest_in.throttled_percent > foreign.max(steal) {
        return format!("{} ms", figure(10.0 * of.throttled_percent, 0));
    }
    let share = if steal > foreign { of.steal_percent } else { of.foreign_percent };
    format!("{} %", digits(share.unwrap_or(0.0)))
}

pub fn sentences(results: &BenchResults, cpus: &str) -> Vec<String> {
    // CPU time excludes the time of others, and shows small differences that times hide.
    let only = if results.metric == "time" {
        "The result is valid only with these neighbours; CPU time (--metric cpu) depends less on \
         them."
    } else {
        "The result is valid only with these neighbours."
    };
    let runs = counted(results.runs.len(), "run");
    let mut said = Vec::new();
    if let Some(disturbed) = &results.disturbed {
        let otherwise = disturbed.otherwise.as_ref().map_or_else(String::new, |rest| {
            format!(", and {} during the other runs", same_share(&disturbed.during, rest))
        });
        let during = taken(&disturbed.during, cpus);
        let during = format!("Note: {during} during {} of {runs}{otherwise}", disturbed.runs);
        let blocks = counted(disturbed.blocks, "block");
        let are = agreeing(disturbed.blocks, "is", "are");
        said.push(if disturbed.left_out {
            format!("{during}; the {blocks} with such a run {are} excluded from all figures.")
        } else {
            format!("{during}; too few blocks are undisturbed to exclude the others. {only}")
        });
    }
    let is_told = results.disturbed.as_ref().is_some_and(|disturbed| !disturbed.left_out);
    if let Some(beside) = results.beside().filter(|_| results.has_neighbours() && !is_told) {
        let when = if results.disturbed.is_some() { "the counted runs" } else { "the runs" };
        said.push(format!("Note: {} during {when}. {only}", taken(&beside, cpus)));
    }
    said
}

/// Curves by block; none for a command without known shares.
pub fn curves(results: &BenchResults, names: Vec<String>) -> Block {
    let curves = names.into_iter().enumerate().filter_map(|(at, name)| {
        let own = results.runs.iter().filter(|run| run.command == at && !run.again);
        let points = Vec::from_iter(own.filter_map(|run| {
            Some((run.block as f64 + 1.0, run.disturbance.as_ref()?.foreign_percent?))
        }));
        (!points.is_empty()).then(|| PlotCurve::new(at, &name, points))
    });
    Block::Curves {
        curves: curves.collect(),
        across: "block",
        up: Title { text: "used by other programs", unit: AxisUnit::Percent },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_trial::tune::disturbance::DisturbedRuns;

    fn results(foreign_percent: f64, disturbed: Option<DisturbedRuns>) -> BenchResults {
        let run = |at: usize| {
            let of_others = Some(foreign_percent);
            let disturbance = Disturbance { foreign_percent: of_others, ..Disturbance::default() };
            serde_json::json!({
                "block": at, "command": 0, "value": 1.0, "seconds": 1.0, "disturbance": disturbance
            })
        };
        let document = serde_json::json!({
            "format": "seatmap-bench/1", "tool_version": "0", "begun": "", "complete": true,
            "fingerprint": {"machine": "", "seats": "", "quiet": "nobody"}, "metric": "time",
            "confidence": 0.95, "seed": 1, "seats": {"cpus": "0"}, "disturbed": disturbed,
            "commands": [{"name": "a", "command": ["a"]}],
            "runs": Vec::from_iter((0..40).map(run))
        });
        BenchResults::from_json(&document.to_string()).unwrap()
    }

    #[test]
    fn disturbed_runs_and_constant_neighbours_are_described_separately() {
        let of = |foreign_percent| Disturbance {
            foreign_percent: Some(foreign_percent),
            ..Disturbance::default()
        };
        let disturbed = |left_out| DisturbedRuns {
            runs: 12,
            blocks: 5,
            left_out,
            during: of(41.2),
            otherwise: Some(of(1.0)),
        };
        let said = |foreign, disturbed| sentences(&results(foreign, disturbed), "CPU 0");
        assert_eq!(said(1.0, None), Vec::<String>::new());
        assert_eq!(
            said(1.0, Some(disturbed(true))),
            ["Note: other programs used 41.2 % of CPU 0 during 12 of 40 runs, and 1.0 % during \
              the other runs; the 5 blocks with such a run are excluded from all figures."]
        );
        let stays = said(1.0, Some(disturbed(false)));
        assert!(stays.len() == 1 && stays[0].ends_with("depends less on them."), "{stays:?}");
        assert_eq!(
            said(50.0, None),
            ["Note: other programs used 50.0 % of CPU 0 during the runs. The result is valid \
              only with these neighbours; CPU time (--metric cpu) depends less on them."]
        );
        let of_cpu = BenchResults { metric: "cpu".to_owned(), ..results(50.0, None) };
        assert!(sentences(&of_cpu, "CPU 0")[0].ends_with("only with these neighbours."));
        let stolen = Disturbance { steal_percent: Some(7.0), ..of(1.0) };
        assert_eq!(taken(&stolen, "CPU 0"), "the hypervisor gave 7.0 % of CPU 0 to others");
        let stopped = Disturbance { throttled_percent: 9.0, ..of(1.0) };
        assert_eq!(taken(&stopped, "CPU 0"), "quotas throttled CPU 0 for 90 ms per second");
        let Block::Curves { curves, .. } = curves(&results(1.0, None), vec!["a".to_owned()]) else {
            panic!("no curves")
        };
        assert_eq!(curves.len(), 1);
    }
}
