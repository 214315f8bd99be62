//! What the home of a line does: one request for it at a time.

use crate::coherent::homes::Homes;
use crate::coherent::line::{NO_CACHE, NONE};
use crate::coherent::message::{Kind, Message};
use crate::coherent::world::{Event, Phase, World};

impl World {
    /// A directory knows about a message's line.
    pub fn looked_up(&mut self, id: u32) {
        let message = self.messages.get(id);
        if self.layout.is_uncached {
            return self.at_buffer(id, message);
        }
        match message.kind {
            Kind::Request if self.climbs(id, message) => {}
            Kind::Request if self.lines.get(message.line).is_busy => self.park(id, message.line),
            Kind::Request => self.begin(id, message),
            _ => self.answered(id, message),
        }
    }

    /// The message waits at the line, last of all.
    pub fn park(&mut self, id: u32, line: u32) {
        self.messages.get_mut(id).next = NONE;
        let line = self.lines.get_mut(line);
        let last = std::mem::replace(&mut line.last, id);
        match last {
            NONE => line.first = id,
            last => self.messages.get_mut(last).next = id,
        }
    }

    /// The first message that waits at a line.
    pub fn unpark(&mut self, line: u32) -> Option<u32> {
        let line = self.lines.get_mut(line);
        let id = line.first;
        if id == NONE {
            return None;
        }
        line.first = self.messages.get(id).next;
        if line.first == NONE {
            line.last = NONE;
        }
        Some(id)
    }

    /// Sends a request on upwards, where not all that hold its line are below here.
    fn climbs(&mut self, id: u32, message: Message) -> bool {
        let Homes::Climbing(climbing) = &self.layout.homes else { return false };
        let at = message.at as usize;
        let up = climbing.up(message.at, message.line);
        if up == message.at || self.lines.are_within(message.line, climbing.below[at]) {
            return false;
        }
        self.directories[at].held -= 1;
        self.messages.get_mut(id).to = up;
        self.leave(id, 0);
        true
    }

    /// Serves a request.
    fn begin(&mut self, id: u32, message: Message) {
        let (line, at) = (message.line, message.at);
        let task = &mut self.tasks[message.task as usize];
        task.home = at;
        let (own, writes) = (task.cache, task.request.is_some_and(|request| request.writes()));
        let holds = self.lines.holds(line, own);
        task.has_line = !holds;
        task.pending = 0;
        task.source = own;
        let known = self.lines.get_mut(line);
        known.is_busy = true;
        match known.keeper {
            NO_CACHE => self.fetch_from_memory(id),
            keeper if !writes && !holds => self.ask(id, message, Kind::Fetch, keeper),
            _ if writes => self.invalidate(id, message, own),
            _ => self.grant(id, message),
        }
    }

    /// Nobody holds the line: memory does.
    fn fetch_from_memory(&mut self, id: u32) {
        self.counts.memory_reads += 1;
        let message = self.messages.get_mut(id);
        message.kind = Kind::Data;
        self.tasks[message.task as usize].pending = 1;
        let there = self.wheel.now() + self.layout.timing.memory;
        self.wheel.at(there, Event::LookedUp(id));
    }

    fn ask(&mut self, id: u32, message: Message, kind: Kind, cache: u16) {
        self.tasks[message.task as usize].pending += 1;
        let to = self.layout.node_of_cache[cache as usize];
        *self.messages.get_mut(id) = Message { kind, cache, to, ..message };
        self.leave(id, 0);
    }

    /// Every other holder must forget the line; who has nobody to wait for is granted it at once.
    fn invalidate(&mut self, id: u32, message: Message, own: u16) {
        let mut next = self.lines.holder_from(message.line, 0);
        while let Some(cache) = next {
            next = self.lines.holder_from(message.line, cache + 1);
            if cache != own {
                self.counts.invalidations += 1;
                let copy = self.messages.add(message);
                self.ask(copy, message, Kind::Invalidate, cache);
            }
        }
        match self.tasks[message.task as usize].pending {
            0 => self.grant(id, message),
            _ => self.messages.remove(id),
        }
    }

    /// A cache's answer is home; after the last one the asker gets what it wants.
    fn answered(&mut self, id: u32, message: Message) {
        let task = &mut self.tasks[message.task as usize];
        task.pending -= 1;
        if message.kind == Kind::Data {
            task.source = message.cache;
        }
        if task.pending > 0 {
            return self.messages.remove(id);
        }
        self.grant(id, message);
        // Who waited for this line is served next.
        while !self.lines.get(message.line).is_busy
            && let Some(waiting) = self.unpark(message.line)
        {
            let message = self.messages.get(waiting);
            if !self.climbs(waiting, message) {
                self.begin(waiting, message);
            }
        }
    }

    /// Sends the asker the line, or leave to write it, and notes that it holds it.
    fn grant(&mut self, id: u32, message: Message) {
        let task = &mut self.tasks[message.task as usize];
        let (own, writes) = (task.cache, task.request.is_some_and(|request| request.writes()));
        task.phase = Phase::Granted;
        let (home, to, has_line, source) = (task.home, task.node, task.has_line, task.source);
        let line = self.lines.get_mut(message.line);
        line.is_busy = false;
        if writes || line.keeper == NO_CACHE {
            (line.keeper, line.is_exclusive) = (own, true);
        }
        self.lines.add(message.line, own);
        self.directories[home as usize].held -= 1;
        let kind = if has_line { Kind::Line } else { Kind::Grant };
        *self.messages.get_mut(id) = Message { kind, cache: own, at: home, to, ..message };
        let passing = if has_line { self.layout.passing(source, own) } else { 0 };
        self.leave(id, passing);
    }
}
