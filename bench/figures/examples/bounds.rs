//! Prints the gap between lower bounds and best known costs for six published matrices and six
//! patterns.
//!
//! `SEATMAP_DATA` names the folder of published measurements. Machines without a file are skipped.

use seatmap_data::machine::import;
use seatmap_data::statistics::Xoshiro;
use seatmap_place::bound::{gilmore_lawler, lower_bound};
use seatmap_place::machine::Square;
use seatmap_place::portfolio::portfolio;
use seatmap_place::search::SearchLimit;
use seatmap_place::{Problem, Traffic, seed};
use std::time::Instant;

/// Published matrices with their numbers of tasks. The last one leaves a third of its PUs empty.
const MACHINES: [(&str, usize); 6] = [
    ("xeon-8375c-2s-128", 128),
    ("graviton3-64", 64),
    ("kunpeng-920-64", 64),
    ("epyc-9654-2s", 128),
    ("xeon-e5-2695v4-72", 72),
    ("epyc-7r13-2s-192", 128),
];

const SECONDS: f64 = 1.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("machine pattern cost before gap now gap seconds");
    let mut gaps = [Vec::new(), Vec::new()];
    for (machine, tasks) in MACHINES {
        let file = format!("core-to-core/{machine}.csv");
        let Some(path) = seatmap_needs::published(&file) else { continue };
        let profile = import::read(&std::fs::read(path)?, machine, None)?;
        let Some(measured) = profile.core_distance else { continue };
        let distance = Square::from_fn(measured.pus.len(), |i, j| {
            if i == j { 0.0 } else { measured.median_ns[(i, j)] as f32 }
        });
        for (name, edges) in patterns(tasks)? {
            let problem =
                Problem::new(Traffic::new(tasks, relabelled(tasks, edges)), distance.clone());
            let cost = best_known(&problem);
            let before = gilmore_lawler(&problem, &SearchLimit::seconds(1.0));
            let began = Instant::now();
            let now = lower_bound(&problem, &SearchLimit::seconds(SECONDS));
            let seconds = began.elapsed().as_secs_f64();
            let percent = [before, now].map(|bound| 100.0 * (1.0 - bound / cost));
            gaps[0].push(percent[0]);
            gaps[1].push(percent[1]);
            println!(
                "{machine} {name} {cost:.0} {before:.0} {:.1} {now:.0} {:.1} {seconds:.2}",
                percent[0], percent[1]
            );
        }
    }
    for (name, gaps) in ["before", "now"].iter().zip(&gaps) {
        let mean = gaps.iter().sum::<f64>() / gaps.len().max(1) as f64;
        let worst = gaps.iter().copied().fold(0.0, f64::max);
        println!("{name}: mean {mean:.1} %, worst {worst:.1} % of {} instances", gaps.len());
    }
    Ok(())
}

/// The cheaper result of two searches: on all PUs, and on the nearest ones.
fn best_known(problem: &Problem) -> f64 {
    let whole = portfolio(problem, &SearchLimit::seconds(SECONDS), 1).solution.cost;
    let tasks = problem.tasks();
    if tasks == problem.slots() {
        return whole;
    }
    let order = seed::nested(problem, &SearchLimit::seconds(SECONDS));
    let distance =
        Square::from_fn(tasks, |i, j| problem.distance[(order[i] as usize, order[j] as usize)]);
    let near = Problem::new(problem.traffic.clone(), distance);
    let near = portfolio(&near, &SearchLimit::seconds(SECONDS), 1).solution.cost;
    whole.min(near)
}

type Named = (String, Vec<(usize, usize, f64)>);

fn patterns(n: usize) -> Result<Vec<Named>, Box<dyn std::error::Error>> {
    // The grid closest to a square.
    let side = (1..=n).rev().find(|side| n.is_multiple_of(*side) && side * side <= n).unwrap_or(1);
    let specs = [
        format!("ring:{n}"),
        format!("binomial-tree:{n}"),
        format!("recursive-doubling:{n}"),
        format!("stencil2d:{side}x{}", n / side),
        format!("random:{n}:4:1"),
    ];
    let mut all = vec![(format!("geometric:{n}"), geometric(n))];
    for spec in specs {
        let pattern = seatmap_data::pattern::generate(&spec)?;
        all.push((
            spec,
            pattern.edges.iter().map(|edge| (edge.from, edge.to, edge.bytes)).collect(),
        ));
    }
    Ok(all)
}

/// Random points of the unit square; near ones communicate, on average with six partners.
fn geometric(n: usize) -> Vec<(usize, usize, f64)> {
    let mut rng = Xoshiro::new(11);
    let points: Vec<(f64, f64)> = (0..n).map(|_| (rng.unit(), rng.unit())).collect();
    let radius = (6.0 / (std::f64::consts::PI * n as f64)).sqrt();
    let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
    let is_near = |(i, j): &(usize, usize)| {
        (points[*i].0 - points[*j].0).hypot(points[*i].1 - points[*j].1) < radius
    };
    pairs.filter(is_near).map(|(i, j)| (i, j, 1.0)).collect()
}

/// Renumbers the tasks, so that no method profits from the generator's order.
fn relabelled(n: usize, edges: Vec<(usize, usize, f64)>) -> Vec<(usize, usize, f64)> {
    let mut label: Vec<usize> = (0..n).collect();
    Xoshiro::new(7).shuffle(&mut label);
    edges.into_iter().map(|(from, to, weight)| (label[from], label[to], weight)).collect()
}
