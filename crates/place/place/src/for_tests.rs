//! Fixtures of tests in several modules.

use crate::search::SearchLimit;
use crate::{PlaceRequest, Problem, Traffic, Zones};
use seatmap_data::machine::{Profile, Square, catalog};
use seatmap_data::pattern::{Pattern, generate};
use seatmap_data::statistics::Xoshiro;

pub const ENDLESS: SearchLimit = SearchLimit { deadline: None, kicks: 0, enough: 0.0, stop: None };

/// The machine and the pattern live as long as the test.
pub fn request(machine: &str, pattern: &str) -> PlaceRequest<'static> {
    request_of(catalog::load(machine).unwrap(), generate(pattern).unwrap())
}

pub fn request_of(machine: Profile, pattern: Pattern) -> PlaceRequest<'static> {
    PlaceRequest::new(Box::leak(Box::new(machine)), Box::leak(Box::new(pattern)))
}

pub fn ring(tasks: usize) -> Traffic {
    Traffic::new(tasks, (0..tasks).map(|task| (task, (task + 1) % tasks, 1.0)))
}

/// The bytes of a generated pattern.
pub fn traffic(spec: &str) -> Traffic {
    let pattern = generate(spec).unwrap();
    let edges = pattern.edges.iter().map(|edge| (edge.from, edge.to, edge.bytes));
    Traffic::new(pattern.tasks, edges)
}

/// Weights of 1 to 9.
pub fn random_traffic(tasks: usize, edges: usize, rng: &mut Xoshiro) -> Traffic {
    let edge = |_| (rng.below(tasks), rng.below(tasks), 1.0 + rng.below(9) as f64);
    Traffic::new(tasks, (0..edges).map(edge))
}

/// With this many slots on each PU.
pub fn with_slots(traffic: Traffic, distance: Square<f32>, slots_a_pu: usize) -> Problem {
    let slots = distance.n() * slots_a_pu;
    Problem {
        pu_of_slot: (0..slots).map(|slot| (slot / slots_a_pu) as u32).collect(),
        zones: Zones::free(slots),
        fixed: vec![None; traffic.tasks()],
        distance,
        traffic,
    }
}

pub fn is_permutation(slot_of: &[u32]) -> bool {
    let mut all = slot_of.to_vec();
    all.sort_unstable();
    all.into_iter().eq(0..slot_of.len() as u32)
}

/// The least cost of all placements that begin so.
pub fn cheapest_of_all(problem: &Problem, slot_of: &mut Vec<u32>) -> f64 {
    if slot_of.len() == problem.tasks() {
        return problem.cost(slot_of);
    }
    let fixed = problem.fixed[slot_of.len()];
    let mut least = f64::INFINITY;
    for slot in 0..problem.slots() as u32 {
        let zone = problem.zone(slot);
        let there = slot_of.iter().filter(|other| problem.zone(**other) == zone).count() as u32;
        let is_full = there >= problem.zones.most[zone as usize];
        if is_full || slot_of.contains(&slot) || fixed.is_some_and(|fixed| fixed != slot) {
            continue;
        }
        slot_of.push(slot);
        least = least.min(cheapest_of_all(problem, slot_of));
        slot_of.pop();
    }
    least
}

/// The least combined cost of all matchings of the rows from this one with unused columns.
pub fn cheapest_matching(
    cells: &[f64],
    [rows, columns]: [usize; 2],
    combined: fn(f64, f64) -> f64,
    row: usize,
    used: u32,
) -> f64 {
    if row == rows {
        return 0.0;
    }
    let free = (0..columns).filter(|column| used & (1 << column) == 0);
    free.map(|column| {
        let rest =
            cheapest_matching(cells, [rows, columns], combined, row + 1, used | (1 << column));
        combined(cells[row * columns + column], rest)
    })
    .fold(f64::INFINITY, f64::min)
}
