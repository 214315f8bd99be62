//! One data ring of a chip's element interconnect bus.
//!
//! A transfer moves as a wave: it occupies the segment after hop k from k bus cycles after its
//! start, for its data's eight beats. A model that reserves the whole route at once is far slower
//! on short routes than published measurements.

use crate::parameters::CellBeTiming;
use seatmap_data::invariant;
use seatmap_data::statistics::words::counted;
use seatmap_sim::moment::at_cycle;

pub const ELEMENTS: [&str; 12] =
    ["PPE", "SPE0", "SPE1", "SPE2", "SPE3", "SPE4", "SPE5", "SPE6", "SPE7", "MIC", "BIF", "IOIF1"];
/// Elements, and segments between them: segment p connects element p and the next.
pub const ELEMENT_COUNT: usize = ELEMENTS.len();
/// Rings of a chip. Data moves up in position on the first half and down on the second.
pub const RINGS: usize = 4;
/// The most concurrent transfers on a ring (Kistler, Perrone & Petrini 2006).
const MOST_TRANSFERS: usize = 3;

#[inline]
pub fn hops_up(source: usize, target: usize) -> usize {
    if target >= source { target - source } else { target + ELEMENT_COUNT - source }
}

#[derive(Clone, Debug)]
pub struct DataRing {
    chip: u8,
    number: u8,
    goes_up: bool,
    hop: u64,
    transfer: u64,
    gap: u64,
    most: usize,
    segment_free: [u64; ELEMENT_COUNT],
    ends: [u64; MOST_TRANSFERS],
    next_start: u64,
    grants: u64,
    busy_cycles: [u64; ELEMENT_COUNT],
}

impl DataRing {
    pub fn new(chip: u8, number: u8, timing: &CellBeTiming) -> Self {
        let most = timing.ring_transfers as usize;
        let ring = DataRing {
            chip,
            number,
            goes_up: usize::from(number) < RINGS / 2,
            hop: timing.bus,
            transfer: timing.transfer,
            gap: timing.ring_gap,
            most,
            segment_free: [0; ELEMENT_COUNT],
            ends: [0; MOST_TRANSFERS],
            next_start: 0,
            grants: 0,
            busy_cycles: [0; ELEMENT_COUNT],
        };
        let fits = (1..=MOST_TRANSFERS).contains(&most);
        invariant!(
            fits,
            at_cycle(ring.name(), 0),
            "it is to carry {most} at once, and has places for {MOST_TRANSFERS}",
            most = counted(most, "transfer")
        );
        ring
    }

    /// Hops to an element this many hops upwards.
    #[inline]
    pub fn hops(&self, up: usize) -> usize {
        if self.goes_up { up } else { ELEMENT_COUNT - up }
    }

    #[inline]
    fn route(&self, source: usize, hops: usize) -> impl Iterator<Item = usize> + use<> {
        let goes_up = self.goes_up;
        let mut segment = if goes_up { source } else { segment_below(source) };
        (0..hops).map(move |_| {
            let here = segment;
            segment = if goes_up {
                if segment == ELEMENT_COUNT - 1 { 0 } else { segment + 1 }
            } else {
                segment_below(segment)
            };
            here
        })
    }

    /// The first time from `least` on at which a transfer could start. Times from `enough` on are
    /// not distinguished.
    #[inline]
    pub fn earliest(&self, source: usize, hops: usize, least: u64, enough: u64) -> u64 {
        // If the ring is full, the next transfer starts when the first ends.
        let first_end = self.ends[..self.most].iter().copied().fold(u64::MAX, u64::min);
        let mut start = least.max(self.next_start).max(first_end);
        // Each further segment is needed one hop later, and may become free that much later.
        let mut ahead = 0;
        for segment in self.route(source, hops) {
            if start >= enough {
                break;
            }
            start = start.max(self.segment_free[segment].saturating_sub(ahead));
            ahead += self.hop;
        }
        start
    }

    /// Starts a transfer. Returns when its last byte arrives.
    pub fn start(&mut self, now: u64, source: usize, hops: usize) -> u64 {
        invariant!(
            now >= self.next_start,
            at_cycle(self.name(), now),
            "a transfer starts before {}",
            self.next_start
        );
        let end = now + hops as u64 * self.hop + self.transfer;
        self.take_place(now, end);
        let mut reached = now;
        for segment in self.route(source, hops) {
            let free = self.segment_free[segment];
            invariant!(
                free <= reached,
                at_cycle(self.name(), now),
                "segment {segment} is not free until {free}"
            );
            self.segment_free[segment] = reached + self.transfer;
            self.busy_cycles[segment] += self.transfer;
            reached += self.hop;
        }
        self.next_start = now + self.gap;
        self.grants += 1;
        end
    }

    fn take_place(&mut self, now: u64, end: u64) {
        let most = self.most;
        let mut first = 0;
        for place in 1..most {
            first = if self.ends[place] < self.ends[first] { place } else { first };
        }
        invariant!(
            self.ends[first] <= now,
            at_cycle(self.name(), now),
            "{most} transfers are under way, and one more starts"
        );
        self.ends[first] = end;
    }

    fn name(&self) -> String {
        format!("ring {} of chip {}", self.number, self.chip)
    }

    pub fn grants(&self) -> u64 {
        self.grants
    }

    pub fn busy_cycles(&self) -> &[u64; ELEMENT_COUNT] {
        &self.busy_cycles
    }

    pub fn reset(&mut self) {
        (self.segment_free, self.ends, self.next_start) =
            ([0; ELEMENT_COUNT], [0; MOST_TRANSFERS], 0);
        (self.grants, self.busy_cycles) = (0, [0; ELEMENT_COUNT]);
    }
}

fn segment_below(segment: usize) -> usize {
    if segment == 0 { ELEMENT_COUNT - 1 } else { segment - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    fn ring(number: u8) -> DataRing {
        DataRing::new(0, number, &catalog::load("cell-ps3").unwrap().unwrap().timing())
    }

    #[test]
    fn route_lists_segments_between_its_ends() {
        let route = |number, source, hops| ring(number).route(source, hops).collect::<Vec<_>>();
        assert_eq!((route(0, 10, 3), route(3, 1, 3)), (vec![10, 11, 0], vec![0, 11, 10]));
        assert_eq!((hops_up(10, 1), ring(1).hops(3), ring(2).hops(3)), (3, 3, 9));
    }

    #[test]
    fn transfer_occupies_segments_one_after_another() {
        let mut ring = ring(0);
        assert_eq!(
            ring.start(0, 0, 4),
            4 * 2 + 16,
            "four hops at a bus cycle each, and eight beats"
        );
        let at = |source, hops| ring.earliest(source, hops, 0, u64::MAX);
        assert_eq!(at(6, 2), 6, "elsewhere only the gap between two starts counts");
        assert_eq!(at(0, 1), 16, "the first segment is free after eight beats");
        assert_eq!(
            at(3, 1),
            3 * 2 + 16,
            "the wave is at the fourth segment three bus cycles later"
        );
        assert_eq!(at(2, 2), 2 * 2 + 16, "and a transfer from before gets there later by as much");
    }

    #[test]
    fn ring_carries_three_transfers_at_once() {
        let mut ring = ring(0);
        let ends: Vec<u64> =
            [(0, 0), (6, 4), (12, 8)].map(|(now, source)| ring.start(now, source, 2)).to_vec();
        assert_eq!(ring.earliest(2, 2, 0, u64::MAX), ends[0].max(20));
    }

    #[test]
    #[should_panic(expected = "ring 1 of chip 0 at core cycle 6: segment 3 is not free until 22")]
    fn second_transfer_on_segment_panics() {
        let mut ring = ring(1);
        ring.start(0, 0, 4);
        ring.start(6, 3, 1);
    }

    #[test]
    #[should_panic(
        expected = "ring 2 of chip 0 at core cycle 18: 3 transfers are under way, and one more starts"
    )]
    fn fourth_concurrent_transfer_panics() {
        let mut ring = ring(2);
        for (now, source) in [(0, 11), (6, 7), (12, 3), (18, 11)] {
            ring.start(now, source, 1 + usize::from(now < 18));
        }
    }

    #[test]
    #[should_panic(expected = "ring 0 of chip 0 at core cycle 5: a transfer starts before 6")]
    fn transfer_started_too_soon_panics() {
        let mut ring = ring(0);
        ring.start(0, 0, 1);
        ring.start(5, 6, 1);
    }
}
