//! The data arbiter of a chip: decides when each transfer starts, and on which of the four rings.
//!
//! The arbiter serves the memory controller first and the other elements in turn (round robin). It
//! takes the shorter direction, and starts a transfer when its source, its target, a ring and every
//! segment of the route are free.
//!
//! A far element can start before a near one, because its wave takes longer to reach the target. If
//! the element whose turn it is waits for a busy target, later elements must therefore not take
//! that target; otherwise the near ones starve.

use crate::event::{CellBeEvent, EventOutbox};
use crate::parameters::CellBeTiming;
use crate::ring::{DataRing, ELEMENT_COUNT, RINGS, hops_up};
use seatmap_data::invariant;
use seatmap_data::invariant::broken;
use seatmap_sim::moment::at_cycle;
use std::collections::VecDeque;

const WAITING: usize = 256;

const FIRST_ORDER: [u8; ELEMENT_COUNT] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

#[derive(Clone, Copy, Debug)]
struct Waiting {
    transaction: u32,
    target: u8,
    since: u64,
}

struct Round {
    now: u64,
    next: u64,
    claimed: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    pub transaction: u32,
    pub ring: u8,
    pub arrives: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RingCounters {
    pub grants: [u64; RINGS],
    pub busy_cycles: [[u64; ELEMENT_COUNT]; RINGS],
    pub wait_cycles: [u64; ELEMENT_COUNT],
}

#[derive(Clone, Debug)]
pub struct DataArbiter {
    chip: u8,
    bus: u64,
    transfer: u64,
    longest_hops: usize,
    rings: [DataRing; RINGS],
    queues: [VecDeque<Waiting>; ELEMENT_COUNT],
    pending: u16,
    send_free: [u64; ELEMENT_COUNT],
    receive_free: [u64; ELEMENT_COUNT],
    memory: usize,
    /// The elements in order of service: the last granted comes last.
    order: [u8; ELEMENT_COUNT],
    next: u64,
    granted: Vec<Grant>,
    wait_cycles: [u64; ELEMENT_COUNT],
}

impl DataArbiter {
    pub fn new(chip: u8, memory: usize, timing: &CellBeTiming) -> Self {
        DataArbiter {
            chip,
            bus: timing.bus,
            transfer: timing.transfer,
            longest_hops: timing.longest_hops as usize,
            rings: std::array::from_fn(|number| DataRing::new(chip, number as u8, timing)),
            queues: std::array::from_fn(|_| VecDeque::with_capacity(WAITING)),
            pending: 0,
            send_free: [0; ELEMENT_COUNT],
            receive_free: [0; ELEMENT_COUNT],
            memory,
            order: FIRST_ORDER,
            next: u64::MAX,
            granted: Vec::with_capacity(ELEMENT_COUNT),
            wait_cycles: [0; ELEMENT_COUNT],
        }
    }

    pub fn request(
        &mut self,
        transaction: u32,
        source: usize,
        target: usize,
        out: &mut EventOutbox,
    ) {
        let is_route = source < ELEMENT_COUNT && target < ELEMENT_COUNT && source != target;
        invariant!(
            is_route,
            at_cycle(self.name(), out.now()),
            "transaction {transaction} goes from {source} to {target}"
        );
        self.queues[source].push_back(Waiting {
            transaction,
            target: target as u8,
            since: out.now(),
        });
        // It cannot start before an earlier transfer of the same element.
        let is_first = self.pending & 1 << source == 0;
        self.pending |= 1 << source;
        if is_first {
            // The arbiter uses the bus clock; events count core cycles.
            self.arbitrate_at(out.now().next_multiple_of(self.bus), out);
        }
    }

    fn arbitrate_at(&mut self, cycle: u64, out: &mut EventOutbox) {
        if cycle < self.next {
            self.next = cycle;
            out.send(cycle, CellBeEvent::Arbitrate(self.chip));
        }
    }

    /// Starts every transfer that can start now. Returns them, the last first.
    pub fn arbitrate(&mut self, out: &mut EventOutbox) -> &[Grant] {
        self.granted.clear();
        // Otherwise a later request with an earlier time replaced this message.
        if self.next == out.now() {
            self.next = self.serve_all(out.now());
            self.granted.reverse();
            for grant in &self.granted {
                out.send(grant.arrives, CellBeEvent::LeftRing(grant.transaction));
            }
            if self.next != u64::MAX {
                out.send(self.next, CellBeEvent::Arbitrate(self.chip));
            }
        }
        &self.granted
    }

    pub fn granted(&self) -> &[Grant] {
        &self.granted
    }

    fn serve_all(&mut self, now: u64) -> u64 {
        let mut round = Round { now, next: u64::MAX, claimed: 0 };
        if self.pending & 1 << self.memory != 0 {
            self.serve(self.memory, &mut round);
        }
        let others = self.pending & !(1 << self.memory);
        if others != 0 {
            self.serve_others(others, &mut round);
        }
        round.next
    }

    fn serve_others(&mut self, sources: u16, round: &mut Round) {
        let mut served = 0;
        for source in self.order {
            if sources & 1 << source != 0 && self.serve(source.into(), round) {
                served |= 1 << source;
            }
        }
        if served != 0 {
            self.put_last(served);
        }
    }

    fn put_last(&mut self, served: u16) {
        let mut kept = 0;
        let mut last = ELEMENT_COUNT - served.count_ones() as usize;
        // The loop iterates over a copy of the order, because it overwrites the original.
        for source in self.order {
            let place = if served & 1 << source == 0 { &mut kept } else { &mut last };
            self.order[*place] = source;
            *place += 1;
        }
    }

    fn serve(&mut self, source: usize, round: &mut Round) -> bool {
        let now = round.now;
        let waiting = self.first_of(source, now);
        let target = waiting.target as usize;
        if round.claimed & 1 << target != 0 {
            return false;
        }
        let (start, ring, hops) = self.best_ring(source, target);
        if start > now {
            round.next = round.next.min(start);
            // A source that waits for a ring or its own port must not keep others from a free
            // target.
            let is_target_busy = self.receive_free[target] > now + hops as u64 * self.bus;
            round.claimed |= u16::from(is_target_busy) << target;
            return false;
        }
        self.queues[source].pop_front();
        if self.queues[source].is_empty() {
            self.pending &= !(1 << source);
        } else {
            round.next = round.next.min(now + self.transfer);
        }
        self.wait_cycles[source] += now - waiting.since;
        let arrives = self.start(now, source, target, ring, hops);
        self.granted.push(Grant { transaction: waiting.transaction, ring: ring as u8, arrives });
        true
    }

    fn first_of(&self, source: usize, now: u64) -> Waiting {
        match self.queues[source].front() {
            Some(first) => *first,
            None => broken(
                at_cycle(self.name(), now),
                format_args!("element {source} is pending and has nothing to send"),
            ),
        }
    }

    /// The first ring with the earliest start, that time, and the hops.
    fn best_ring(&self, source: usize, target: usize) -> (u64, usize, usize) {
        let up = hops_up(source, target);
        let mut best = (u64::MAX, 0, 0);
        for (number, ring) in self.rings.iter().enumerate() {
            let hops = ring.hops(up);
            if hops <= self.longest_hops {
                // The target's port must be free when the wave arrives.
                let received = self.receive_free[target].saturating_sub(hops as u64 * self.bus);
                let start =
                    ring.earliest(source, hops, self.send_free[source].max(received), best.0);
                // Not `<=`: among equal rings, the first keeps the others free.
                if start < best.0 {
                    best = (start, number, hops);
                }
            }
        }
        best
    }

    fn start(&mut self, now: u64, source: usize, target: usize, ring: usize, hops: usize) -> u64 {
        let reaches = now + hops as u64 * self.bus;
        let are_free = self.send_free[source] <= now && self.receive_free[target] <= reaches;
        invariant!(
            are_free,
            at_cycle(self.name(), now),
            "a port is busy: from {source} to {target} in {hops} hops"
        );
        let end = self.rings[ring].start(now, source, hops);
        self.send_free[source] = now + self.transfer;
        self.receive_free[target] = end;
        end
    }

    fn name(&self) -> String {
        format!("the data arbiter of chip {}", self.chip)
    }

    pub fn counters(&self) -> RingCounters {
        RingCounters {
            grants: self.rings.each_ref().map(DataRing::grants),
            busy_cycles: self.rings.each_ref().map(|ring| *ring.busy_cycles()),
            wait_cycles: self.wait_cycles,
        }
    }

    pub fn reset(&mut self) {
        self.rings.iter_mut().for_each(DataRing::reset);
        self.queues.iter_mut().for_each(VecDeque::clear);
        (self.send_free, self.receive_free) = ([0; ELEMENT_COUNT], [0; ELEMENT_COUNT]);
        (self.pending, self.order, self.next) = (0, FIRST_ORDER, u64::MAX);
        self.granted.clear();
        self.wait_cycles = [0; ELEMENT_COUNT];
    }
}

#[cfg(test)]
mod tests;
