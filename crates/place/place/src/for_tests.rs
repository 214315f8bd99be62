//! Fixtures of tests in several modules.

use crate::search::SearchLimit;
use crate::{PlaceRequest, Problem, Traffic, Zones};
use seatmap_data::machine::{Profile, Square, catalog};
use seatmap_data::pattern::{Pattern, generate};
use seatmap_data::statistics::Xoshiro;

pub const ENDLESS: SearchLimit = SearchLimit { deadline: None, kicks: 0, enough: 0.0, stop: None };

/// A request by names; the machine and the pattern live as long as the test.
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
