//! A placement problem without names: tasks, slots, distances, and constraints.

use crate::{Traffic, Zones};
use seatmap_data::machine::Square;

/// Tasks for slots, at most one on each.
///
/// PUs have several slots if there are more tasks than PUs. Free slots have *holes*, items without
/// traffic, so every assignment is a permutation, and every move a swap.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The traffic between tasks.
    pub traffic: Traffic,
    /// Distances between PUs, symmetric, in any unit; the diagonal is for two tasks on one PU.
    pub distance: Square<f32>,
    /// The PU of each slot, as a row of `distance`.
    pub pu_of_slot: Vec<u32>,
    /// The fewest and most tasks on groups of slots.
    pub zones: Zones,
    /// The required slot of each fixed task.
    pub fixed: Vec<Option<u32>>,
}

impl Problem {
    /// One slot on each PU, without constraints. There must not be more tasks than PUs.
    pub fn new(traffic: Traffic, distance: Square<f32>) -> Self {
        let pus = distance.n() as u32;
        Problem {
            fixed: vec![None; traffic.tasks()],
            pu_of_slot: (0..pus).collect(),
            zones: Zones::free(pus as usize),
            traffic,
            distance,
        }
    }

    /// The number of tasks.
    pub fn tasks(&self) -> usize {
        self.traffic.tasks()
    }

    /// The number of slots, and of items (tasks and holes).
    pub fn slots(&self) -> usize {
        self.pu_of_slot.len()
    }

    /// The distance between two slots.
    pub fn between(&self, a: usize, b: usize) -> f64 {
        f64::from(self.distance[(self.pu_of_slot[a] as usize, self.pu_of_slot[b] as usize)])
    }

    /// The sum of weight x distance.
    pub fn cost(&self, slot_of: &[u32]) -> f64 {
        self.traffic.cost(|a, b| self.apart(slot_of[a], slot_of[b]))
    }

    pub(crate) fn pus_of(&self, slot_of: &[u32]) -> Vec<usize> {
        slot_of[..self.tasks()].iter().map(|slot| self.pu(*slot)).collect()
    }

    #[inline]
    pub(crate) fn apart(&self, a: u32, b: u32) -> f64 {
        self.between(a as usize, b as usize)
    }

    #[inline]
    pub(crate) fn pu(&self, slot: u32) -> usize {
        self.pu_of_slot[slot as usize] as usize
    }

    #[inline]
    pub(crate) fn zone(&self, slot: u32) -> u32 {
        self.zones.zone_of_slot[slot as usize]
    }
}
