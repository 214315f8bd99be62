//! Lines that stay at their homes: message buffers, read and written over the fabric.

use crate::coherent::message::{Kind, Message};
use crate::coherent::request::Request;
use crate::coherent::world::{Event, World};

impl World {
    /// A request reached the buffer that holds its word.
    pub fn at_buffer(&mut self, id: u32, message: Message) {
        let task = &mut self.tasks[message.task as usize];
        let Some((request, word)) = task.request.and_then(|request| Some((request, request.word()?))) else { return };
        let found = self.words[word.0 as usize];
        task.answer = found;
        self.directories[message.at as usize].held -= 1;
        if matches!(request, Request::WaitWhile(_, value) if value == found) {
            return self.park(id, message.line);
        }
        let kind = match request.written(found) {
            Some(value) => {
                self.words[word.0 as usize] = value;
                self.let_pollers_look(message.line);
                Kind::Grant
            }
            None => Kind::Line,
        };
        let to = self.tasks[message.task as usize].node;
        *self.messages.get_mut(id) = Message { kind, to, ..message };
        self.at(id);
    }

    /// Those who poll the line find the change with a later poll: after half the time between two, on average.
    fn let_pollers_look(&mut self, line: u32) {
        while let Some(id) = self.unpark(line) {
            let poll = self.messages.get(id);
            let looks = self.wheel.now() + self.poll_cycles(&poll) / 2;
            self.directories[poll.at as usize].held += 1;
            self.wheel.at(looks, Event::LookedUp(id));
        }
    }

    /// From one poll of a task to the next.
    fn poll_cycles(&self, poll: &Message) -> u64 {
        let node = self.tasks[poll.task as usize].node;
        let (timing, look) = (&self.layout.timing, self.layout.looks[poll.cache as usize]);
        let ways = self.layout.fabric.cycles(node, poll.at) + self.layout.fabric.cycles(poll.at, node);
        timing.hit + timing.miss + ways + timing.directory + look
    }
}
