//! A core: its hardware threads carry out their tasks' requests, through the core's cache.

use crate::coherent::cache::{Cache, Delivery};
use crate::coherent::copy::Copying;
use crate::coherent::layout::CoherentLayout;
use crate::coherent::memory::SharedMemory;
use crate::coherent::message::{Message, MessageKind};
use crate::coherent::outbox::{CoherentEvent, Outbox};
use crate::coherent::request::LineCall;
use crate::moment::at_tick;
use seatmap_data::invariant;
use seatmap_data::invariant::broken;
use seatmap_data::port::Addr;
use std::sync::Arc;

const NAME: &str = "core";

#[derive(Clone, Copy)]
pub struct HardwareThread {
    pub task: u16,
    pub request: Option<LineCall>,
    pub answer: u64,
    pub copying: Copying,
}

/// A core with its cache. They share a node; other components reach them by messages.
pub struct Core {
    pub layout: Arc<CoherentLayout>,
    pub cache: Cache,
    pub threads: Vec<HardwareThread>,
    pub ahead: u32,
}

impl Core {
    pub fn new(layout: Arc<CoherentLayout>, id: u16) -> Self {
        Core { cache: Cache::new(Arc::clone(&layout), id), layout, threads: Vec::new(), ahead: 0 }
    }

    pub fn reset(&mut self) {
        // On a machine of 1,000 cores a ranking uses few, and resets for each run.
        if !self.threads.is_empty() {
            self.cache.reset();
            self.threads.clear();
            self.ahead = 0;
        }
    }

    pub fn seat(&mut self, task: u16, lines: usize) -> u16 {
        self.threads.push(HardwareThread {
            task,
            request: None,
            answer: 0,
            copying: Copying::default(),
        });
        self.cache.seat(task, lines)
    }

    #[inline]
    pub fn call(
        &mut self,
        thread: u16,
        request: LineCall,
        memory: &mut SharedMemory,
        out: &mut Outbox,
    ) {
        let state = &mut self.threads[thread as usize];
        if let LineCall::Copy { from, to, words } = request {
            state.copying = Copying::new(from, to, words);
            self.copies_on(thread, memory, out);
            return;
        }
        state.request = Some(request);
        self.look(thread, memory, out);
    }

    /// Tries a thread's request: carries it out if the cache has the right to the line.
    #[inline]
    pub fn look(&mut self, thread: u16, memory: &mut SharedMemory, out: &mut Outbox) {
        let request = self.request(thread, out);
        if let LineCall::Compute(ticks) = request {
            return self.done(thread, ticks, 0, out);
        }
        let line = word(request, out).line_index();
        if self.cache.access(thread, line, request, out) {
            self.perform(thread, request, memory, out);
        }
    }

    #[inline]
    fn request(&self, thread: u16, out: &Outbox) -> LineCall {
        let Some(request) = self.threads[thread as usize].request else {
            broken(out.at(NAME), format_args!("thread {thread}: it has no request"))
        };
        request
    }

    fn done(&mut self, thread: u16, ticks: u64, answer: u64, out: &mut Outbox) {
        let state = &mut self.threads[thread as usize];
        (state.request, state.answer) = (None, answer);
        out.schedule(CoherentEvent::Resume(state.task), ticks);
    }

    fn perform(
        &mut self,
        thread: u16,
        request: LineCall,
        memory: &mut SharedMemory,
        out: &mut Outbox,
    ) {
        let word = word(request, out);
        let line = word.line_index();
        let writes = request.writes();
        invariant!(
            self.cache.permits(line, writes),
            out.at(NAME),
            "{request}: the cache may not do this"
        );
        // Before the word is read: a sibling's copy may have written it.
        self.catch_up(line, writes, memory, out);
        let found = memory.read(word);
        // The value is old: the thread looks again when the line changes.
        if matches!(request, LineCall::WaitWhile(_, value) if value == found) {
            return self.cache.watch(thread, line);
        }
        if let Some(value) = request.written(found) {
            memory.write(word, value);
            self.cache.wake(line, out);
        }
        let timing = &self.layout.timing;
        let ticks = timing.hit + if request.is_atomic() { timing.atomic } else { 0 };
        self.done(thread, ticks, found, out);
    }

    /// Handles a message to the core's cache; an answer resumes a thread.
    #[inline]
    pub fn handle(&mut self, packet: u32, memory: &mut SharedMemory, out: &mut Outbox) {
        let Some(Delivery { thread, value, held }) = self.cache.handle(packet, out) else { return };
        let request = self.request(thread, out);
        match value {
            Some(value) => self.done(thread, self.layout.timing.hit, value, out),
            None => self.perform(thread, request, memory, out),
        }
        // After the request: the thread may use the line once, or two cores could steal it from
        // each other forever.
        if let Some(snoop) = held {
            self.cache.snoop(snoop, out);
        }
    }

    pub fn answer(&mut self, snoop: u32, memory: &mut SharedMemory, out: &mut Outbox) {
        let &Message { kind, line, .. } = out.message(snoop);
        self.catch_up(line, matches!(kind, MessageKind::Invalidate { .. }), memory, out);
        self.cache.answer(snoop, out);
    }

    pub fn assert_idle(&self, now: u64) {
        self.cache.assert_idle(now);
        let busy = self.threads.iter().find_map(|thread| Some((thread.task, thread.request?)));
        invariant!(
            busy.is_none() && self.ahead == 0,
            at_tick(NAME, now),
            "the end: {busy:?}, {} copies",
            self.ahead
        );
    }
}

#[inline]
fn word(request: LineCall, out: &Outbox) -> Addr {
    request
        .word()
        .unwrap_or_else(|| broken(out.at(NAME), format_args!("{request}: it names no word")))
}
