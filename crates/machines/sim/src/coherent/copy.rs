//! Copies: a load and a store for each word, in one call.
//!
//! Word by word, the engine would resume a task for each access, although cached lines cannot
//! change until another thread or cache accesses them. A copy therefore runs ahead to the end of
//! two such lines, as one event. An earlier access to one of the lines finds all due steps done,
//! and the copy continues from there. All steps happen at the times of single loads and stores;
//! only the order of events in a tick may differ.

use crate::coherent::cores::{Core, HardwareThread};
use crate::coherent::memory::SharedMemory;
use crate::coherent::outbox::{CoherentEvent, Outbox};
use crate::coherent::request::LineCall;
use crate::moment::at_tick;
use seatmap_data::invariant;
use seatmap_data::port::{Addr, WORDS_PER_LINE};

/// A task's copy: even steps load a word, odd steps store it. It is over when all steps have begun.
#[derive(Clone, Copy, Default)]
pub struct Copying {
    from: u32,
    to: u32,
    steps: u32,
    begun: u32,
    ahead: Option<Ahead>,
    /// The number of the run ahead that counts.
    run: u16,
}

#[derive(Clone, Copy)]
struct Ahead {
    since: u64,
    first: u32,
    /// The first step after it.
    until: u32,
}

impl Copying {
    pub fn new(from: Addr, to: Addr, words: u32) -> Self {
        Copying { from: from.0, to: to.0, steps: 2 * words, ..Copying::default() }
    }

    fn words(&self, step: u32) -> [Addr; 2] {
        [self.from, self.to].map(|first| Addr(first + step / 2))
    }

    fn lines(&self) -> [u32; 2] {
        self.words(self.begun).map(Addr::line_index)
    }

    /// The first step that leaves the lines of the next one.
    fn leaves(&self) -> u32 {
        let words = self.words(self.begun).map(|word| WORDS_PER_LINE - word.0 % WORDS_PER_LINE);
        // Whole words to the nearer line end; a load and its store are two steps.
        (2 * (self.begun / 2 + words[0].min(words[1]))).min(self.steps)
    }
}

impl Core {
    /// Begins the next steps of a thread's copy. Returns false if none, so the task continues.
    #[inline]
    pub fn copies_on(&mut self, thread: u16, memory: &mut SharedMemory, out: &mut Outbox) -> bool {
        let copying = &self.threads[thread as usize].copying;
        if copying.begun == copying.steps {
            return false;
        }
        if !self.runs_ahead(thread, memory, out) {
            self.step(thread, memory, out);
        }
        true
    }

    fn step(&mut self, thread: u16, memory: &mut SharedMemory, out: &mut Outbox) {
        let state = &mut self.threads[thread as usize];
        let copying = &mut state.copying;
        let [from, to] = copying.words(copying.begun);
        let is_load = copying.begun.is_multiple_of(2);
        state.request =
            Some(if is_load { LineCall::Load(from) } else { LineCall::Store(to, state.answer) });
        copying.begun += 1;
        self.look(thread, memory, out);
    }

    /// Runs ahead if the cache has both lines and no thread of this core waits for them.
    fn runs_ahead(&mut self, thread: u16, memory: &mut SharedMemory, out: &mut Outbox) -> bool {
        let HardwareThread { copying, task, .. } = self.threads[thread as usize];
        let [from, to] = copying.lines();
        let until = copying.leaves();
        let hit = self.layout.timing.hit;
        if self.layout.is_uncached
            // Steps of no duration have no order.
            || hit == 0
            || !self.may_copy([from, to])
            || self.cache.is_awaited([from, to])
        {
            return false;
        }
        // Each due step of sibling threads' copies over these lines comes first.
        self.catch_up(to, true, memory, out);
        self.catch_up(from, false, memory, out);
        let since = out.now();
        let first = copying.begun;
        self.threads[thread as usize].copying.ahead = Some(Ahead { since, first, until });
        self.ahead += 1;
        out.schedule(CoherentEvent::Copied(task, copying.run), hit * u64::from(until - first));
        true
    }

    fn may_copy(&self, [from, to]: [u32; 2]) -> bool {
        self.cache.permits(from, false) && self.cache.permits(to, true)
    }

    /// Ends a finished run ahead. Returns false if it was cut earlier, so the event does not count.
    pub fn has_copied(
        &mut self,
        thread: u16,
        run: u16,
        memory: &mut SharedMemory,
        now: u64,
    ) -> bool {
        let copying = &mut self.threads[thread as usize].copying;
        let Some(ahead) = copying.ahead.filter(|_| copying.run == run) else { return false };
        copying.ahead = None;
        copying.run = run.wrapping_add(1);
        self.ahead -= 1;
        self.begin_until(thread, ahead.until, memory, now);
        true
    }

    /// Cuts the copies that run ahead on a line about to be read, written or given up: only due
    /// steps are done.
    #[inline]
    pub fn catch_up(
        &mut self,
        line: u32,
        changes: bool,
        memory: &mut SharedMemory,
        out: &mut Outbox,
    ) {
        if self.ahead == 0 {
            return;
        }
        for thread in 0..self.threads.len() {
            let copying = &self.threads[thread].copying;
            if let Some(ahead) = copying.ahead {
                let [read, written] = copying.words(ahead.first).map(Addr::line_index);
                if written == line || changes && read == line {
                    self.cut(thread as u16, ahead, memory, out);
                }
            }
        }
    }

    fn cut(&mut self, thread: u16, ahead: Ahead, memory: &mut SharedMemory, out: &mut Outbox) {
        let hit = self.layout.timing.hit;
        let now = out.now();
        // The step that begins in this tick is due, too.
        let due = ahead.first + ((now - ahead.since) / hit) as u32 + 1;
        let until = due.min(ahead.until);
        self.begin_until(thread, until, memory, now);
        if until < ahead.until {
            let HardwareThread { copying, task, .. } = &mut self.threads[thread as usize];
            copying.run = copying.run.wrapping_add(1);
            copying.ahead = Some(Ahead { until, ..ahead });
            let ends = ahead.since + hit * u64::from(until - ahead.first);
            out.schedule(CoherentEvent::Copied(*task, copying.run), ends - now);
        }
    }

    fn begin_until(&mut self, thread: u16, until: u32, memory: &mut SharedMemory, now: u64) {
        let HardwareThread { copying, answer, .. } = &mut self.threads[thread as usize];
        self.cache.counts.hits += u64::from(until - copying.begun);
        if copying.begun < until {
            let [from, to] = copying.lines();
            invariant!(
                self.cache.permits(from, false) && self.cache.permits(to, true),
                at_tick("core", now),
                "lines {from} and {to}: a copy ahead lost a line"
            );
        }
        for step in copying.begun..until {
            let [from, to] = copying.words(step);
            if step.is_multiple_of(2) {
                *answer = memory.read(from)
            } else {
                memory.write(to, *answer)
            }
        }
        copying.begun = until;
    }
}
