//! The duration of a matrix: measures the cost of a visit here, and computes the schedule for
//! machines of many PUs.

use crate::pair;
use crate::row::FigureRow;
use seatmap_data::machine::catalog;
use seatmap_data::statistics::median;
use seatmap_measure::plan::{Effort, SurveyPlan};
use seatmap_measure::probe::Probe;
use std::error::Error;
use std::time::{Duration, Instant};

/// Machines of these sizes, by their bundled descriptions, and the target time of a matrix in
/// seconds. The largest has the distances of the largest described machine, sampled evenly.
const SIZES: [(usize, &str, f64); 4] = [
    (16, "ryzen-5950x", 0.5),
    (64, "graviton3", 5.0),
    (192, "epyc-7r13-2s", 30.0),
    (512, "epyc-9654-2s", 240.0),
];

const VISITS: usize = 300;

pub fn rows() -> Result<Vec<FigureRow>, Box<dyn Error>> {
    let Some(cpus) = pair::cpus()? else { return Ok(Vec::new()) };
    let mut probe = pair::probe(cpus)?;
    let plan = SurveyPlan::new(Effort::Usual, probe.clock_step_ns());
    let overhead_s = overhead_s(&mut probe, cpus, &plan)?;
    let mut rows = vec![FigureRow::info(
        "cost of a visit beyond its round trips",
        format!("{:.0} us", overhead_s * 1e6),
    )];
    for (n, machine, limit_s) in SIZES {
        let seconds = matrix_s(&distances_ns(machine, n)?, &plan, overhead_s);
        let what = format!("matrix of {n} PUs, serial ({machine})");
        rows.push(FigureRow::held(
            what,
            format!("{seconds:.2} s"),
            format!("< {limit_s} s"),
            seconds < limit_s,
        ));
    }
    Ok(rows)
}

/// The overhead of waking, meeting and reporting: the median visit minus its round trips.
fn overhead_s<P: Probe>(
    probe: &mut P,
    cpus: [u32; 2],
    plan: &SurveyPlan,
) -> Result<f64, Box<dyn Error>> {
    let visit = seatmap_measure::probe::Visit {
        batches: plan.batches,
        round_trips: plan.round_trips,
        ..pair::visit(cpus)
    };
    let mut beyond = Vec::new();
    for _ in 0..VISITS {
        let started = Instant::now();
        let brought = probe.visit(&visit)?;
        let whole_s = started.elapsed().as_secs_f64();
        let round_trip_ns =
            brought.first().and_then(|batches| median(&batches.round_trip_ns)).unwrap_or(0.0);
        beyond.push(whole_s - round_trips_s(round_trip_ns, plan));
    }
    Ok(median(&beyond).unwrap_or(f64::NAN))
}

fn round_trips_s(round_trip_ns: f64, plan: &SurveyPlan) -> f64 {
    f64::from((plan.batches + 1) * plan.round_trips) * round_trip_ns * 1e-9
}

fn distances_ns(machine: &str, n: usize) -> Result<Vec<f64>, Box<dyn Error>> {
    let profile = catalog::load(machine)?;
    let distance = profile.core_distance.ok_or("a bundled machine without distances")?;
    let mut own: Vec<f64> = distance.median_ns.pairs().map(|(_, _, ns)| *ns).collect();
    own.sort_by(f64::total_cmp);
    let pairs = n * (n - 1) / 2;
    // Even quantiles of the machine's own distances.
    Ok((0..pairs).map(|at| own[at * own.len() / pairs]).collect())
}

/// The serial schedule: a pass visits each pair once, and passes repeat until the plan's time is
/// over.
fn matrix_s(distances_ns: &[f64], plan: &SurveyPlan, overhead_s: f64) -> f64 {
    let pass_s: f64 = distances_ns.iter().map(|ns| overhead_s + round_trips_s(*ns, plan)).sum();
    let passes = plan.passes.settled(Duration::from_secs_f64(pass_s));
    pass_s * f64::from(passes)
}
