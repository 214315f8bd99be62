//! A table that reuses its entries, so that nothing is allocated once it has grown.

use crate::moment::at_tick;
use seatmap_data::invariant::broken;

const NONE: u32 = u32::MAX;

/// Values by index. A value keeps its index until it is taken out.
pub struct Slab<T> {
    entries: Vec<Entry<T>>,
    free: u32,
    occupied: u32,
}

struct Entry<T> {
    value: Option<T>,
    next: u32,
}

#[derive(Clone, Copy)]
pub struct SlabQueue {
    first: u32,
    last: u32,
}

impl SlabQueue {
    pub const EMPTY: SlabQueue = SlabQueue { first: NONE, last: NONE };

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == NONE
    }
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { entries: Vec::new(), free: NONE, occupied: 0 }
    }
}

impl<T: Copy> Slab<T> {
    pub fn clear(&mut self) {
        self.entries.clear();
        (self.free, self.occupied) = (NONE, 0);
    }

    pub fn occupied(&self) -> u32 {
        self.occupied
    }

    #[inline(always)]
    pub fn add(&mut self, value: T) -> u32 {
        self.occupied += 1;
        let entry = Entry { value: Some(value), next: NONE };
        if self.free == NONE {
            self.entries.push(entry);
            return self.entries.len() as u32 - 1;
        }
        let place = self.free;
        self.free = self.entries[place as usize].next;
        self.entries[place as usize] = entry;
        place
    }

    #[inline]
    pub fn take(&mut self, place: u32) -> T {
        let entry = &mut self.entries[place as usize];
        let Some(value) = entry.value.take() else { vacant(place) };
        entry.next = self.free;
        self.free = place;
        self.occupied -= 1;
        value
    }

    #[inline]
    pub fn get(&self, place: u32) -> &T {
        self.entries[place as usize].value.as_ref().unwrap_or_else(|| vacant(place))
    }

    #[inline]
    pub fn get_mut(&mut self, place: u32) -> &mut T {
        self.entries[place as usize].value.as_mut().unwrap_or_else(|| vacant(place))
    }

    pub fn push(&mut self, queue: &mut SlabQueue, place: u32) {
        // An entry is in at most one queue, so one link each is enough.
        self.entries[place as usize].next = NONE;
        match std::mem::replace(&mut queue.last, place) {
            NONE => queue.first = place,
            last => self.entries[last as usize].next = place,
        }
    }

    pub fn pop(&self, queue: &mut SlabQueue) -> Option<u32> {
        let place = queue.first;
        if place == NONE {
            return None;
        }
        queue.first = self.entries[place as usize].next;
        if queue.first == NONE {
            queue.last = NONE;
        }
        Some(place)
    }
}

#[cold]
fn vacant(place: u32) -> ! {
    broken(at_tick("table", 0), format_args!("place {place}: nothing is there"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn free_places_are_reused() {
        let mut slab = Slab::default();
        let places = [10, 20, 30].map(|value| slab.add(value));
        assert_eq!((slab.take(places[1]), slab.occupied()), (20, 2));
        assert_eq!((slab.add(40), slab.occupied()), (places[1], 3));
        *slab.get_mut(places[0]) += 1;
        assert_eq!([0, 1, 2].map(|at| *slab.get(places[at])), [11, 40, 30]);
    }

    #[test]
    #[should_panic(expected = "place 0: nothing is there")]
    fn taking_twice_panics() {
        let mut slab = Slab::default();
        let place = slab.add('a');
        slab.take(place);
        slab.take(place);
    }

    proptest! {
        #[test]
        fn queues_keep_their_order(steps in prop::collection::vec((0_usize..3, any::<bool>()), 1..200)) {
            let mut slab = Slab::default();
            let mut queues = [SlabQueue::EMPTY; 3];
            let mut plain = [const { VecDeque::new() }; 3];
            for (value, (at, pops)) in steps.into_iter().enumerate() {
                if pops {
                    let found = slab.pop(&mut queues[at]).map(|place| slab.take(place));
                    prop_assert_eq!(found, plain[at].pop_front());
                } else {
                    let place = slab.add(value);
                    slab.push(&mut queues[at], place);
                    plain[at].push_back(value);
                }
                prop_assert_eq!(queues.map(|queue| queue.is_empty()), [0, 1, 2].map(|at| plain[at].is_empty()));
                prop_assert_eq!(slab.occupied() as usize, plain.iter().map(VecDeque::len).sum::<usize>());
            }
        }
    }
}
