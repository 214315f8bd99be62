//! Distances as annealing reads them, and slots near others.

use crate::search::SearchLimit;
use crate::slot_groups::SlotGroups;
use crate::{Problem, seed};

/// Distances between slots, and slots near others.
pub(super) trait SlotMetric {
    /// The number that distances of a slot are looked up by.
    fn code(&self, slot: u32) -> u32;
    /// The distance of two slots by their codes.
    fn apart(&self, a: u32, b: u32) -> f64;
    /// A slot near another one, mostly a very near one; `draw` decides which.
    fn near(&self, slot: u32, draw: u64) -> u32;
    /// Whether it makes no difference which of two slots an item is on.
    fn are_alike(&self, a: u32, b: u32) -> bool;
}

/// One draw in so many goes beyond the nearest slots.
const FAR_DRAWS: u64 = 8;

/// A number below `end` from a draw's upper half. Some numbers have one chance more in 2^32 than
/// others, which does not matter to a search that makes millions of draws.
#[inline]
fn below(draw: u64, end: usize) -> usize {
    (((draw >> 32) * end as u64) >> 32) as usize
}

impl SlotMetric for SlotGroups {
    #[inline]
    fn code(&self, slot: u32) -> u32 {
        SlotGroups::code(self, slot)
    }

    #[inline]
    fn apart(&self, a: u32, b: u32) -> f64 {
        self.by_codes(a, b)
    }

    #[inline]
    fn near(&self, slot: u32, draw: u64) -> u32 {
        let far = draw.is_multiple_of(FAR_DRAWS) && self.levels() > 1;
        let level = if far {
            // The bits above those that decided whether to go far.
            1 + (draw / FAR_DRAWS % (1 << 16)) as usize % (self.levels() - 1)
        } else {
            0
        };
        let group = self.group(level, slot);
        group[below(draw, group.len())]
    }

    #[inline]
    fn are_alike(&self, a: u32, b: u32) -> bool {
        self.meet_innermost(a, b)
    }
}

/// The distances of a measured machine, and its slots in an order in which neighbours are near.
pub(super) struct MeasuredSlots<'a> {
    problem: &'a Problem,
    order: Vec<u32>,
    place_of: Vec<u32>,
}

/// Slots to each side that count as very near, as near, and as on the same half of a machine.
const WINDOWS: [usize; 3] = [4, 32, usize::MAX];

impl<'a> MeasuredSlots<'a> {
    pub(super) fn new(problem: &'a Problem, limit: &SearchLimit) -> Self {
        let order = seed::nested(problem, limit);
        let mut place_of = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, slot)| place_of[*slot as usize] = at as u32);
        MeasuredSlots { problem, order, place_of }
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
