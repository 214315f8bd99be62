//! The data rings of one chip and their arbiter.
//!
//! Four rings, two each way. A transfer moves as a wave: stretch k of its way is taken from k bus cycles after the start,
//! for eight beats. Reserving the whole way at once makes the model far too slow where ways are short, against published
//! measurements. The arbiter serves the memory controller first and the others in turn, takes the shorter way round, and
//! starts a transfer when its source, its target, a ring and every stretch are free.

use crate::cell::timing::Timing;
use std::collections::VecDeque;

/// The names of the elements on the ring.
pub const ELEMENTS: [&str; 12] =
    ["PPE", "SPE0", "SPE1", "SPE2", "SPE3", "SPE4", "SPE5", "SPE6", "SPE7", "MIC", "BIF", "IOIF1"];
/// How many there are.
pub const PLACES: usize = ELEMENTS.len();
/// How many rings: the first half goes up in place, the second down.
pub const RINGS: usize = 4;

/// A transfer that waits for the rings.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    line: u32,
    target: u8,
    since: u64,
}

/// What the PMU would count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RingCounters {
    /// Transfers started on each ring.
    pub grants: [u64; RINGS],
    /// Core cycles for which transfers held each ring's stretches.
    pub busy_cycles: [[u64; PLACES]; RINGS],
    /// Core cycles that transfers of each place waited for their start.
    pub wait_cycles: [u64; PLACES],
}

/// The rings of one chip.
#[derive(Clone, Debug)]
pub struct Rings {
    queues: Vec<VecDeque<Waiting>>,
    pending: u16,
    ring_free: [u64; RINGS],
    stretch_free: [[u64; PLACES]; RINGS],
    /// When each ring's transfers end, the last three at most.
    ends: [[u64; 3]; RINGS],
    source_free: [u64; PLACES],
    target_free: [u64; PLACES],
    /// Served first.
    memory: usize,
    /// Whose turn it is.
    turn: usize,
    /// When the arbiter looks next; `u64::MAX` for never.
    pub next_look: u64,
    pub counters: RingCounters,
}

/// A started transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    pub line: u32,
    /// When the last byte is there.
    pub arrives: u64,
    pub ring: u8,
}

impl Rings {
    pub fn new(memory: usize) -> Self {
        Rings::on((0..PLACES).map(|_| VecDeque::with_capacity(256)).collect(), memory)
    }

    fn on(queues: Vec<VecDeque<Waiting>>, memory: usize) -> Self {
        Rings {
            queues,
            pending: 0,
            ring_free: [0; RINGS],
            stretch_free: [[0; PLACES]; RINGS],
            ends: [[0; 3]; RINGS],
            source_free: [0; PLACES],
            target_free: [0; PLACES],
            memory,
            turn: 0,
            next_look: u64::MAX,
            counters: RingCounters::default(),
        }
    }

    /// Data waits at a place for its way to another. Whether the arbiter has to look now.
    pub fn request(&mut self, now: u64, line: u32, source: usize, target: usize) -> bool {
        self.queues[source].push_back(Waiting { line, target: target as u8, since: now });
        // Behind another of its own it cannot start.
        let first = self.pending & 1 << source == 0;
        self.pending |= 1 << source;
        first
    }

    /// Starts what can start now, and notes when to look again.
    pub fn arbitrate(&mut self, now: u64, timing: &Timing, granted: &mut Vec<Grant>) {
        let mut next = u64::MAX;
        let mut order = self.pending;
        let mut serve = |rings: &mut Self, source: usize| {
            if let Some(grant) = rings.try_start(now, source, timing, &mut next) {
                granted.push(grant);
                rings.turn = if source == rings.memory { rings.turn } else { (source + 1) % PLACES };
            }
        };
        if order & 1 << self.memory != 0 {
            serve(self, self.memory);
            order &= !(1 << self.memory);
        }
        // Those from the turn on, then those before it.
        let from = self.turn;
        let later = order >> from << from;
        for mut side in [later, order & !later] {
            while side != 0 {
                serve(self, side.trailing_zeros() as usize);
                side &= side - 1;
            }
        }
        self.next_look = next;
    }

    fn try_start(&mut self, now: u64, source: usize, timing: &Timing, next: &mut u64) -> Option<Grant> {
        let waiting = *self.queues[source].front()?;
        let target = waiting.target as usize;
        let up = (target + PLACES - source) % PLACES;
        let down = PLACES - up;
        let mut best = (u64::MAX, 0, 0);
        for ring in 0..RINGS {
            let hops = if ring < RINGS / 2 { up } else { down };
            if hops as u64 <= timing.longest_hops {
                let start = self.earliest(ring, source, target, hops, timing);
                if start < best.0 {
                    best = (start, ring, hops);
                }
            }
        }
        let (start, ring, hops) = best;
        if start > now {
            *next = (*next).min(start);
            return None;
        }
        self.queues[source].pop_front();
        if self.queues[source].is_empty() {
            self.pending &= !(1 << source);
        } else {
            *next = (*next).min(now + timing.transfer);
        }
        self.counters.wait_cycles[source] += now - waiting.since;
        let arrives = self.occupy(now, ring, source, target, hops, timing);
        Some(Grant { line: waiting.line, arrives, ring: ring as u8 })
    }

    /// The stretch after `hop` hops: stretch p lies between place p and the next.
    fn stretch(ring: usize, source: usize, hop: usize) -> usize {
        if ring < RINGS / 2 { (source + hop) % PLACES } else { (source + 2 * PLACES - 1 - hop) % PLACES }
    }

    /// When a transfer could start, everything granted so far considered.
    fn earliest(&self, ring: usize, source: usize, target: usize, hops: usize, timing: &Timing) -> u64 {
        let mut start = self.source_free[source].max(self.ring_free[ring]);
        start = start.max(self.target_free[target].saturating_sub(hops as u64 * timing.bus));
        let slots = &self.ends[ring][..timing.ring_transfers.min(3)];
        start = start.max(slots.iter().copied().min().unwrap_or(0));
        for hop in 0..hops {
            let free = self.stretch_free[ring][Self::stretch(ring, source, hop)];
            start = start.max(free.saturating_sub(hop as u64 * timing.bus));
        }
        start.next_multiple_of(timing.bus)
    }

    fn occupy(&mut self, now: u64, ring: usize, source: usize, target: usize, hops: usize, timing: &Timing) -> u64 {
        let way = hops as u64 * timing.bus;
        let end = now + way + timing.transfer;
        self.source_free[source] = now + timing.transfer;
        self.target_free[target] = end;
        self.ring_free[ring] = now + timing.ring_gap;
        for hop in 0..hops {
            let stretch = Self::stretch(ring, source, hop);
            self.stretch_free[ring][stretch] = now + hop as u64 * timing.bus + timing.transfer;
            self.counters.busy_cycles[ring][stretch] += timing.transfer;
        }
        let slots = &mut self.ends[ring][..timing.ring_transfers.min(3)];
        if let Some(first) = slots.iter_mut().min() {
            *first = end;
        }
        self.counters.grants[ring] += 1;
        end
    }

    /// Empties the rings and forgets what was counted.
    pub fn clear(&mut self) {
        self.queues.iter_mut().for_each(VecDeque::clear);
        *self = Rings::on(std::mem::take(&mut self.queues), self.memory);
    }
}
