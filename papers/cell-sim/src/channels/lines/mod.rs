//! Channels on cache lines, for all machines with coherent memory instead of mailboxes.

mod access;
mod bytes;
mod lane;
mod layout;
mod on_lines;
mod outbox;
mod signals;

pub use access::{ChannelLines, PortLines, ValueChange};
pub use layout::{ChannelLayout, TooLarge};
pub use on_lines::OnLines;

use super::{Atomic, Channels, DmaError, Ea, Element, OsService, SignalNumber, TransferOrder, dma};
use bytes::WordBytes;
use lane::MailLane;
use outbox::OutboxWriter;
use seatmap_data::port::{Addr, Port};
use seatmap_sim::engine::TaskRefusal;
use std::any::Any;
use std::cell::Cell;

/// Clock ticks per decrementer tick, as a power of two. With a 3 GHz counter, the decrementer ticks
/// every 11 ns and wraps around after 46 s; the Cell's ticks every 70 ns and wraps after five
/// minutes.
pub const DECREMENTER_SHIFT: u32 = 5;

/// The panic payload of a task that stops because another task failed.
///
/// A caller that runs workloads can unwind with it too, from a wait for a failed task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartnerFailure;

/// [`Channels`] of one task, on cache lines.
///
/// Mailboxes keep the order of each sender's messages, but not between senders, and hold four
/// entries for each sender. Transfers are complete when they return, so waits for tags and orders
/// have no effect. A transfer that breaks the rules unwinds with its [`DmaError`] as a
/// [`TaskRefusal`], which the machine catches ([`refused`]).
pub struct LineChannels<'a, L> {
    lines: &'a L,
    layout: ChannelLayout,
    rank: usize,
    lanes: Vec<MailLane>,
    newest: Cell<usize>,
    outbox: OutboxWriter,
    registers: [signals::SignalLine; 2],
    signals_sent: Cell<u32>,
}

impl<'a, L: ChannelLines> LineChannels<'a, L> {
    /// Creates a task's channels.
    pub fn new(lines: &'a L, layout: ChannelLayout, rank: usize) -> Self {
        let shape = layout.shape();
        LineChannels {
            lines,
            layout,
            rank,
            lanes: (0..shape.tasks)
                .map(|other| MailLane::new(layout.lane(rank, other), layout.lane(other, rank)))
                .collect(),
            // Before the first message, the partner is most likely task 0, or task 1 for task 0.
            newest: Cell::new(if rank == 0 { shape.tasks.saturating_sub(1).min(1) } else { 0 }),
            outbox: OutboxWriter::new(layout.outbox(rank)),
            registers: [SignalNumber::One, SignalNumber::Two].map(|which| {
                signals::SignalLine::new(layout.signal(rank, which), shape.signals_or)
            }),
            signals_sent: Cell::new(0),
        }
    }

    #[inline(always)]
    fn port(&self) -> &'a L::Port {
        self.lines.port()
    }

    #[cold]
    fn refuse(&self, error: DmaError) -> ! {
        std::panic::resume_unwind(Box::new(TaskRefusal(Box::new(error))))
    }

    #[inline(always)]
    fn lane(&self, other: usize) -> &MailLane {
        match self.lanes.get(other) {
            Some(lane) => lane,
            None => self.refuse(DmaError::Rank { rank: other, tasks: self.lanes.len() }),
        }
    }

    /// Ends this task if another has failed: a loop of transfers can be a wait too.
    fn end_with_others(&self) {
        if self.port().load(self.layout.ended()) != 0 {
            std::panic::resume_unwind(Box::new(PartnerFailure));
        }
    }

    fn own(&self, local: u32, size: u64) -> Result<WordBytes, DmaError> {
        within("the local store side", local, size, self.layout.shape().local_bytes)?;
        Ok(WordBytes::new(self.layout.local(self.rank), local))
    }

    fn at(&self, ea: Ea, size: u32) -> Result<WordBytes, DmaError> {
        let shape = self.layout.shape();
        let modules = self.layout.modules();
        match ea {
            Ea::Memory { module, .. } if usize::from(module) >= modules => {
                Err(DmaError::Module { module: module.into(), modules })
            }
            Ea::Local { rank, .. } if usize::from(rank) >= shape.tasks => {
                Err(DmaError::Rank { rank: rank.into(), tasks: shape.tasks })
            }
            Ea::Memory { module, offset } => {
                within("the memory side", offset, size.into(), shape.memory_bytes)?;
                Ok(WordBytes::new(self.layout.memory(module.into()), offset))
            }
            Ea::Local { rank, offset } => {
                within("the far local store side", offset, size.into(), shape.local_bytes)?;
                Ok(WordBytes::new(self.layout.local(rank.into()), offset))
            }
        }
    }

    fn sides(&self, local: u32, ea: Ea, size: u32, tag: u8) -> (WordBytes, WordBytes) {
        self.end_with_others();
        // Size, alignment and tag are checked before the addresses.
        let sides = dma::check(local, ea, size, tag)
            .and_then(|()| Ok((self.own(local, size.into())?, self.at(ea, size)?)));
        sides.unwrap_or_else(|error| self.refuse(error))
    }

    fn elements<'e>(
        &self,
        local: u32,
        list: &'e [Element],
    ) -> impl Iterator<Item = (u32, &'e Element)> + use<'e, L> {
        if list.is_empty() || list.len() > dma::LONGEST_LIST {
            self.refuse(DmaError::List(list.len()));
        }
        // Elements are consecutive in the local store, independent of their other addresses.
        list.iter().scan(local, |next, element| {
            let local = *next;
            *next = next.saturating_add(element.size);
            Some((local, element))
        })
    }

    fn atomic_word(&self, at: Ea) -> WordBytes {
        self.end_with_others();
        self.atomic_word_of(at).unwrap_or_else(|error| self.refuse(error))
    }

    fn atomic_word_of(&self, at: Ea) -> Result<WordBytes, DmaError> {
        match at {
            Ea::Memory { offset, .. } if offset.is_multiple_of(4) => self.at(at, 4),
            _ => Err(DmaError::Atomic(at)),
        }
    }

    fn register_of(&self, rank: usize, register: SignalNumber) -> Addr {
        // Rejects an unknown rank.
        self.lane(rank);
        self.layout.signal(rank, register)
    }

    /// Polls all lanes in turn, starting after the last successful one, so that no sender starves.
    fn poll(&self) -> u32 {
        let tasks = self.lanes.len();
        loop {
            for from in (1..=tasks)
                .map(|further| (self.newest.get() + further) % tasks)
                .filter(|at| *at != self.rank)
            {
                if let Some(value) = self.lanes[from].try_receive(self.port()) {
                    self.newest.set(from);
                    return value;
                }
            }
            self.port().pause();
        }
    }
}

/// The rejected transfer in a panic payload, if any.
pub fn refused(payload: &(dyn Any + Send)) -> Option<&DmaError> {
    payload.downcast_ref::<TaskRefusal>()?.0.downcast_ref()
}

fn within(what: &'static str, offset: u32, bytes: u64, size: u32) -> Result<(), DmaError> {
    let end = u64::from(offset) + bytes;
    let size = u64::from(size);
    if end > size { Err(DmaError::Beyond { what, end, size }) } else { Ok(()) }
}

impl<L: ChannelLines> Channels for LineChannels<'_, L> {
    fn peek(&self, local: u32, bytes: &mut [u8]) {
        match self.own(local, bytes.len() as u64) {
            Ok(own) => own.read(self.port(), bytes),
            Err(error) => self.refuse(error),
        }
    }

    fn poke(&self, local: u32, bytes: &[u8]) {
        match self.own(local, bytes.len() as u64) {
            Ok(own) => own.write(self.port(), bytes),
            Err(error) => self.refuse(error),
        }
    }

    fn get(&self, local: u32, from: Ea, size: u32, tag: u8, _order: TransferOrder) {
        let (own, other) = self.sides(local, from, size, tag);
        WordBytes::copy(self.port(), other, own, size);
    }

    fn put(&self, local: u32, to: Ea, size: u32, tag: u8, _order: TransferOrder) {
        let (own, other) = self.sides(local, to, size, tag);
        WordBytes::copy(self.port(), own, other, size);
    }

    fn get_list(&self, local: u32, from: &[Element], tag: u8, order: TransferOrder) {
        self.elements(local, from)
            .for_each(|(local, element)| self.get(local, element.ea, element.size, tag, order));
    }

    fn put_list(&self, local: u32, to: &[Element], tag: u8, order: TransferOrder) {
        self.elements(local, to)
            .for_each(|(local, element)| self.put(local, element.ea, element.size, tag, order));
    }

    fn wait_tags(&self, _tags: u32) {}

    #[inline(always)]
    fn mailbox_write(&self, to: usize, value: u32) {
        self.lane(to).send(self.port(), value);
    }

    #[inline(always)]
    fn mailbox_read(&self) -> u32 {
        let own = &self.lanes[self.rank];
        match self.lanes.len() {
            _ if own.is_waiting_for_itself() => own.receive(self.port()),
            // With one other task, wait on its lane: machines wait better than they poll.
            2 => self.lanes[1 - self.rank].receive(self.port()),
            _ => self.poll(),
        }
    }

    #[inline]
    fn outbox_write(&self, value: u32) {
        self.outbox.write(self.port(), &self.lanes[self.newest.get()], value);
    }

    #[inline]
    fn outbox_read(&self, from: usize) -> u32 {
        let lane = self.lane(from);
        let (value, taken) = outbox::read(self.port(), self.layout.outbox(from));
        lane.note_taken(self.port(), taken);
        value
    }

    #[inline]
    fn signal(&self, to: usize, register: SignalNumber, value: u32) {
        let word = self.register_of(to, register);
        if self.layout.shape().signals_or {
            return signals::gather(self.port(), word, value);
        }
        self.signals_sent.set(self.signals_sent.get().wrapping_add(1));
        signals::overwrite(self.port(), word, self.rank, self.signals_sent.get(), value);
    }

    #[inline]
    fn signal_read(&self, register: SignalNumber) -> u32 {
        self.registers[register as usize].read(self.port())
    }

    fn atomic(&self, operation: Atomic, at: Ea, value: u32) -> u32 {
        let word = self.atomic_word(at);
        let (at, is_upper) = word.half();
        match operation {
            Atomic::Add => self.lines.change_half(at, is_upper, ValueChange::Add(value)),
            Atomic::Set => self.lines.change_half(at, is_upper, ValueChange::Set(value)),
            Atomic::Read => word.read_u32(self.port()),
        }
    }

    fn atomic_times(&self, operation: Atomic, at: Ea, value: u32, times: u64) {
        let change = match operation {
            Atomic::Add => Some(ValueChange::Add(value)),
            Atomic::Set => Some(ValueChange::Set(value)),
            Atomic::Read => None,
        };
        // On a simulator, `atomic` is called each time, because checks for failed tasks take
        // simulated time.
        let is_done = change.is_some_and(|change| {
            let (at, is_upper) =
                self.atomic_word_of(at).unwrap_or_else(|error| self.refuse(error)).half();
            self.lines.change_half_times(at, is_upper, change, times)
        });
        if !is_done {
            (0..times).for_each(|_| _ = self.atomic(operation, at, value));
        }
    }

    fn decrementer(&self) -> u32 {
        0u32.wrapping_sub((self.port().stamp().ticks >> DECREMENTER_SHIFT) as u32)
    }

    #[inline]
    fn cycles(&self) -> u64 {
        self.port().stamp().ticks
    }

    fn compute(&self, cycles: u64) {
        self.port().compute(cycles);
    }

    fn service(&self, _service: OsService) {}

    fn begin_together(&self, tasks: usize) {
        self.lines.begin_together(tasks);
    }

    fn keep_on(&self, tasks: usize, operation: &mut dyn FnMut()) -> Option<u64> {
        self.lines.keep_on(tasks, operation)
    }
}
