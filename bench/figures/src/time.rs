//! The slowest seat on hybrid processors: small cases against the proven best, large ones against
//! bound and baselines.

use crate::row::Row;
use seatmap_machine::{
    CoreDistance, CoreKind, Matrix, Origin, OriginKind, Profile, Pu, SeatSpeed, Topology, catalog,
};
use seatmap_pattern::{Edge, Pattern, generate};
use seatmap_place::PlaceRequest;
use seatmap_place::search::Limit;
use seatmap_plan::Objective;
use seatmap_statistics::words::signed;
use seatmap_statistics::{Xoshiro, median};
use std::error::Error;

/// Small cases.
const CASES: u64 = 50;

/// Kicks of the search alone, and those of the search and the proof.
const SEARCH_KICKS: u64 = 200;
const PROOF_KICKS: u64 = 200_000;

/// Within a hundredth of the best, and bounds that hold.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let mut rows = small()?;
    rows.extend(large()?);
    Ok(rows)
}

fn small() -> Result<Vec<Row>, Box<dyn Error>> {
    let mut excess = Vec::new();
    let mut gaps = Vec::new();
    let mut broken = 0;
    let mut proven = 0;
    for seed in 0..CASES {
        let mut rng = Xoshiro::new(seed);
        let machine = hybrid(2 + seed as u32 % 2, 2 + seed as u32 % 3, &mut rng);
        let pattern = busy(4 + seed as usize % 4, &mut rng);
        let mut request = PlaceRequest::new(&machine, &pattern);
        (request.objective, request.limit) = (Objective::Time, Limit::kicks(SEARCH_KICKS));
        let (cost, floor) = request.search_alone()?;
        // Long enough to search all placements of so few tasks.
        request.limit = Limit::kicks(PROOF_KICKS);
        let best = request.place()?;
        excess.push(100.0 * (cost / best.cost - 1.0));
        gaps.push(100.0 * (1.0 - floor / best.cost));
        // A bound above the best placement would be wrong.
        broken += usize::from(floor > best.cost * (1.0 + 1e-9));
        proven += usize::from(best.optimal);
    }
    let worst = excess.iter().copied().fold(0.0, f64::max);
    let got = format!("worst {worst:.2} %, median {:.2} %", median(&excess).unwrap_or(f64::NAN));
    let target = "worst <= 1 %, all proven";
    let is_met = worst <= 1.0 && proven == CASES as usize;
    let gap = format!(
        "{broken} broken; median {:.1} % below the best",
        median(&gaps).unwrap_or(f64::NAN)
    );
    Ok(vec![
        Row::held(
            format!("slowest seat, {CASES} small hybrid cases, search / proven best"),
            got,
            target,
            is_met,
        ),
        Row::held("slowest seat, lower bounds", gap, "none above the best", broken == 0),
    ])
}

/// Uneven loads on the described hybrid processor, a second each.
fn large() -> Result<Vec<Row>, Box<dyn Error>> {
    let machine = catalog::load("core-i9-12900k")?;
    let mut rows = Vec::new();
    for spec in ["stencil2d:4x4", "ring:24", "binomial-tree:16", "random:20:3:1"] {
        let mut pattern = generate(spec)?;
        let mut rng = Xoshiro::new(1);
        pattern.loads = (0..pattern.tasks).map(|_| 1.0 + rng.below(4) as f64).collect();
        pattern.load_ns = Some(500.0);
        let mut request = PlaceRequest::new(&machine, &pattern);
        (request.objective, request.limit) = (Objective::Time, Limit::seconds(1.0));
        let answer = request.place()?;
        let got = format!(
            "OS's order {} %, compact {} %, random {} %; bound {} %",
            signed(more(answer.cost, answer.baselines.os), 0),
            signed(more(answer.cost, answer.baselines.compact), 0),
            signed(more(answer.cost, answer.baselines.random.mean), 0),
            signed(more(answer.cost, answer.lower_bound), 1)
        );
        rows.push(Row::info(
            format!("slowest seat, {spec} with uneven loads on core-i9-12900k"),
            got,
        ));
    }
    Ok(rows)
}

fn more(own: f64, cost: f64) -> f64 {
    100.0 * (cost / own - 1.0)
}

/// A made-up hybrid machine: performance cores of two threads, efficiency cores of one, distances
/// that wobble.
fn hybrid(performance: u32, efficiency: u32, rng: &mut Xoshiro) -> Profile {
    let pus: Vec<Pu> =
        (0..2 * performance + efficiency).map(|os| hybrid_pu(performance, os)).collect();
    let mut distance = Matrix::filled(pus.len(), 0.0);
    for a in 0..pus.len() {
        for b in a + 1..pus.len() {
            let apart = if pus[a].kind == pus[b].kind { 60.0 } else { 100.0 };
            let base = if pus[a].core == pus[b].core { 10.0 } else { apart };
            distance.set_both(a, b, base + 20.0 * rng.unit());
        }
    }
    // Efficiency cores at 40 to 90 % of the fastest core's speed.
    let slow = 0.4 + 0.5 * rng.unit();
    let alone = pus
        .iter()
        .map(|pu| match pu.kind {
            Some(CoreKind::Efficiency) => slow,
            _ => 1.0 - 0.1 * rng.unit(),
        })
        .collect();
    let os: Vec<u32> = pus.iter().map(|pu| pu.os).collect();
    let origin =
        Origin { kind: OriginKind::Model, source: "made up".into(), date: None, tool: None };
    let mut profile = Profile::new("hybrid", origin, Topology { pus });
    profile.core_distance = Some(CoreDistance::imported(os.clone(), distance));
    profile.speed = Some(SeatSpeed { pus: os, alone, together: None, work: None });
    profile
}

fn hybrid_pu(performance: u32, os: u32) -> Pu {
    let is_fast = os < 2 * performance;
    let core = if is_fast { os / 2 } else { os - performance };
    let kind = if is_fast { CoreKind::Performance } else { CoreKind::Efficiency };
    Pu { os, core: Some(core), kind: Some(kind), ..Pu::default() }
}

/// Tasks with random edges and loads; work and messages take about as long.
fn busy(tasks: usize, rng: &mut Xoshiro) -> Pattern {
    let pairs = (0..tasks).flat_map(|from| (0..tasks).map(move |to| (from, to)));
    let chosen: Vec<(usize, usize)> =
        pairs.filter(|(from, to)| from != to && rng.below(3) == 0).collect();
    let edges: Vec<Edge> = chosen
        .into_iter()
        .map(|(from, to)| Edge { from, to, bytes: 1.0, messages: 1.0 + rng.below(5) as f64 })
        .collect();
    let mut pattern = Pattern::gathered("busy", tasks, edges);
    pattern.loads = (0..tasks).map(|_| 1.0 + rng.below(4) as f64).collect();
    pattern.load_ns = Some(50.0 + 400.0 * rng.unit());
    pattern
}
