//! Links and directories: who is let through when.

use crate::coherent::message::Kind;
use crate::coherent::world::{Event, World};

/// One lane of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wire {
    /// When it takes the next message.
    pub free: u64,
    /// Messages that it took.
    pub grants: u64,
    /// Cycles that they waited.
    pub waits: u64,
}

/// What looks lines up at a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    /// When it takes the next message.
    pub free: u64,
    /// Requests that it holds.
    pub held: u32,
    /// Messages that it looked up.
    pub lookups: u64,
    /// Cycles that they waited.
    pub waits: u64,
    /// Requests that found its queue full.
    pub bounces: u64,
}

impl World {
    /// A message leaves a cache or a home after so long: what its way takes beyond its links comes first.
    #[inline]
    pub fn leave(&mut self, id: u32, after: u64) {
        let message = self.messages.get(id);
        let after = after + self.layout.extra(message.cache, message.at) + self.layout.extra(message.cache, message.to);
        if after == 0 {
            return self.at(id);
        }
        let leaves = self.wheel.now() + after;
        self.wheel.at(leaves, Event::At(id));
    }

    /// A message is at a node: it goes on, first come first served, or has arrived.
    #[inline]
    pub fn at(&mut self, id: u32) {
        let now = self.wheel.now();
        let message = self.messages.get_mut(id);
        if message.at == message.to {
            return self.arrived(id);
        }
        let fabric = &self.layout.fabric;
        let next = fabric.next(message.at, message.to);
        let (link, lane) = (fabric.links()[next], message.kind.lane() as usize);
        message.at = link.to;
        let wire = &mut self.wires[next * super::fabric::LANES + lane];
        let start = wire.free.max(now);
        wire.free = start + u64::from(link.busy[lane]);
        wire.grants += 1;
        wire.waits += start - now;
        self.wheel.at(start + u64::from(link.cycles), Event::At(id));
    }

    fn arrived(&mut self, id: u32) {
        match self.messages.get(id).kind {
            Kind::Request => self.request_arrived(id),
            Kind::Data | Kind::Forgotten => self.look_up(id),
            Kind::Fetch | Kind::Invalidate => self.snooped(id),
            Kind::Line | Kind::Grant => self.granted(id),
            Kind::Bounce => self.bounced(id),
        }
    }

    /// A request is taken in, or sent back where the directory's queue is full.
    fn request_arrived(&mut self, id: u32) {
        let at = self.messages.get(id).at;
        let directory = &mut self.directories[at as usize];
        if directory.held < self.layout.timing.directory_queue {
            directory.held += 1;
            return self.look_up(id);
        }
        directory.bounces += 1;
        let message = self.messages.get_mut(id);
        (message.kind, message.to) = (Kind::Bounce, self.tasks[message.task as usize].node);
        self.at(id);
    }

    /// The request goes out again, as it did the first time.
    fn bounced(&mut self, id: u32) {
        let message = self.messages.get_mut(id);
        (message.kind, message.to) = (Kind::Request, self.layout.first_home(message.at, message.line));
        self.leave(id, self.layout.timing.miss);
    }

    fn look_up(&mut self, id: u32) {
        let now = self.wheel.now();
        let directory = &mut self.directories[self.messages.get(id).at as usize];
        let start = directory.free.max(now);
        directory.free = start + self.layout.timing.directory_busy;
        directory.lookups += 1;
        directory.waits += start - now;
        self.wheel.at(start + self.layout.timing.directory, Event::LookedUp(id));
    }
}
