//! Message buffers: homes that keep their lines, which caches read and write over the fabric.

use crate::coherent::intake::Intake;
use crate::coherent::layout::CoherentLayout;
use crate::coherent::memory::SharedMemory;
use crate::coherent::message::{Message, MessageKind, Parcel};
use crate::coherent::outbox::{CoherentEvent, Outbox};
use crate::coherent::request::LineCall;
use crate::coherent::slab::SlabQueue;
use seatmap_data::invariant;
use seatmap_data::invariant::broken;
use std::sync::Arc;

const NAME: &str = "message buffer";

/// The message buffers of a machine. No line is cached: requests carry their operations, and
/// answers the values.
pub struct Buffers {
    layout: Arc<CoherentLayout>,
    pub intake: Intake,
    polls: Vec<SlabQueue>,
}

impl Buffers {
    pub fn new(layout: Arc<CoherentLayout>) -> Self {
        Buffers { intake: Intake::new(Arc::clone(&layout)), polls: Vec::new(), layout }
    }

    pub fn reset(&mut self, lines: usize) {
        self.intake.reset();
        self.polls.clear();
        self.polls.resize(lines, SlabQueue::EMPTY);
    }

    /// Takes an arriving request in, or sends it back if the buffer is full.
    #[inline]
    pub fn handle(&mut self, packet: u32, out: &mut Outbox) {
        let message = out.message(packet);
        let is_request = matches!(message.kind, MessageKind::LineCall { .. });
        invariant!(is_request, out.at(NAME), "{message}: buffers receive requests only");
        self.intake.receive(packet, out);
    }

    pub fn looked_up(&mut self, packet: u32, memory: &mut SharedMemory, out: &mut Outbox) {
        let message = *out.message(packet);
        let Parcel::Operation(operation) = *out.parcels.get(message.parcel) else {
            broken(out.at(NAME), format_args!("{message}: it carries no operation"))
        };
        let Some(word) = operation.word() else {
            broken(out.at(NAME), format_args!("{message}: it {operation}, which names no word"))
        };
        let found = memory.read(word);
        self.intake.release(message.at, &message, out.now());
        if matches!(operation, LineCall::WaitWhile(_, value) if value == found) {
            // A waiting poll costs one event when the value changes, and none before.
            return out.park(&mut self.polls[message.line as usize], packet);
        }
        let mut kind = MessageKind::Line { exclusive: false };
        if let Some(value) = operation.written(found) {
            memory.write(word, value);
            self.wake(message.line, out);
            kind = MessageKind::Grant { exclusive: false };
        }
        *out.parcels.get_mut(message.parcel) = Parcel::Value(found);
        out.answer(packet, Message { kind, from: message.at, to: message.from, ..message }, 0);
    }

    /// Wakes the threads that poll the line. They find the change half a polling interval later on
    /// average.
    fn wake(&mut self, line: u32, out: &mut Outbox) {
        while let Some(packet) = out.unpark(&mut self.polls[line as usize]) {
            let poll = *out.message(packet);
            self.intake.readmit(poll.at);
            out.schedule(CoherentEvent::LookedUp(packet), self.poll_ticks(&poll) / 2);
        }
    }

    fn poll_ticks(&self, poll: &Message) -> u64 {
        let timing = &self.layout.timing;
        let look = self.layout.looks[poll.cache as usize];
        let route = self.layout.fabric.cycles(poll.from, poll.at)
            + self.layout.fabric.cycles(poll.at, poll.from);
        timing.hit + timing.miss + route + timing.directory + look
    }

    pub fn assert_idle(&self, now: u64) {
        self.intake.assert_idle(now);
    }
}

#[cfg(test)]
mod tests;
