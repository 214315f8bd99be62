//! The event queue of the simulation.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Cycles in the wheel, one slot each. Most events of a fabric are a few hundred cycles ahead.
const SLOTS: usize = 4096;
const WORDS: usize = SLOTS / 64;
const NONE: u32 = u32::MAX;

/// Events by time. Those of one cycle keep the order of scheduling.
///
/// A timing wheel (Varghese & Lauck 1987, "Hashed and hierarchical timing wheels") of one-cycle
/// slots, with a bitmap of the filled slots, and a heap for later events. Once grown, it allocates
/// nothing.
#[derive(Clone, Debug)]
pub struct Wheel<E> {
    now: u64,
    slots: Box<[Slot; SLOTS]>,
    filled: [u64; WORDS],
    filled_words: u64,
    nodes: Vec<(E, u32)>,
    free: u32,
    far: BinaryHeap<Reverse<Far>>,
    far_events: Vec<E>,
    far_free: Vec<u32>,
    scheduled: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    head: u32,
    tail: u32,
}

const EMPTY: Slot = Slot { head: NONE, tail: NONE };

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Far(u64, u64, u32);

impl<E: Copy> Default for Wheel<E> {
    fn default() -> Self {
        Wheel {
            now: 0,
            slots: Box::new([EMPTY; SLOTS]),
            filled: [0; WORDS],
            filled_words: 0,
            nodes: Vec::new(),
            free: NONE,
            far: BinaryHeap::new(),
            far_events: Vec::new(),
            far_free: Vec::new(),
            scheduled: 0,
        }
    }
}

impl<E: Copy> Wheel<E> {
    /// The time of the last event taken.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Counts scheduled events.
    pub fn scheduled(&self) -> u64 {
        self.scheduled
    }

    /// Schedules an event; an event in the past happens now.
    #[inline]
    pub fn at(&mut self, time: u64, event: E) {
        // Components check their own times.
        let time = time.max(self.now);
        self.scheduled += 1;
        if time - self.now < SLOTS as u64 { self.near(time, event) } else { self.far(time, event) }
    }

    #[inline]
    fn near(&mut self, time: u64, event: E) {
        let node = match self.free {
            NONE => {
                self.nodes.push((event, NONE));
                self.nodes.len() as u32 - 1
            }
            free => {
                let entry = &mut self.nodes[free as usize];
                self.free = entry.1;
                *entry = (event, NONE);
                free
            }
        };
        // Two times never share a slot, because only the next `SLOTS` cycles are near.
        let at = time as usize % SLOTS;
        let slot = &mut self.slots[at];
        match slot.head {
            NONE => {
                slot.head = node;
                self.filled[at / 64] |= 1 << (at % 64);
                self.filled_words |= 1 << (at / 64);
            }
            _ => self.nodes[slot.tail as usize].1 = node,
        }
        slot.tail = node;
    }

    fn far(&mut self, time: u64, event: E) {
        let place = self.far_free.pop().unwrap_or_else(|| {
            self.far_events.push(event);
            self.far_events.len() as u32 - 1
        });
        self.far_events[place as usize] = event;
        // The count of events keeps the scheduling order of one time.
        self.far.push(Reverse(Far(time, self.scheduled, place)));
    }

    /// The next event and its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(u64, E)> {
        let near = self.next_filled();
        // Of two events at one time, the far one was scheduled earlier, because the near one was
        // not far.
        if let Some(Reverse(Far(time, ..))) = self.far.peek()
            && near.is_none_or(|near| *time <= near)
        {
            return self.take_far();
        }
        near.map(|time| (time, self.take_near(time)))
    }

    #[inline]
    fn next_filled(&self) -> Option<u64> {
        let start = self.now as usize % SLOTS;
        // Usually the next event is in this word, which avoids a walk.
        let here = self.filled[start / 64] >> (start % 64);
        if here != 0 {
            return Some(self.now + u64::from(here.trailing_zeros()));
        }
        if self.filled_words == 0 {
            return None;
        }
        // This word's lower bits come last, after the wrap-around.
        let word = start / 64;
        let turned = self.filled_words.rotate_right((word as u32 + 1) % 64);
        let next = (word + 1 + turned.trailing_zeros() as usize) % WORDS;
        let slot = next * 64 + self.filled[next].trailing_zeros() as usize;
        Some(self.now + ((slot + SLOTS - start) % SLOTS) as u64)
    }

    #[inline]
    fn take_near(&mut self, time: u64) -> E {
        self.now = time;
        let at = time as usize % SLOTS;
        let node = self.slots[at].head;
        let entry = &mut self.nodes[node as usize];
        let (event, next) = *entry;
        entry.1 = self.free;
        self.free = node;
        self.slots[at].head = next;
        if next == NONE {
            self.filled[at / 64] &= !(1 << (at % 64));
            if self.filled[at / 64] == 0 {
                self.filled_words &= !(1 << (at / 64));
            }
        }
        event
    }

    fn take_far(&mut self) -> Option<(u64, E)> {
        let Reverse(Far(time, _, place)) = self.far.pop()?;
        self.now = time;
        self.far_free.push(place);
        Some((time, self.far_events[place as usize]))
    }

    /// Removes all events and restarts at 0, keeping its memory.
    pub fn clear(&mut self) {
        self.slots.fill(EMPTY);
        self.filled = [0; WORDS];
        self.filled_words = 0;
        self.nodes.clear();
        self.free = NONE;
        self.far.clear();
        self.far_events.clear();
        self.far_free.clear();
        (self.now, self.scheduled) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn events_of_one_cycle_keep_their_order() {
        let mut wheel = Wheel::default();
        wheel.at(5000, 'a');
        wheel.at(10, 'x');
        assert_eq!(wheel.pop(), Some((10, 'x')));
        wheel.at(4096, 'n');
        assert_eq!(wheel.pop(), Some((4096, 'n')));
        wheel.at(5000, 'b');
        wheel.at(3, 'p');
        let rest: Vec<_> = std::iter::from_fn(|| wheel.pop()).collect();
        assert_eq!(rest, [(4096, 'p'), (5000, 'a'), (5000, 'b')], "the past is now");
    }

    proptest! {
        #[test]
        fn wheel_matches_a_stable_sort(steps in proptest::collection::vec((0_u64..9000, 0_usize..3), 1..300)) {
            let mut wheel = Wheel::default();
            let mut plain = Vec::new();
            let mut now = 0;
            for (order, (ahead, takes)) in steps.into_iter().enumerate() {
                wheel.at(now + ahead, order);
                plain.push((now + ahead, order));
                for _ in 0..takes {
                    plain.sort();
                    let expected = (!plain.is_empty()).then(|| plain.remove(0));
                    prop_assert_eq!(wheel.pop(), expected);
                    now = expected.map_or(now, |(time, _)| time);
                }
            }
            plain.sort();
            let rest: Vec<_> = std::iter::from_fn(|| wheel.pop()).collect();
            prop_assert_eq!(rest, plain);
        }
    }
}
