//! Links and lanes: the messages on their way.

use crate::coherent::fabric::{LANES, Lane, Link};
use crate::coherent::layout::CoherentLayout;
use crate::coherent::message::{Message, MessageKind};
use crate::coherent::slab::Slab;
use crate::moment::at_tick;
use seatmap_data::invariant;
use std::sync::Arc;

pub struct LinkLane {
    free: u64,
    busy: u32,
    ticks: u32,
    end: u16,
    pub grants: u64,
    pub waits: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PacketProgress {
    /// The message moves again at this time.
    Later {
        /// Time.
        time: u64,
        /// Network's number for the message.
        packet: u32,
    },
    /// The message is at its destination, and waits to be received.
    Arrived(u32),
}

/// The links of a machine. A message takes one after the other, first come first served on each
/// lane.
pub struct Network {
    layout: Arc<CoherentLayout>,
    wires: Vec<LinkLane>,
    pub packets: Slab<Message>,
    sent: u64,
    received: u64,
}

impl Network {
    pub fn new(layout: Arc<CoherentLayout>) -> Self {
        let mut network =
            Network { layout, wires: Vec::new(), packets: Slab::default(), sent: 0, received: 0 };
        network.reset();
        network
    }

    pub fn reset(&mut self) {
        self.wires.clear();
        self.wires.extend(
            self.layout
                .fabric
                .links()
                .iter()
                .flat_map(|link| (0..LANES).map(|lane| wire(link, lane))),
        );
        self.packets.clear();
        (self.sent, self.received) = (0, 0);
    }

    /// Takes a message that leaves after this many ticks, plus the extra ticks of its route; a Nack
    /// has none.
    #[inline(always)]
    pub fn send(&mut self, message: Message, after: u64, now: u64) -> PacketProgress {
        // Offsets belong to a core's route, not to a link, so they are added at the start.
        let after = after + self.extra(&message);
        let packet = self.packets.add(message);
        self.leave(packet, after, now)
    }

    #[inline(always)]
    pub fn answer(&mut self, packet: u32, answer: Message, after: u64, now: u64) -> PacketProgress {
        self.received += 1;
        let after = after + self.extra(&answer);
        *self.packets.get_mut(packet) = answer;
        self.leave(packet, after, now)
    }

    #[inline(always)]
    fn leave(&mut self, packet: u32, after: u64, now: u64) -> PacketProgress {
        self.sent += 1;
        match after {
            // Without an event: it would come first in this tick anyway.
            0 => self.advance(packet, now),
            after => PacketProgress::Later { time: now + after, packet },
        }
    }

    #[inline(always)]
    fn extra(&self, message: &Message) -> u64 {
        match message.kind {
            _ if self.layout.extra.is_empty() => 0,
            MessageKind::Nack { .. } => 0,
            _ => {
                self.layout.extra(message.cache, message.at)
                    + self.layout.extra(message.cache, message.to)
            }
        }
    }

    /// Moves a message over the next link of its route, unless it is at its destination.
    #[inline]
    pub fn advance(&mut self, packet: u32, now: u64) -> PacketProgress {
        let message = self.packets.get_mut(packet);
        if message.at == message.to {
            return PacketProgress::Arrived(packet);
        }
        let link = self.layout.fabric.next(message.at, message.to);
        let wire = &mut self.wires[link * LANES + message.kind.lane() as usize];
        let start = wire.free.max(now);
        wire.free = start + u64::from(wire.busy);
        wire.grants += 1;
        wire.waits += start - now;
        // It counts as there already; the event at the end of the link moves it on.
        message.at = wire.end;
        PacketProgress::Later { time: start + u64::from(wire.ticks), packet }
    }

    #[inline]
    pub fn receive(&mut self, packet: u32) -> Message {
        self.received += 1;
        self.packets.take(packet)
    }

    pub fn wire(&self, link: usize, lane: Lane) -> &LinkLane {
        &self.wires[link * LANES + lane as usize]
    }

    /// Messages sent, received, and under way.
    pub fn traffic(&self) -> (u64, u64, u64) {
        (self.sent, self.received, self.packets.occupied().into())
    }

    pub fn assert_idle(&self, now: u64) {
        let (sent, received, under_way) = self.traffic();
        let is_idle = sent == received && under_way == 0;
        invariant!(
            is_idle,
            at_tick("network", now),
            "the end: {sent} sent, {received} received, {under_way} under way"
        );
    }
}

fn wire(link: &Link, lane: usize) -> LinkLane {
    LinkLane {
        free: 0,
        busy: link.busy[lane],
        ticks: link.cycles,
        end: link.to,
        grants: 0,
        waits: 0,
    }
}

#[cfg(test)]
mod tests;
