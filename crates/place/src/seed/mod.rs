//! Where searches start.
//!
//! No single way wins on all machines and patterns, and a search from a random start loses on rings and stencils; four
//! different good starts, each refined, come within a fraction of a percent of the best known.

mod bisect;
mod greedy;
mod halves;
mod lawful;
mod orders;
mod recursive;

pub use greedy::greedy;
pub use lawful::lawful;
pub use orders::{rcm, spectral};
pub use recursive::{nested, recursive};

use crate::Problem;

/// Items in one order on slots in another.
#[must_use]
pub fn in_order(items: &[u32], slots: &[u32]) -> Vec<u32> {
    let mut slot_of = vec![0; items.len()];
    items.iter().zip(slots).for_each(|(item, slot)| slot_of[*item as usize] = *slot);
    slot_of
}

/// A random assignment.
#[must_use]
pub fn random(problem: &Problem, rng: &mut fastrand::Rng) -> Vec<u32> {
    let mut slot_of: Vec<u32> = (0..problem.slots() as u32).collect();
    rng.shuffle(&mut slot_of);
    lawful(problem, slot_of)
}
