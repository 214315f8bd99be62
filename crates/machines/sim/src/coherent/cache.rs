//! The cache of one core: its copies of lines, and the lines for which its threads wait.

use crate::coherent::layout::CoherentLayout;
use crate::coherent::message::{Message, MessageKind, NO_PARCEL, Parcel};
use crate::coherent::outbox::{CoherentEvent, Notice, Outbox};
use crate::coherent::request::LineCall;
use crate::moment::at_tick;
use seatmap_data::invariant;
use seatmap_data::invariant::broken;
use std::sync::Arc;

const NAME: &str = "cache";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineState {
    #[default]
    Invalid,
    Shared,
    /// The cache may read, and answers for the line, which other caches share.
    Owned,
    /// The cache may read and write: no other cache has a copy.
    Exclusive,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Wait {
    Nothing,
    /// The thread's request is on its way to the home, or waits there.
    Asking(u32),
    /// The home has granted the request for this line; the cache holds a snoop that arrives before
    /// the answer.
    Coming(u32, Option<u32>),
    Watching(u32),
}

#[derive(Clone, Copy, Debug)]
struct Thread {
    task: u16,
    wait: Wait,
}

/// An arrived answer for a thread, and the snoop that waited for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// The thread. It continues with its request before the snoop is handled.
    pub thread: u16,
    pub value: Option<u64>,
    pub held: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CacheCounts {
    pub hits: u64,
    pub misses: u64,
    /// Snoops that arrived before the line itself, and waited for it.
    pub early_snoops: u64,
}

/// The cache of one core. It never evicts. On a machine with message buffers, it holds no lines and
/// passes every access on.
pub struct Cache {
    layout: Arc<CoherentLayout>,
    id: u16,
    node: u16,
    states: Vec<LineState>,
    threads: Vec<Thread>,
    coming: u16,
    snoops: u32,
    pub counts: CacheCounts,
}

impl Cache {
    pub fn new(layout: Arc<CoherentLayout>, id: u16) -> Self {
        Cache {
            id,
            node: layout.node_of_cache[id as usize],
            states: Vec::new(),
            threads: Vec::new(),
            coming: 0,
            snoops: 0,
            counts: CacheCounts::default(),
            layout,
        }
    }

    pub fn reset(&mut self) {
        self.states.clear();
        self.threads.clear();
        self.coming = 0;
        self.snoops = 0;
        self.counts = CacheCounts::default();
    }

    /// Gives a task the next hardware thread, which it returns, in a memory of this many lines.
    pub fn seat(&mut self, task: u16, lines: usize) -> u16 {
        let thread = self.threads.len();
        invariant!(
            thread < self.layout.threads,
            at_tick(NAME, 0),
            "task {task}: cache {} is full",
            self.id
        );
        self.threads.push(Thread { task, wait: Wait::Nothing });
        // A run on few of a large machine's cores fills only their tables.
        self.states.resize(if self.layout.is_uncached { 0 } else { lines }, LineState::Invalid);
        thread as u16
    }

    #[inline]
    pub fn state(&self, line: u32) -> LineState {
        self.states[line as usize]
    }

    #[inline]
    pub fn permits(&self, line: u32, writes: bool) -> bool {
        self.state(line) >= if writes { LineState::Exclusive } else { LineState::Shared }
    }

    /// Accesses a line for a thread. Returns false if the cache lacks the right and asks the home.
    #[inline]
    pub fn access(&mut self, thread: u16, line: u32, request: LineCall, out: &mut Outbox) -> bool {
        let writes = request.writes();
        let is_uncached = self.layout.is_uncached;
        // A snoop may wait for the answer to another thread of the core; it comes first.
        if !is_uncached && self.permits(line, writes) && self.thread_expecting(line).is_none() {
            self.counts.hits += 1;
            return true;
        }
        self.counts.misses += 1;
        self.threads[thread as usize].wait = Wait::Asking(line);
        let at = self.node;
        let cache = self.id;
        let kind = MessageKind::LineCall { writes };
        let parcel =
            if is_uncached { out.parcels.add(Parcel::Operation(request)) } else { NO_PARCEL };
        let to = self.layout.first_home(at, line);
        out.send(
            Message { kind, cache, thread, from: at, at, to, line, parcel },
            self.layout.timing.miss,
        );
        false
    }

    #[inline]
    fn thread_expecting(&self, line: u32) -> Option<usize> {
        if self.coming == 0 {
            return None;
        }
        self.threads
            .iter()
            .position(|thread| matches!(thread.wait, Wait::Coming(coming, _) if coming == line))
    }

    /// Notice: the home has granted a thread's request.
    #[inline]
    pub fn expect(&mut self, thread: u16, now: u64) {
        let wait = &mut self.threads[thread as usize].wait;
        let Wait::Asking(line) = *wait else {
            broken(
                at_tick(NAME, now),
                format_args!("cache {}: thread {thread} asked for nothing", self.id),
            )
        };
        *wait = Wait::Coming(line, None);
        self.coming += 1;
    }

    /// Handles an arriving message. Returns an answer for the core.
    #[inline]
    pub fn handle(&mut self, packet: u32, out: &mut Outbox) -> Option<Delivery> {
        let message = *out.message(packet);
        let is_here = message.cache == self.id && message.at == self.node;
        invariant!(
            is_here,
            out.at(NAME),
            "{message}: it arrived at cache {} at node {}",
            self.id,
            self.node
        );
        match message.kind {
            MessageKind::Forward | MessageKind::Invalidate { .. } => {
                self.snoops += 1;
                self.snoop(packet, out);
            }
            MessageKind::Line { exclusive } | MessageKind::Grant { exclusive } => {
                // The delivery below goes by value; the packet is free for the next message.
                out.receive(packet);
                return Some(self.deliver(message, exclusive, out));
            }
            MessageKind::Nack { writes } => {
                self.ask_again(packet, message, writes, out);
            }
            _ => broken(out.at(NAME), format_args!("{message}: caches do not receive this")),
        }
        None
    }

    /// Repeats the request, because the home was full.
    fn ask_again(&mut self, packet: u32, nack: Message, writes: bool, out: &mut Outbox) {
        let asks = self
            .threads
            .get(nack.thread as usize)
            .is_some_and(|it| it.wait == Wait::Asking(nack.line));
        invariant!(asks, out.at(NAME), "{nack}: the thread did not ask for the line");
        let to = self.layout.first_home(nack.at, nack.line);
        let request = Message { kind: MessageKind::LineCall { writes }, from: nack.at, to, ..nack };
        out.answer(packet, request, self.layout.timing.miss);
    }

    /// Takes an arrived answer. A grant may overtake a line sent earlier to another thread of this
    /// core; it raises the right to the line, which the line then does not lower.
    fn deliver(&mut self, answer: Message, exclusive: bool, out: &mut Outbox) -> Delivery {
        let Message { line, thread, .. } = answer;
        let wait = std::mem::replace(&mut self.threads[thread as usize].wait, Wait::Nothing);
        if self.layout.is_uncached {
            invariant!(
                wait == Wait::Asking(line),
                out.at(NAME),
                "{answer}: the thread waits for {wait:?}"
            );
            let Parcel::Value(value) = out.parcels.take(answer.parcel) else {
                broken(out.at(NAME), format_args!("{answer}: an answer without value"))
            };
            return Delivery { thread, value: Some(value), held: None };
        }
        let held = match wait {
            Wait::Coming(expected, held) if expected == line => held,
            _ => broken(out.at(NAME), format_args!("{answer}: the thread waits for {wait:?}")),
        };
        self.coming -= 1;
        // A sibling thread may have asked for the same line, and its answer may still be under way.
        let has_line = matches!(answer.kind, MessageKind::Line { .. })
            || self.state(line) != LineState::Invalid
            || self.thread_expecting(line).is_some();
        invariant!(
            has_line,
            out.at(NAME),
            "{answer}: a grant for a line that is neither here nor on its way"
        );
        let right = if exclusive { LineState::Exclusive } else { LineState::Shared };
        let state = &mut self.states[line as usize];
        *state = right.max(*state);
        Delivery { thread, value: None, held }
    }

    /// Takes a snoop from the home. It waits for the line if that is still on its way.
    pub fn snoop(&mut self, packet: u32, out: &mut Outbox) {
        let line = out.message(packet).line;
        let Some(expecting) = self.thread_expecting(line) else {
            return out.schedule(CoherentEvent::Answer(self.id, packet), self.layout.timing.cache);
        };
        // The home has granted the line; the next request's snoop has overtaken it on another lane.
        self.counts.early_snoops += 1;
        let wait = &mut self.threads[expecting].wait;
        let is_first = *wait == Wait::Coming(line, None);
        invariant!(
            is_first,
            out.at(NAME),
            "{}: a second snoop for one line: {wait:?}",
            out.message(packet)
        );
        *wait = Wait::Coming(line, Some(packet));
    }

    pub fn answer(&mut self, packet: u32, out: &mut Outbox) {
        let snoop = *out.message(packet);
        self.snoops -= 1;
        let state = self.states[snoop.line as usize];
        invariant!(state != LineState::Invalid, out.at(NAME), "{snoop}: the line is not here");
        let is_owner = state >= LineState::Owned;
        let kind = match snoop.kind {
            MessageKind::Invalidate { wants_line } => {
                self.give_up(snoop.line, out);
                if is_owner && wants_line { MessageKind::Data } else { MessageKind::InvAck }
            }
            _ => {
                invariant!(
                    is_owner,
                    out.at(NAME),
                    "{snoop}: the line is here, and another cache answers for it"
                );
                self.states[snoop.line as usize] = LineState::Owned;
                MessageKind::Data
            }
        };
        out.answer(packet, Message { kind, from: snoop.at, to: snoop.from, ..snoop }, 0);
    }

    fn give_up(&mut self, line: u32, out: &mut Outbox) {
        self.states[line as usize] = LineState::Invalid;
        out.notices.push(Notice::Gone { cache: self.id, line });
        self.wake(line, out);
    }

    pub fn watch(&mut self, thread: u16, line: u32) {
        self.threads[thread as usize].wait = Wait::Watching(line);
    }

    #[inline]
    pub fn wake(&mut self, line: u32, out: &mut Outbox) {
        let looks = self.layout.looks[self.id as usize];
        for thread in self.threads.iter_mut().filter(|thread| thread.wait == Wait::Watching(line)) {
            thread.wait = Wait::Nothing;
            out.schedule(CoherentEvent::Look(thread.task), looks);
        }
    }

    /// Whether a thread sleeps until one of these lines changes, or will soon receive one of them.
    pub fn is_awaited(&self, lines: [u32; 2]) -> bool {
        self.threads.iter().any(|thread| {
            matches!(
                thread.wait,
                Wait::Coming(line, _) | Wait::Watching(line) if lines.contains(&line)
            )
        })
    }

    /// Stops the run unless no request is outstanding and no snoop waits.
    pub fn assert_idle(&self, now: u64) {
        let waiting = self.threads.iter().find(|thread| thread.wait != Wait::Nothing);
        let is_idle = waiting.is_none() && self.coming == 0 && self.snoops == 0;
        invariant!(
            is_idle,
            at_tick(NAME, now),
            "the end: cache {}: {waiting:?}, {} snoops",
            self.id,
            self.snoops
        );
    }
}

#[cfg(test)]
mod tests;
