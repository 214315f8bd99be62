//! A component's output: the messages that it sends and the events that it schedules.

use crate::coherent::layout::CoherentLayout;
use crate::coherent::message::{Message, Parcel};
use crate::coherent::network::{Network, PacketProgress};
use crate::coherent::slab::{Slab, SlabQueue};
use crate::moment::{ComponentTime, at_tick};
use crate::wheel::Wheel;
use seatmap_data::invariant;
use std::sync::Arc;

/// An event, which the simulation dispatches to a component at its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoherentEvent {
    Resume(u16),
    /// The end of a copy's run ahead, with the run's number: it counts only if that run was not
    /// cut.
    Copied(u16, u16),
    Look(u16),
    Hop(u32),
    LookedUp(u32),
    /// Memory answers a home that asked for this line.
    MemoryRead(u32),
    Answer(u16, u32),
}

/// An action that takes effect in another component in this very tick.
#[derive(Clone, Copy)]
pub enum Pending {
    Arrived(u32),
    Send(Message, u64),
    Schedule(CoherentEvent, u64),
}

/// A fact that another component learns without a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// From a home to a cache: the line or the permission for this thread leaves now.
    Coming {
        /// Cache.
        cache: u16,
        /// Its thread.
        thread: u16,
    },
    /// From a cache to the homes: it has given the line up.
    Gone {
        /// Cache.
        cache: u16,
        /// Line.
        line: u32,
    },
}

/// Takes messages to the network and events to the event queue, for all components.
///
/// Components do not call each other. A message that arrives at once, and all later actions, are
/// pending until the sender is done, which keeps the order.
///
/// Messages take time. The two [`Notice`]s take no time and no link, which simplifies the model:
/// - `Coming`: a cache knows from the moment of the grant that an answer is on its way. It holds
///   later snoops, and sends its other threads' accesses to the line to the home until the answer.
/// - `Gone`: the levels of a hierarchy know at once which caches have a line.
pub struct Outbox {
    queue: Wheel<CoherentEvent>,
    pub network: Network,
    pub parcels: Slab<Parcel>,
    pending: Vec<Pending>,
    outer: usize,
    /// Undelivered notices; the last one is delivered first.
    pub notices: Vec<Notice>,
}

impl Outbox {
    pub fn new(layout: Arc<CoherentLayout>) -> Self {
        Outbox {
            queue: Wheel::default(),
            network: Network::new(layout),
            parcels: Slab::default(),
            pending: Vec::new(),
            outer: 0,
            notices: Vec::new(),
        }
    }

    pub fn reset(&mut self) {
        self.queue.clear();
        self.network.reset();
        self.parcels.clear();
        self.pending.clear();
        self.notices.clear();
        self.outer = 0;
    }

    #[inline]
    pub fn now(&self) -> u64 {
        self.queue.now()
    }

    /// A component at this time, for the message of a broken invariant.
    pub fn at(&self, component: &'static str) -> ComponentTime<&'static str> {
        at_tick(component, self.now())
    }

    pub fn events(&self) -> u64 {
        self.queue.scheduled()
    }

    #[inline(always)]
    pub fn send(&mut self, message: Message, after: u64) {
        // Later messages must not overtake a pending one that arrived at once.
        if self.pending.len() > self.outer {
            return self.pending.push(Pending::Send(message, after));
        }
        let step = self.network.send(message, after, self.now());
        self.left(step);
    }

    #[inline(always)]
    pub fn answer(&mut self, packet: u32, answer: Message, after: u64) {
        if self.pending.len() > self.outer {
            // Frees its entry, because the answer gets a new one when it leaves.
            self.receive(packet);
            return self.pending.push(Pending::Send(answer, after));
        }
        let step = self.network.answer(packet, answer, after, self.now());
        self.left(step);
    }

    #[inline]
    pub fn schedule(&mut self, event: CoherentEvent, after: u64) {
        if self.pending.len() > self.outer {
            return self.pending.push(Pending::Schedule(event, after));
        }
        self.queue.at(self.now() + after, event);
    }

    #[inline]
    fn left(&mut self, step: PacketProgress) {
        if let Some(packet) = self.moved(step) {
            self.pending.push(Pending::Arrived(packet));
        }
    }

    /// Schedules a message's next hop. Returns the message if it has arrived instead.
    #[inline]
    fn moved(&mut self, step: PacketProgress) -> Option<u32> {
        match step {
            PacketProgress::Later { time, packet } => {
                self.queue.at(time, CoherentEvent::Hop(packet));
                None
            }
            PacketProgress::Arrived(packet) => Some(packet),
        }
    }

    #[inline]
    pub fn next_event(&mut self) -> Option<(u64, CoherentEvent)> {
        self.queue.pop()
    }

    /// Moves a message over its next link. Returns true at the end of its route.
    #[inline]
    pub fn hop(&mut self, packet: u32) -> bool {
        let step = self.network.advance(packet, self.now());
        self.moved(step).is_some()
    }

    #[inline]
    pub fn message(&self, packet: u32) -> &Message {
        self.network.packets.get(packet)
    }

    pub fn park(&mut self, queue: &mut SlabQueue, packet: u32) {
        self.network.packets.push(queue, packet);
    }

    pub fn unpark(&self, queue: &mut SlabQueue) -> Option<u32> {
        self.network.packets.pop(queue)
    }

    #[inline]
    pub fn receive(&mut self, packet: u32) -> Message {
        self.network.receive(packet)
    }

    #[inline]
    pub fn has_more(&self) -> bool {
        self.pending.len() > self.outer || !self.notices.is_empty()
    }

    /// The range of the present component's pending actions, which the other components now
    /// receive; they may add their own.
    #[inline]
    pub fn begin_pending(&mut self) -> std::ops::Range<usize> {
        let own = self.outer..self.pending.len();
        self.outer = self.pending.len();
        own
    }

    /// Carries out one pending action. Returns the message that arrives, if any.
    pub fn carry_out(&mut self, at: usize) -> Option<u32> {
        match self.pending[at] {
            Pending::Arrived(packet) => Some(packet),
            Pending::Schedule(event, after) => {
                self.queue.at(self.now() + after, event);
                None
            }
            Pending::Send(message, after) => {
                let step = self.network.send(message, after, self.now());
                self.moved(step)
            }
        }
    }

    #[inline]
    pub fn end_pending(&mut self, own: std::ops::Range<usize>) {
        self.pending.truncate(own.start);
        self.outer = own.start;
    }

    pub fn assert_idle(&self) {
        self.network.assert_idle(self.now());
        let left = self.parcels.occupied() as usize + self.pending.len() + self.notices.len();
        invariant!(
            left == 0,
            at_tick("network", self.now()),
            "the end: {left} parcels and notices were never received"
        );
    }
}
