//! The cache of one core: its copies of lines, and what its threads wait for.

use crate::coherent::invariant::{broken, invariant};
use crate::coherent::layout::Layout;
use crate::coherent::message::{Kind, Message, NO_PARCEL, Parcel};
use crate::coherent::outbox::{Event, Outbox};
use crate::coherent::request::Request;
use std::sync::Arc;

const NAME: &str = "cache";

/// A cache's right to a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It has no copy.
    #[default]
    Invalid,
    /// It may read.
    Shared,
    /// It may read, and answers for the line: others share it.
    Owned,
    /// It may read and write: no other cache has a copy.
    Exclusive,
}

/// The reason why a hardware thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// Nothing that the cache knows of.
    Nothing,
    /// Its request is on its way to the home, or waits there.
    Asking(u32),
    /// The home has granted its request for this line. A snoop that comes sooner than the answer is held.
    Coming(u32, Option<u32>),
    /// It sleeps until this line changes.
    Watching(u32),
}

/// A hardware thread, as its cache sees it.
#[derive(Clone, Copy, Debug)]
struct Thread {
    task: u16,
    wait: Wait,
}

/// An answer that has come for a thread, and the snoop that waited for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The thread, which goes on with its request first.
    pub thread: u16,
    /// The value that it brings, from a message buffer.
    pub value: Option<u64>,
    /// The snoop, which is to be handled then.
    pub held: Option<u32>,
}

/// Counts of one cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Accesses to lines to which it had the right.
    pub hits: u64,
    /// Accesses that went to the line's home.
    pub misses: u64,
    /// Snoops that came sooner than the line itself, and waited for it.
    pub early_snoops: u64,
}

/// The cache of one core. Caches never evict. On a machine of message buffers it holds nothing, and sends every
/// access on.
#[derive(Clone, Debug)]
pub struct Cache {
    layout: Arc<Layout>,
    id: u16,
    node: u16,
    /// By line; empty where no thread is seated.
    states: Vec<State>,
    threads: Vec<Thread>,
    /// Threads whose answer is coming.
    coming: u16,
    /// Snoops that came and are not answered yet.
    snoops: u32,
    counts: Counts,
}

impl Cache {
    /// A cold cache.
    pub fn new(layout: Arc<Layout>, id: u16) -> Self {
        let (states, threads, snoops) = (Vec::new(), Vec::new(), 0);
        let node = layout.node_of_cache[id as usize];
        Cache { layout, id, node, states, threads, coming: 0, snoops, counts: Counts::default() }
    }

    /// Back to the beginning: cold, and without tasks.
    pub fn reset(&mut self) {
        self.states.clear();
        self.threads.clear();
        self.coming = 0;
        self.snoops = 0;
        self.counts = Counts::default();
    }

    /// Gives a task the next hardware thread, in a memory of this many lines. Returns the thread.
    pub fn seat(&mut self, task: u16, lines: usize) -> u16 {
        let thread = self.threads.len();
        invariant!(thread < self.layout.threads, NAME, 0, format_args!("task {task}"), "cache {} is full", self.id);
        self.threads.push(Thread { task, wait: Wait::Nothing });
        self.states.resize(if self.layout.is_uncached { 0 } else { lines }, State::Invalid);
        thread as u16
    }

    /// Its right to a line.
    #[inline]
    pub fn state(&self, line: u32) -> State {
        self.states[line as usize]
    }

    /// Whether it may read a line, or write it.
    #[inline]
    pub fn permits(&self, line: u32, writes: bool) -> bool {
        self.state(line) >= if writes { State::Exclusive } else { State::Shared }
    }

    /// A thread accesses a line. False where the cache lacks the right: then it asks the home, and the answer is
    /// delivered.
    #[inline]
    pub fn access(&mut self, thread: u16, line: u32, request: Request, out: &mut Outbox) -> bool {
        let (writes, is_uncached) = (request.writes(), self.layout.is_uncached);
        if !is_uncached && self.permits(line, writes) && self.thread_expecting(line).is_none() {
            self.counts.hits += 1;
            return true;
        }
        self.counts.misses += 1;
        self.threads[thread as usize].wait = Wait::Asking(line);
        let (at, cache, kind) = (self.node, self.id, Kind::Request { writes });
        let parcel = if is_uncached { out.pack(Parcel::Operation(request)) } else { NO_PARCEL };
        let to = self.layout.first_home(at, line);
        out.send(Message { kind, cache, thread, from: at, at, to, line, parcel }, self.layout.timing.miss);
        false
    }

    /// Hits that a copy made while it ran ahead.
    #[inline]
    pub fn count_hits(&mut self, hits: u64) {
        self.counts.hits += hits;
    }

    /// A thread to which this line is on its way.
    #[inline]
    fn thread_expecting(&self, line: u32) -> Option<usize> {
        if self.coming == 0 {
            return None;
        }
        self.threads.iter().position(|thread| matches!(thread.wait, Wait::Coming(coming, _) if coming == line))
    }

    /// Notice: the home has granted a thread's request.
    #[inline]
    pub fn expect(&mut self, thread: u16, now: u64) {
        let wait = &mut self.threads[thread as usize].wait;
        let Wait::Asking(line) = *wait else {
            broken(NAME, now, &format_args!("cache {}", self.id), format_args!("thread {thread} asked for nothing"))
        };
        *wait = Wait::Coming(line, None);
        self.coming += 1;
    }

    /// Handles an arriving message. An answer is returned, for the core to go on with.
    #[inline]
    pub fn handle(&mut self, packet: u32, out: &mut Outbox) -> Option<Delivery> {
        let message = *out.message(packet);
        let is_here = message.cache == self.id && message.at == self.node;
        invariant!(is_here, NAME, out.now(), message, "it arrived at cache {} at node {}", self.id, self.node);
        match message.kind {
            Kind::Forward | Kind::Invalidate { .. } => {
                self.snoops += 1;
                self.snoop(packet, out);
            }
            Kind::Line { exclusive } | Kind::Grant { exclusive } => {
                out.receive(packet);
                return Some(self.deliver(message, exclusive, out));
            }
            Kind::Nack { writes } => {
                self.ask_again(packet, message, writes, out);
            }
            _ => broken(NAME, out.now(), &message, format_args!("caches do not receive this")),
        }
        None
    }

    /// The home is full: the request goes out again, as it did the first time.
    fn ask_again(&mut self, packet: u32, nack: Message, writes: bool, out: &mut Outbox) {
        let asks = self.threads.get(nack.thread as usize).is_some_and(|it| it.wait == Wait::Asking(nack.line));
        invariant!(asks, NAME, out.now(), nack, "the thread did not ask for the line");
        let to = self.layout.first_home(nack.at, nack.line);
        let request = Message { kind: Kind::Request { writes }, from: nack.at, to, ..nack };
        out.answer(packet, request, self.layout.timing.miss);
    }

    /// An answer has come. A grant may overtake the line that another thread of this core was sent before: it raises
    /// the right to the line, and the line then lowers nothing.
    fn deliver(&mut self, answer: Message, exclusive: bool, out: &mut Outbox) -> Delivery {
        let Message { line, thread, .. } = answer;
        let wait = std::mem::replace(&mut self.threads[thread as usize].wait, Wait::Nothing);
        if self.layout.is_uncached {
            invariant!(wait == Wait::Asking(line), NAME, out.now(), answer, "the thread waits for {wait:?}");
            let Parcel::Value(value) = out.unpack(answer.parcel) else {
                broken(NAME, out.now(), &answer, format_args!("an answer without value"))
            };
            return Delivery { thread, value: Some(value), held: None };
        }
        let held = match wait {
            Wait::Coming(expected, held) if expected == line => held,
            _ => broken(NAME, out.now(), &answer, format_args!("the thread waits for {wait:?}")),
        };
        self.coming -= 1;
        let has_line = matches!(answer.kind, Kind::Line { .. })
            || self.state(line) != State::Invalid
            || self.thread_expecting(line).is_some();
        invariant!(has_line, NAME, out.now(), answer, "a grant for a line that is neither here nor on its way");
        let right = if exclusive { State::Exclusive } else { State::Shared };
        let state = &mut self.states[line as usize];
        *state = right.max(*state);
        Delivery { thread, value: None, held }
    }

    /// The home wants something. Where the line itself is still on its way here, the snoop waits for it.
    pub fn snoop(&mut self, packet: u32, out: &mut Outbox) {
        let line = out.message(packet).line;
        let Some(expecting) = self.thread_expecting(line) else {
            return out.schedule(Event::Answer(self.id, packet), self.layout.timing.cache);
        };
        self.counts.early_snoops += 1;
        let wait = &mut self.threads[expecting].wait;
        let is_first = *wait == Wait::Coming(line, None);
        invariant!(is_first, NAME, out.now(), out.message(packet), "a second snoop for one line: {wait:?}");
        *wait = Wait::Coming(line, Some(packet));
    }

    /// Does what a snoop wants, and tells the home.
    pub fn answer(&mut self, packet: u32, out: &mut Outbox) {
        let snoop = *out.message(packet);
        self.snoops -= 1;
        let state = self.states[snoop.line as usize];
        invariant!(state != State::Invalid, NAME, out.now(), snoop, "the line is not here");
        let is_owner = state >= State::Owned;
        let kind = match snoop.kind {
            Kind::Invalidate { wants_line } => {
                self.give_up(snoop.line, out);
                if is_owner && wants_line { Kind::Data } else { Kind::InvAck }
            }
            _ => {
                invariant!(is_owner, NAME, out.now(), snoop, "the line is here, and another cache answers for it");
                self.states[snoop.line as usize] = State::Owned;
                Kind::Data
            }
        };
        out.answer(packet, Message { kind, from: snoop.at, to: snoop.from, ..snoop }, 0);
    }

    fn give_up(&mut self, line: u32, out: &mut Outbox) {
        self.states[line as usize] = State::Invalid;
        out.notice_gone(self.id, line);
        self.wake(line, out);
    }

    /// Lets a thread sleep until a line changes.
    pub fn watch(&mut self, thread: u16, line: u32) {
        self.threads[thread as usize].wait = Wait::Watching(line);
    }

    /// A line changes: the threads that wait for that look again.
    #[inline]
    pub fn wake(&mut self, line: u32, out: &mut Outbox) {
        let looks = self.layout.looks[self.id as usize];
        for thread in self.threads.iter_mut().filter(|thread| thread.wait == Wait::Watching(line)) {
            thread.wait = Wait::Nothing;
            out.schedule(Event::Look(thread.task), looks);
        }
    }

    /// Whether a thread sleeps until one of these lines changes, or is about to get one.
    pub fn is_wanted(&self, lines: [u32; 2]) -> bool {
        self.threads
            .iter()
            .any(|thread| matches!(thread.wait, Wait::Coming(line, _) | Wait::Watching(line) if lines.contains(&line)))
    }

    /// Counts since the beginning.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Stops unless nothing is asked for and no snoop waits.
    pub fn assert_idle(&self, now: u64) {
        let waiting = self.threads.iter().find(|thread| thread.wait != Wait::Nothing);
        let is_idle = waiting.is_none() && self.coming == 0 && self.snoops == 0;
        invariant!(is_idle, NAME, now, "the end", "cache {}: {waiting:?}, {} snoops", self.id, self.snoops);
    }
}

#[cfg(test)]
mod tests;
