//! The machine's state, and what each event does to it.

use crate::coherent::copy::Copying;
use crate::coherent::layout::Layout;
use crate::coherent::line::{Lines, NONE};
use crate::coherent::message::Messages;
use crate::coherent::network::{Directory, Wire};
use crate::coherent::request::Request;
use crate::engine::{self, Machine};
use crate::wheel::Wheel;
use std::sync::Arc;

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A task goes on.
    Resume(u16),
    /// A task has copied what it ran ahead to, if this is still its turn.
    Copied(u16, u16),
    /// A task looks whether it has what it asked for.
    Look(u16),
    /// A message is at a node, on its way or at its end.
    At(u32),
    /// A directory has looked a message's line up.
    LookedUp(u32),
    /// A cache does what a message wants.
    Answer(u32),
}

/// What a task is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Running, or about to look.
    Running,
    /// It waits for its request's answer.
    Asking,
    /// The answer is on its way.
    Granted,
    /// It holds the line, and sleeps until that changes.
    Watching,
}

/// One task: where it sits, what it asked for, and what it is told when it goes on.
#[derive(Clone, Copy, Debug)]
pub struct TaskState {
    pub cache: u16,
    pub node: u16,
    pub phase: Phase,
    pub request: Option<Request>,
    pub answer: u64,
    /// Where its request is served.
    pub home: u16,
    /// Answers that the home waits for.
    pub pending: u16,
    /// The cache that sends it the line; its own where memory does.
    pub source: u16,
    /// Whether what it is granted comes with the line.
    pub has_line: bool,
    /// Messages to its cache that came before its line did.
    pub held: u32,
}

/// No task on a seat.
pub const NO_TASK: u16 = u16::MAX;

/// What happened so far, beside what directories and links count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub hits: u64,
    pub misses: u64,
    pub invalidations: u64,
    pub memory_reads: u64,
    pub held: u64,
}

/// Everything.
#[derive(Clone, Debug)]
pub struct World {
    pub layout: Arc<Layout>,
    pub wheel: Wheel<Event>,
    pub words: Vec<u64>,
    pub lines: Lines,
    pub messages: Messages,
    pub tasks: Vec<TaskState>,
    /// What each task copies.
    pub copies: Vec<Copying>,
    /// How many of these run ahead.
    pub ahead: u32,
    /// The tasks at each cache, `layout.threads` places each.
    pub seated: Vec<u16>,
    /// Each link's lanes.
    pub wires: Vec<Wire>,
    /// By node.
    pub directories: Vec<Directory>,
    pub counts: Counts,
}

impl World {
    pub fn new(layout: Arc<Layout>) -> Self {
        World {
            wheel: Wheel::default(),
            words: Vec::new(),
            lines: Lines::default(),
            messages: Messages::default(),
            tasks: Vec::new(),
            copies: Vec::new(),
            ahead: 0,
            seated: Vec::new(),
            wires: Vec::new(),
            directories: Vec::new(),
            counts: Counts::default(),
            layout,
        }
    }

    /// Back to the beginning with tasks on these caches and cold ones everywhere; memory keeps its contents, and grows to so
    /// many lines.
    pub fn reset(&mut self, caches: &[u16], lines: u32, seed: u64) {
        let layout = Arc::clone(&self.layout);
        let words = lines as usize * seatmap_port::WORDS_PER_LINE as usize;
        self.words.resize(self.words.len().max(words), 0);
        self.lines.reset(lines as usize, layout.caches());
        self.messages.clear();
        refilled(&mut self.seated, layout.caches() * layout.threads, NO_TASK);
        refilled(&mut self.wires, layout.fabric.links().len() * super::fabric::LANES, Wire::default());
        refilled(&mut self.directories, layout.fabric.nodes(), Directory::default());
        self.counts = Counts::default();
        self.tasks.clear();
        refilled(&mut self.copies, caches.len(), Copying::default());
        self.ahead = 0;
        for (task, cache) in caches.iter().enumerate() {
            self.seat(task as u16, *cache);
        }
        self.wheel.clear();
        for (start, task) in engine::starts(caches.len(), layout.timing.start_skew, seed) {
            self.wheel.at(start, Event::Resume(task));
        }
    }

    fn seat(&mut self, task: u16, cache: u16) {
        let node = self.layout.node_of_cache[cache as usize];
        self.tasks.push(TaskState {
            cache,
            node,
            phase: Phase::Running,
            request: None,
            answer: 0,
            home: 0,
            pending: 0,
            source: cache,
            has_line: false,
            held: NONE,
        });
        let from = cache as usize * self.layout.threads;
        let places = &mut self.seated[from..from + self.layout.threads];
        if let Some(place) = places.iter_mut().find(|place| **place == NO_TASK) {
            *place = task;
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Resume(_) | Event::Copied(..) => {}
            Event::Look(task) => self.look(task),
            Event::At(message) => self.at(message),
            Event::LookedUp(message) => self.looked_up(message),
            Event::Answer(message) => self.answer_home(message),
        }
    }
}

fn refilled<T: Clone>(all: &mut Vec<T>, count: usize, with: T) {
    all.clear();
    all.resize(count, with);
}

impl Machine for World {
    type Call = Request;

    fn next_task(&mut self) -> Option<(u64, u16)> {
        loop {
            let (time, event) = self.wheel.pop()?;
            let task = match event {
                Event::Resume(task) => task,
                Event::Copied(task, turn) if self.has_copied(task, turn) => task,
                event => {
                    self.happen(event);
                    continue;
                }
            };
            if !self.copies_on(task) {
                return Some((time, task));
            }
        }
    }

    #[inline]
    fn answer(&self, task: u16) -> u64 {
        self.tasks[task as usize].answer
    }

    #[inline]
    fn call(&mut self, task: u16, request: Request) {
        if let Request::Copy { from, to, words } = request {
            self.copies[task as usize] = Copying::new(from, to, words);
            self.copies_on(task);
            return;
        }
        self.tasks[task as usize].request = Some(request);
        self.look(task);
    }

    fn now(&self) -> u64 {
        self.wheel.now()
    }

    fn events(&self) -> u64 {
        self.wheel.scheduled()
    }

    fn doing(&self, task: u16) -> Option<String> {
        self.tasks[task as usize].request.map(|request| request.to_string())
    }
}
