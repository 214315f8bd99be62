//! The entrance of every home: admission, and one look-up after the other.

use crate::coherent::invariant::invariant;
use crate::coherent::layout::Layout;
use crate::coherent::message::{Kind, Message};
use crate::coherent::outbox::{Event, Outbox};
use std::sync::Arc;

/// The entrance of the home at one node, with what a PMU would count of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pipeline {
    /// When it takes the next message.
    free: u64,
    /// Requests inside, from admission until they are granted or move on.
    held: u32,
    /// Messages that it looked up.
    pub lookups: u64,
    /// Ticks that they waited.
    pub waits: u64,
    /// Requests that found it full.
    pub nacks: u64,
}

/// The entrances of all homes.
#[derive(Clone, Debug)]
pub struct Intake {
    layout: Arc<Layout>,
    /// By node.
    pipelines: Vec<Pipeline>,
}

impl Intake {
    /// Entrances through which nothing has come.
    pub fn new(layout: Arc<Layout>) -> Self {
        let mut intake = Intake { layout, pipelines: Vec::new() };
        intake.reset();
        intake
    }

    /// Back to the beginning.
    pub fn reset(&mut self) {
        self.pipelines.clear();
        self.pipelines.resize(self.layout.fabric.nodes(), Pipeline::default());
    }

    /// Looks an arriving message up, or sends a request back where the home is full.
    #[inline]
    pub fn receive(&mut self, packet: u32, out: &mut Outbox) {
        let &Message { kind, at, .. } = out.message(packet);
        let pipeline = &mut self.pipelines[at as usize];
        if let Kind::Request { writes } = kind {
            if pipeline.held >= self.layout.timing.directory_queue {
                pipeline.nacks += 1;
                return refuse(packet, writes, out);
            }
            pipeline.held += 1;
        }
        let start = pipeline.free.max(out.now());
        pipeline.free = start + self.layout.timing.directory_busy;
        pipeline.lookups += 1;
        pipeline.waits += start - out.now();
        out.schedule(Event::LookedUp(packet), start + self.layout.timing.directory - out.now());
    }

    /// A request leaves a home: there is room for another one.
    #[inline]
    pub fn release(&mut self, node: u16, message: &Message, now: u64) {
        let held = &mut self.pipelines[node as usize].held;
        invariant!(*held > 0, "home", now, message, "it leaves node {node}, where no request is inside");
        *held -= 1;
    }

    /// A request that had left its room at a home comes in again, room or not.
    pub fn readmit(&mut self, node: u16) {
        self.pipelines[node as usize].held += 1;
    }

    /// The entrances, by node.
    pub fn pipelines(&self) -> &[Pipeline] {
        &self.pipelines
    }

    /// Stops unless every request has left.
    pub fn assert_idle(&self, now: u64) {
        for (node, pipeline) in self.pipelines.iter().enumerate() {
            invariant!(pipeline.held == 0, "home", now, format_args!("node {node}"), "{} requests left", pipeline.held);
        }
    }
}

/// Sends a request back.
fn refuse(packet: u32, writes: bool, out: &mut Outbox) {
    let request = *out.message(packet);
    out.answer(packet, Message { kind: Kind::Nack { writes }, from: request.at, to: request.from, ..request }, 0);
}
