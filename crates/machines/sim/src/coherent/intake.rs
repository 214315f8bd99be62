//! The entrance of every home, which admits messages and looks them up one by one.

use crate::coherent::layout::CoherentLayout;
use crate::coherent::message::{Message, MessageKind};
use crate::coherent::outbox::{CoherentEvent, Outbox};
use crate::moment::at_tick;
use seatmap_data::invariant;
use std::sync::Arc;

/// The entrance of the home at one node, with its PMU counts.
#[derive(Clone, Copy, Default)]
pub struct Pipeline {
    free: u64,
    /// Requests inside, until they are granted or move on.
    held: u32,
    pub lookups: u64,
    pub waits: u64,
    /// Requests that it sent back because the home was full.
    pub nacks: u64,
}

pub struct Intake {
    layout: Arc<CoherentLayout>,
    pub pipelines: Vec<Pipeline>,
}

impl Intake {
    pub fn new(layout: Arc<CoherentLayout>) -> Self {
        let mut intake = Intake { layout, pipelines: Vec::new() };
        intake.reset();
        intake
    }

    pub fn reset(&mut self) {
        self.pipelines.clear();
        self.pipelines.resize(self.layout.fabric.nodes(), Pipeline::default());
    }

    /// Looks an arriving message up, or sends a request back if the home is full.
    #[inline]
    pub fn receive(&mut self, packet: u32, out: &mut Outbox) {
        let &Message { kind, at, .. } = out.message(packet);
        let pipeline = &mut self.pipelines[at as usize];
        // Only requests can be refused: a refused answer could wait for the request that waits for
        // it.
        if let MessageKind::LineCall { writes } = kind {
            if pipeline.held >= self.layout.timing.directory_queue {
                pipeline.nacks += 1;
                return refuse(packet, writes, out);
            }
            pipeline.held += 1;
        }
        let start = pipeline.free.max(out.now());
        // Pipelined: the next look-up begins before this one ends.
        pipeline.free = start + self.layout.timing.directory_busy;
        pipeline.lookups += 1;
        pipeline.waits += start - out.now();
        out.schedule(
            CoherentEvent::LookedUp(packet),
            start + self.layout.timing.directory - out.now(),
        );
    }

    /// A request leaves a home, which makes room for another one.
    #[inline]
    pub fn release(&mut self, node: u16, message: &Message, now: u64) {
        let held = &mut self.pipelines[node as usize].held;
        invariant!(
            *held > 0,
            at_tick("home", now),
            "{message}: it leaves node {node}, where no request is inside"
        );
        *held -= 1;
    }

    /// Readmits a request that had left its room at a home, even without room.
    pub fn readmit(&mut self, node: u16) {
        self.pipelines[node as usize].held += 1;
    }

    pub fn assert_idle(&self, now: u64) {
        for (node, pipeline) in self.pipelines.iter().enumerate() {
            invariant!(
                pipeline.held == 0,
                at_tick("home", now),
                "node {node}: {} requests left",
                pipeline.held
            );
        }
    }
}

fn refuse(packet: u32, writes: bool, out: &mut Outbox) {
    let request = *out.message(packet);
    out.answer(
        packet,
        Message {
            kind: MessageKind::Nack { writes },
            from: request.at,
            to: request.from,
            ..request
        },
        0,
    );
}
