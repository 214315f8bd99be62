//! Distances between slots for annealing, and slots near others.

use crate::search::SearchLimit;
use crate::{Problem, SlotGroups, seed};

pub trait SlotMetric {
    fn code(&self, slot: u32) -> u32;
    fn apart(&self, a: u32, b: u32) -> f64;
    /// A slot usually very near another; `draw` decides.
    fn near(&self, slot: u32, draw: u64) -> u32;
    /// Whether an item costs the same on both slots.
    fn are_alike(&self, a: u32, b: u32) -> bool;
}

/// One draw in this many is far.
const FAR_DRAWS: u64 = 8;

/// The bias of 1 in 2^32 does not matter.
#[inline]
fn below(draw: u64, end: usize) -> usize {
    (((draw >> 32) * end as u64) >> 32) as usize
}

impl SlotMetric for SlotGroups {
    #[inline]
    fn code(&self, slot: u32) -> u32 {
        self.code[slot as usize]
    }

    #[inline]
    fn apart(&self, a: u32, b: u32) -> f64 {
        self.by_codes(a, b)
    }

    #[inline]
    fn near(&self, slot: u32, draw: u64) -> u32 {
        let levels = self.levels.len();
        let far = draw.is_multiple_of(FAR_DRAWS) && levels > 1;
        let level = if far {
            // Uses the bits above those for `far`.
            1 + (draw / FAR_DRAWS % (1 << 16)) as usize % (levels - 1)
        } else {
            0
        };
        let group = self.group(level, slot);
        group[below(draw, group.len())]
    }

    #[inline]
    fn are_alike(&self, a: u32, b: u32) -> bool {
        let group_of = &self.levels[0].group_of;
        group_of[a as usize] == group_of[b as usize]
    }
}

pub struct MeasuredSlots<'a> {
    problem: &'a Problem,
    order: Vec<u32>,
    place_of: Vec<u32>,
}

/// Slots to each side: very near, near, or any.
const WINDOWS: [usize; 3] = [4, 32, usize::MAX];

impl<'a> MeasuredSlots<'a> {
    pub fn new(problem: &'a Problem, limit: &SearchLimit) -> Self {
        let order = seed::nested(problem, limit);
        MeasuredSlots { problem, place_of: seed::inverse(&order), order }
    }
}

impl SlotMetric for MeasuredSlots<'_> {
    #[inline]
    fn code(&self, slot: u32) -> u32 {
        self.problem.pu_of_slot[slot as usize]
    }

    #[inline]
    fn apart(&self, a: u32, b: u32) -> f64 {
        f64::from(self.problem.distance[(a as usize, b as usize)])
    }

    #[inline]
    fn near(&self, slot: u32, draw: u64) -> u32 {
        let window = if draw.is_multiple_of(FAR_DRAWS) {
            WINDOWS[1 + (draw / FAR_DRAWS % 2) as usize]
        } else {
            WINDOWS[0]
        };
        let place = self.place_of[slot as usize] as usize;
        let first = place.saturating_sub(window);
        let end = place.saturating_add(window).saturating_add(1).min(self.order.len());
        self.order[first + below(draw, end - first)]
    }

    #[inline]
    fn are_alike(&self, a: u32, b: u32) -> bool {
        self.code(a) == self.code(b)
    }
}
