//! Items on slots, and their allowed swaps.

use crate::Problem;
use crate::seed::inverse;

/// The slots of items (tasks, then holes) during a search.
pub struct ItemSlots<'a> {
    problem: &'a Problem,
    pub slot_of: Vec<u32>,
    pub item_at: Vec<u32>,
    in_zone: Vec<u32>,
}

impl<'a> ItemSlots<'a> {
    pub fn new(problem: &'a Problem, slot_of: Vec<u32>) -> Self {
        let item_at = inverse(&slot_of);
        let in_zone = problem.zones.count(&slot_of[..problem.tasks()]);
        ItemSlots { problem, slot_of, item_at, in_zone }
    }

    pub fn pu(&self, item: usize) -> usize {
        self.problem.pu(self.slot_of[item])
    }

    pub fn is_task(&self, item: usize) -> bool {
        item < self.problem.tasks()
    }

    pub fn is_fixed(&self, item: usize) -> bool {
        self.problem.fixed.get(item).is_some_and(Option::is_some)
    }

    pub fn may_swap(&self, a: usize, b: usize) -> bool {
        if self.is_fixed(a) || self.is_fixed(b) {
            return false;
        }
        let zones = &self.problem.zones;
        zones.are_free()
            || self.move_of(a, b).is_none_or(|[from, to]| zones.allow(&self.in_zone, from, to))
    }

    /// The zones between which a swap with a hole moves a task.
    fn move_of(&self, a: usize, b: usize) -> Option<[u32; 2]> {
        let zones = match [a, b].map(|item| self.is_task(item)) {
            [true, false] => [a, b],
            [false, true] => [b, a],
            _ => return None,
        };
        Some(zones.map(|item| self.problem.zone(self.slot_of[item])))
    }

    pub fn swap(&mut self, a: usize, b: usize) {
        if let Some([left, entered]) = self.move_of(a, b) {
            self.in_zone[left as usize] -= 1;
            self.in_zone[entered as usize] += 1;
        }
        self.slot_of.swap(a, b);
        self.item_at[self.slot_of[a] as usize] = a as u32;
        self.item_at[self.slot_of[b] as usize] = b as u32;
    }
}
