//! The directories: homes that know the sharers of each line, and serve one request for a line at a
//! time.

use crate::coherent::homes::Homes;
use crate::coherent::intake::Intake;
use crate::coherent::layout::CoherentLayout;
use crate::coherent::lines::{IDLE, LineTable, NO_CACHE};
use crate::coherent::message::{Message, MessageKind, NO_PARCEL};
use crate::coherent::outbox::{CoherentEvent, Notice, Outbox};
use crate::coherent::slab::Slab;
use crate::moment::at_tick;
use seatmap_data::invariant;
use seatmap_data::invariant::broken;
use std::sync::Arc;

const NAME: &str = "directory";

#[derive(Clone, Copy)]
struct Transaction {
    /// Request; `at` is the node that serves it.
    request: Message,
    writes: bool,
    /// Whether the requester lacks a copy, so that the directory sends it the line.
    wants_line: bool,
    pending: u16,
    /// Cache that sent the line home, or the requester if memory sent it.
    source: u16,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoherenceCounts {
    pub invalidations: u64,
    pub memory_reads: u64,
}

/// On a ring or mesh each line has one home, and homes share nothing, so one table holds all
/// records. In a hierarchy the levels share one record of each line, as if each knew all at once. A
/// request climbs to the first level with all sharers of its line below it, which serves it.
pub struct Directory {
    layout: Arc<CoherentLayout>,
    pub intake: Intake,
    lines: LineTable,
    transactions: Slab<Transaction>,
    pub counts: CoherenceCounts,
}

impl Directory {
    pub fn new(layout: Arc<CoherentLayout>) -> Self {
        Directory {
            intake: Intake::new(Arc::clone(&layout)),
            lines: LineTable::default(),
            transactions: Slab::default(),
            counts: CoherenceCounts::default(),
            layout,
        }
    }

    pub fn reset(&mut self, lines: usize) {
        self.intake.reset();
        self.lines.reset(lines, self.layout.caches());
        self.transactions.clear();
        self.counts = CoherenceCounts::default();
    }

    #[inline]
    pub fn handle(&mut self, packet: u32, out: &mut Outbox) {
        let message = out.message(packet);
        if !matches!(message.kind, MessageKind::LineCall { .. }) {
            let is_awaited = self.lines.get(message.line).transaction != IDLE;
            invariant!(
                is_awaited,
                out.at(NAME),
                "{message}: no request for the line is being served"
            );
        }
        self.intake.receive(packet, out);
    }

    pub fn looked_up(&mut self, packet: u32, out: &mut Outbox) {
        let message = *out.message(packet);
        match message.kind {
            MessageKind::LineCall { .. } => self.requested(packet, message, out),
            MessageKind::Data | MessageKind::InvAck => {
                out.receive(packet);
                self.answered(message, out);
            }
            _ => broken(out.at(NAME), format_args!("{message}: homes do not receive this")),
        }
    }

    pub fn memory_read(&mut self, line: u32, out: &mut Outbox) {
        self.one_answer_less(line, None, out);
    }

    #[inline]
    pub fn gone(&mut self, cache: u16, line: u32, now: u64) {
        let had = self.lines.is_shared_by(line, cache);
        invariant!(
            had,
            at_tick(NAME, now),
            "line {line}: cache {cache} gives up a line that it does not have"
        );
        self.lines.remove(line, cache);
        let known = self.lines.get_mut(line);
        if known.owner == cache {
            known.owner = NO_CACHE;
        }
    }

    fn requested(&mut self, packet: u32, request: Message, out: &mut Outbox) {
        // Before the line is looked at: a home below the sharers does not serve it.
        if self.climbs(packet, request, out) {
            return;
        }
        if self.lines.get(request.line).transaction != IDLE {
            return out.park(&mut self.lines.get_mut(request.line).waiting, packet);
        }
        let has_waiting = !self.lines.get(request.line).waiting.is_empty();
        invariant!(
            !has_waiting,
            out.at(NAME),
            "{request}: others wait for a line that nothing is done to"
        );
        self.begin(packet, request, out);
    }

    /// Sends a request further up if its node is not above all sharers of its line.
    fn climbs(&mut self, packet: u32, request: Message, out: &mut Outbox) -> bool {
        let Homes::Climbing(climbing) = &self.layout.homes else { return false };
        let up = climbing.up(request.at, request.line);
        if up == request.at
            || self.lines.are_within(request.line, climbing.below[request.at as usize])
        {
            return false;
        }
        self.intake.release(request.at, &request, out.now());
        out.answer(packet, Message { to: up, ..request }, 0);
        true
    }

    fn begin(&mut self, packet: u32, request: Message, out: &mut Outbox) {
        out.receive(packet);
        let Message { line, cache: own, .. } = request;
        let MessageKind::LineCall { writes } = request.kind else {
            broken(out.at(NAME), format_args!("{request}: only requests open transactions"))
        };
        let wants_line = !self.lines.is_shared_by(line, own);
        let transaction = Transaction { request, writes, wants_line, pending: 0, source: own };
        let transaction = self.transactions.add(transaction);
        let known = self.lines.get_mut(line);
        known.transaction = transaction;
        match known.owner {
            NO_CACHE => self.read_memory(transaction, out),
            // The owner is among the invalidated caches, and sends the data with its answer.
            _ if writes => self.invalidate(transaction, out),
            owner if wants_line => self.snoop(transaction, MessageKind::Forward, owner, out),
            _ => self.grant(transaction, out),
        }
    }

    fn read_memory(&mut self, transaction: u32, out: &mut Outbox) {
        let served = self.transactions.get_mut(transaction);
        served.pending = 1;
        let request = served.request;
        let is_unshared = self.lines.sharer_from(request.line, 0).is_none();
        invariant!(is_unshared, out.at(NAME), "{request}: a line without owner has sharers");
        self.counts.memory_reads += 1;
        out.schedule(CoherentEvent::MemoryRead(request.line), self.layout.timing.memory);
    }

    fn snoop(&mut self, transaction: u32, kind: MessageKind, cache: u16, out: &mut Outbox) {
        let served = self.transactions.get_mut(transaction);
        served.pending += 1;
        let Message { at, line, .. } = served.request;
        let to = self.layout.node_of_cache[cache as usize];
        out.send(Message { kind, cache, thread: 0, from: at, at, to, line, parcel: NO_PARCEL }, 0);
    }

    /// Invalidates every other copy. Without other sharers the request is granted at once.
    fn invalidate(&mut self, transaction: u32, out: &mut Outbox) {
        let Transaction { request, wants_line, .. } = *self.transactions.get(transaction);
        let mut next = self.lines.sharer_from(request.line, 0);
        while let Some(cache) = next {
            next = self.lines.sharer_from(request.line, cache + 1);
            if cache != request.cache {
                self.counts.invalidations += 1;
                self.snoop(transaction, MessageKind::Invalidate { wants_line }, cache, out);
            }
        }
        if self.transactions.get(transaction).pending == 0 {
            self.grant(transaction, out);
        }
    }

    fn answered(&mut self, message: Message, out: &mut Outbox) {
        let transaction = self.lines.get(message.line).transaction;
        let writes = self.transactions.get(transaction).writes;
        let has_line = self.lines.is_shared_by(message.line, message.cache);
        invariant!(
            has_line != writes,
            out.at(NAME),
            "{message}: the cache has the line: {has_line}"
        );
        let source = (message.kind == MessageKind::Data).then_some(message.cache);
        self.one_answer_less(message.line, source, out);
    }

    /// Counts an answer. After the last, the requester gets the line or the permission, and waiting
    /// requests are served.
    fn one_answer_less(&mut self, line: u32, source: Option<u16>, out: &mut Outbox) {
        let transaction = self.lines.get(line).transaction;
        let served = self.transactions.get_mut(transaction);
        invariant!(
            served.pending > 0,
            out.at(NAME),
            "{}: an answer that it does not wait for",
            served.request
        );
        served.pending -= 1;
        // Only the owner sends data; acknowledgements do not change the source.
        served.source = source.unwrap_or(served.source);
        if served.pending == 0 {
            self.grant(transaction, out);
            self.serve_waiting(line, out);
        }
    }

    fn serve_waiting(&mut self, line: u32, out: &mut Outbox) {
        while self.lines.get(line).transaction == IDLE
            && let Some(packet) = out.unpark(&mut self.lines.get_mut(line).waiting)
        {
            let request = *out.message(packet);
            if !self.climbs(packet, request, out) {
                self.begin(packet, request, out);
            }
        }
    }

    /// Grants the request and closes the transaction.
    fn grant(&mut self, transaction: u32, out: &mut Outbox) {
        let Transaction { request, writes, wants_line, source, .. } =
            self.transactions.take(transaction);
        let Message { line, cache: own, at, .. } = request;
        // A line without copies is granted with the right to write it (the E of MESI).
        let exclusive = writes || self.lines.get(line).owner == NO_CACHE;
        let is_safe = !exclusive || self.lines.are_within(line, (own, own + 1));
        invariant!(
            is_safe,
            out.at(NAME),
            "{request}: other caches have a line that this one is to write"
        );
        let known = self.lines.get_mut(line);
        known.transaction = IDLE;
        if exclusive {
            known.owner = own;
        }
        self.lines.add(line, own);
        self.intake.release(at, &request, out.now());
        let (kind, after) = if wants_line {
            (MessageKind::Line { exclusive }, self.layout.passing(source, own))
        } else {
            (MessageKind::Grant { exclusive }, 0)
        };
        // The cache now holds back snoops, because one may overtake the grant.
        out.notices.push(Notice::Coming { cache: own, thread: request.thread });
        out.send(Message { kind, from: at, to: request.from, ..request }, after);
    }

    pub fn assert_idle(&self, now: u64) {
        self.intake.assert_idle(now);
        let open = self.transactions.occupied();
        invariant!(open == 0, at_tick(NAME, now), "the end: {open} transactions are open");
    }
}

#[cfg(test)]
mod tests;
