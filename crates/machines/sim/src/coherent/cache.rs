//! What a core and its cache do.

use crate::coherent::line::{NO_CACHE, NONE};
use crate::coherent::message::{Kind, Message};
use crate::coherent::request::Request;
use crate::coherent::world::{Event, NO_TASK, Phase, World};

impl World {
    /// A task looks: its cache has what it asked for, or asks the line's home.
    pub fn look(&mut self, task: u16) {
        let state = &mut self.tasks[task as usize];
        let Some(request) = state.request else { return };
        state.phase = Phase::Running;
        let (cache, node) = (state.cache, state.node);
        let Some(word) = request.word() else {
            let Request::Compute(cycles) = request else { return };
            return self.done(task, cycles, 0);
        };
        let line = word.line_index();
        let is_there = !self.layout.is_uncached
            && if request.writes() { self.lines.owns(line, cache) } else { self.lines.holds(line, cache) }
            && self.expecting(cache, line).is_none();
        if is_there {
            self.counts.hits += 1;
            return self.perform(task, request);
        }
        self.counts.misses += 1;
        self.tasks[task as usize].phase = Phase::Asking;
        let to = self.layout.first_home(node, line);
        let message = Message { kind: Kind::Request, task, cache, at: node, to, line, next: NONE };
        let id = self.messages.add(message);
        self.leave(id, self.layout.timing.miss);
    }

    /// A task at this cache to which this line is on its way.
    fn expecting(&self, cache: u16, line: u32) -> Option<u16> {
        let of_line = |task: &u16| {
            let state = &self.tasks[*task as usize];
            state.phase == Phase::Granted
                && state.request.and_then(Request::word).map(|it| it.line_index()) == Some(line)
        };
        self.at_cache(cache).find(of_line)
    }

    pub fn at_cache(&self, cache: u16) -> impl Iterator<Item = u16> + '_ {
        let from = cache as usize * self.layout.threads;
        self.seated[from..from + self.layout.threads].iter().copied().filter(|task| *task != NO_TASK)
    }

    fn done(&mut self, task: u16, cycles: u64, answer: u64) {
        let state = &mut self.tasks[task as usize];
        (state.request, state.answer) = (None, answer);
        let at = self.wheel.now() + cycles;
        self.wheel.at(at, Event::Resume(task));
    }

    /// Does what a task asked for to a word that its cache may have.
    fn perform(&mut self, task: u16, request: Request) {
        let Some(word) = request.word() else { return };
        self.catch_up(self.tasks[task as usize].cache, word.line_index(), request.writes());
        let timing = &self.layout.timing;
        let cycles = timing.hit + if request.is_atomic() { timing.atomic } else { 0 };
        let found = self.words[word.0 as usize];
        if let Request::WaitWhile(_, value) = request
            && found == value
        {
            self.tasks[task as usize].phase = Phase::Watching;
            return;
        }
        if let Some(value) = request.written(found) {
            self.words[word.0 as usize] = value;
            self.wake(self.tasks[task as usize].cache, word.line_index());
        }
        self.done(task, cycles, found);
    }

    /// A line of this cache changes: those of its threads that wait for that look again.
    fn wake(&mut self, cache: u16, line: u32) {
        let from = cache as usize * self.layout.threads;
        let looks = self.wheel.now() + self.layout.looks[cache as usize];
        for place in from..from + self.layout.threads {
            let Some(state) = self.tasks.get_mut(self.seated[place] as usize) else { break };
            let is_watching = state.phase == Phase::Watching
                && state.request.and_then(Request::word).is_some_and(|word| word.line_index() == line);
            if is_watching {
                state.phase = Phase::Running;
                self.wheel.at(looks, Event::Look(self.seated[place]));
            }
        }
    }

    /// The home wants something of a cache. Where the line itself is still on its way there, that waits for it.
    pub fn snooped(&mut self, id: u32) {
        let message = self.messages.get(id);
        match self.expecting(message.cache, message.line) {
            Some(task) => {
                self.counts.held += 1;
                self.messages.get_mut(id).next = self.tasks[task as usize].held;
                self.tasks[task as usize].held = id;
            }
            None => {
                let answers = self.wheel.now() + self.layout.timing.cache;
                self.wheel.at(answers, Event::Answer(id));
            }
        }
    }

    /// A cache does what the home wants, and says so.
    pub fn answer_home(&mut self, id: u32) {
        let message = self.messages.get(id);
        let asker = &self.tasks[message.task as usize];
        let (home, has_line) = (asker.home, asker.has_line);
        self.catch_up(message.cache, message.line, message.kind == Kind::Invalidate);
        let line = self.lines.get_mut(message.line);
        let is_keeper = line.keeper == message.cache;
        line.is_exclusive = false;
        let mut kind = Kind::Data;
        if message.kind == Kind::Invalidate {
            if is_keeper {
                line.keeper = NO_CACHE;
            }
            if !(is_keeper && has_line) {
                kind = Kind::Forgotten;
            }
            self.lines.remove(message.line, message.cache);
            self.wake(message.cache, message.line);
        }
        let message = self.messages.get_mut(id);
        (message.kind, message.to) = (kind, home);
        self.leave(id, 0);
    }

    /// What a task asked for is there.
    pub fn granted(&mut self, id: u32) {
        let task = self.messages.get(id).task;
        self.messages.remove(id);
        let state = &mut self.tasks[task as usize];
        state.phase = Phase::Running;
        let mut held = std::mem::replace(&mut state.held, NONE);
        if self.layout.is_uncached {
            let (cycles, answer) = (self.layout.timing.hit, state.answer);
            return self.done(task, cycles, answer);
        }
        if let Some(request) = state.request {
            self.perform(task, request);
        }
        while held != NONE {
            let next = self.messages.get(held).next;
            self.snooped(held);
            held = next;
        }
    }
}
