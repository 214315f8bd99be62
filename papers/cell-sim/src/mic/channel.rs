//! A channel of a memory controller: queues of reads and writes, the data pins, and the banks.

use super::bank::{Bank, BankAccess, BankTiming};
use super::counters::MicCounters;
use crate::event::{CellBeEvent, EventOutbox};
use crate::parameters::CellBeTiming;
use seatmap_data::invariant;
use seatmap_sim::moment::at_cycle;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
struct Waiting {
    transaction: u32,
    bank: u8,
    access: BankAccess,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Reads,
    Writes,
}

impl Side {
    fn other(self) -> Self {
        if self == Side::Reads { Side::Writes } else { Side::Reads }
    }
}

/// A memory channel. It serves the oldest line with a free bank among those at a queue's head. It
/// turns if it can serve no line in its direction, or after a batch if the other direction waits.
#[derive(Clone, Debug)]
pub struct MemoryChannel {
    number: u16,
    line: u64,
    latency: u64,
    /// Lines at the head of each queue from which it chooses.
    window: usize,
    batch: u64,
    to_write: u64,
    to_read: u64,
    to_read_other_set: u64,
    refresh: Refresh,
    read_places: usize,
    write_places: usize,
    banks: Vec<Bank>,
    reads: VecDeque<Waiting>,
    writes: VecDeque<Waiting>,
    /// Reserved entries of the write queue, for commands whose data has not arrived.
    expected: usize,
    free: u64,
    side: Side,
    served: u64,
    last_bank: u8,
    wake: u64,
    counters: MicCounters,
}

#[derive(Clone, Debug)]
struct Refresh {
    interval: u64,
    bank: u64,
    /// Time for which a refresh keeps the channel from opening a row.
    channel: u64,
    banks: usize,
    due: u64,
    first: usize,
}

impl MemoryChannel {
    pub fn new(number: u16, timing: &CellBeTiming) -> Self {
        let banks = (timing.mic_banks / timing.mic_channels) as usize;
        MemoryChannel {
            number,
            line: timing.mic_line,
            latency: timing.mic_latency,
            window: timing.mic_window as usize,
            batch: timing.mic_batch,
            to_write: timing.mic_to_write,
            to_read: timing.mic_to_read,
            to_read_other_set: timing.mic_to_read_other_set,
            refresh: Refresh::new(timing),
            read_places: timing.mic_read_queue as usize,
            write_places: timing.mic_write_queue as usize,
            banks: vec![Bank::new(BankTiming::new(timing)); banks],
            reads: VecDeque::with_capacity(timing.mic_read_queue as usize),
            writes: VecDeque::with_capacity(timing.mic_write_queue as usize),
            expected: 0,
            free: 0,
            side: Side::Reads,
            served: 0,
            last_bank: 0,
            wake: u64::MAX,
            counters: MicCounters::default(),
        }
    }

    pub fn reset(&mut self) {
        self.reads.clear();
        self.writes.clear();
        self.banks.iter_mut().for_each(Bank::reset);
        (self.refresh.due, self.refresh.first) = (self.refresh.interval, 0);
        (self.expected, self.free, self.side, self.served) = (0, 0, Side::Reads, 0);
        (self.last_bank, self.wake) = (0, u64::MAX);
        self.counters = MicCounters::default();
    }

    pub fn read(&mut self, transaction: u32, bank: u8, out: &mut EventOutbox) -> bool {
        if self.reads.len() >= self.read_places {
            self.counters.retries += 1;
            return false;
        }
        self.reads.push_back(Waiting { transaction, bank, access: BankAccess::Read });
        self.serve_soon(out);
        true
    }

    pub fn expect_write(&mut self) -> bool {
        // The entry is reserved from the command's response until the data's arrival over the
        // rings.
        let has_place = self.writes.len() + self.expected < self.write_places;
        self.expected += usize::from(has_place);
        self.counters.retries += u64::from(!has_place);
        has_place
    }

    pub fn write(&mut self, transaction: u32, bank: u8, access: BankAccess, out: &mut EventOutbox) {
        let was_expected = self.expected > 0 && access.writes();
        invariant!(
            was_expected,
            at_cycle(self.name(), out.now()),
            "{access:?} of transaction {transaction} has no place"
        );
        self.expected -= 1;
        self.writes.push_back(Waiting { transaction, bank, access });
        self.serve_soon(out);
    }

    /// Serves now if the pins are free; otherwise a message to itself is pending.
    fn serve_soon(&mut self, out: &mut EventOutbox) {
        if self.wake == u64::MAX {
            self.serve(out);
        } else if self.wake > self.free.max(out.now()) {
            // The new line's bank may be free earlier than the awaited one.
            self.serve(out);
        }
    }

    pub fn turn(&mut self, out: &mut EventOutbox) {
        // Otherwise a later message with an earlier time replaced this one.
        if self.wake == out.now() {
            self.wake = u64::MAX;
            self.serve(out);
        }
    }

    fn serve(&mut self, out: &mut EventOutbox) {
        let now = out.now();
        self.refresh_due(now);
        if self.free <= now {
            match self.choose(now) {
                Some((side, place)) => self.start(side, place, now, out),
                None => return self.wake_at(self.next_bank(), out),
            }
        }
        if !(self.reads.is_empty() && self.writes.is_empty()) {
            self.wake_at(self.free, out);
        }
    }

    fn wake_at(&mut self, time: u64, out: &mut EventOutbox) {
        if time != u64::MAX && time != self.wake {
            self.wake = time;
            out.send(time, CellBeEvent::MemoryTurn(self.number));
        }
    }

    fn next_bank(&self) -> u64 {
        // Only lines at the heads of both queues can be chosen, so other banks do not matter.
        let at_head =
            self.reads.iter().take(self.window).chain(self.writes.iter().take(self.window));
        at_head.map(|waiting| self.banks[waiting.bank as usize].free()).min().unwrap_or(u64::MAX)
    }

    fn choose(&self, now: u64) -> Option<(Side, usize)> {
        // A batch saves turns of the data pins; its end keeps the other direction from starving.
        if self.served >= self.batch {
            self.ready_of(self.side.other(), now).or_else(|| self.ready_of(self.side, now))
        } else {
            self.ready_of(self.side, now).or_else(|| self.ready_of(self.side.other(), now))
        }
    }

    fn ready_of(&self, side: Side, now: u64) -> Option<(Side, usize)> {
        self.ready(side, now).map(|place| (side, place))
    }

    fn ready(&self, side: Side, now: u64) -> Option<usize> {
        let queue = if side == Side::Reads { &self.reads } else { &self.writes };
        let count = queue.len().min(self.window);
        (0..count).find(|place| self.banks[queue[*place].bank as usize].free() <= now)
    }

    fn start(&mut self, side: Side, place: usize, now: u64, out: &mut EventOutbox) {
        let queue = if side == Side::Reads { &mut self.reads } else { &mut self.writes };
        let Some(Waiting { transaction, bank, access }) = queue.remove(place) else { return };
        let begins = now.max(self.free + self.bubble(side, bank));
        self.turn_to(side);
        self.banks[bank as usize].open(begins, access);
        self.last_bank = bank;
        // The line is read over the pins first, and the pins turn for the write.
        let modifies = if access == BankAccess::Modify { self.line + self.to_write } else { 0 };
        self.free = begins + modifies + self.line;
        self.count(access, self.free - begins);
        match access {
            // The pins are free before the data reaches its source: the latency overlaps with the
            // next line.
            BankAccess::Read => {
                out.send(self.free + self.latency, CellBeEvent::DataReady(transaction))
            }
            BankAccess::Write | BankAccess::Modify => {
                out.send(self.free, CellBeEvent::Delivered(transaction))
            }
        }
    }

    fn bubble(&self, side: Side, bank: u8) -> u64 {
        // Neighbouring banks belong to different sets: even and odd.
        let is_same_set = (bank ^ self.last_bank) & 1 == 0;
        match (self.side, side) {
            (Side::Reads, Side::Writes) => self.to_write,
            (Side::Writes, Side::Reads) if is_same_set => self.to_read,
            (Side::Writes, Side::Reads) => self.to_read_other_set,
            _ => 0,
        }
    }

    fn turn_to(&mut self, side: Side) {
        if side == self.side {
            self.served += 1;
        } else {
            (self.side, self.served) = (side, 1);
            self.counters.turns += 1;
        }
    }

    fn count(&mut self, access: BankAccess, cycles: u64) {
        self.counters.busy_cycles += cycles;
        match access {
            BankAccess::Read => self.counters.reads += 1,
            BankAccess::Write => self.counters.writes += 1,
            BankAccess::Modify => {
                self.counters.writes += 1;
                self.counters.modifies += 1;
            }
        }
    }

    /// Performs the due refreshes. On an idle channel only the last has an effect.
    fn refresh_due(&mut self, now: u64) {
        let refresh = &mut self.refresh;
        if refresh.interval == 0 || refresh.due > now {
            return;
        }
        // An idle channel sends itself no messages, so several refreshes may have passed; only the
        // last can still occupy a bank.
        let missed = (now - refresh.due) / refresh.interval;
        let due = refresh.due + missed * refresh.interval;
        let first = (refresh.first + missed as usize * refresh.banks) % self.banks.len();
        let count = self.banks.len();
        let taken = (0..refresh.banks).map(|place| (first + place) % count);
        // All banks of a refresh start together.
        let begins = taken.clone().map(|bank| self.banks[bank].free()).fold(due, u64::max);
        taken.for_each(|bank| self.banks[bank].refresh(begins, refresh.bank));
        self.free = self.free.max(due) + refresh.channel;
        (refresh.due, refresh.first) = (due + refresh.interval, (first + refresh.banks) % count);
        self.counters.refreshes += missed + 1;
    }

    fn name(&self) -> String {
        format!("memory channel {}", self.number)
    }

    pub fn counters(&self) -> &MicCounters {
        &self.counters
    }
}

impl Refresh {
    fn new(timing: &CellBeTiming) -> Self {
        Refresh {
            interval: timing.refresh_interval,
            bank: timing.refresh_bank,
            channel: timing.refresh_channel,
            banks: timing.refresh_banks as usize,
            due: timing.refresh_interval,
            first: 0,
        }
    }
}
