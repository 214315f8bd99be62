//! The interconnect of a machine: the path of a transaction from its command to its end.
//!
//! (token) -> command network -> snoop -> (memory) -> rings -> (link to the other chip -> its
//! rings) -> target

use crate::CellModel;
use crate::arbiter::{DataArbiter, Grant};
use crate::bif::Bif;
use crate::channels::Ea;
use crate::command_bus::{BusCommand, CommandBus, CommandResponse, Reach, line_of};
use crate::counters::{CellBeCounters, ChipCounters};
use crate::event::{CellBeEvent, EventOutbox};
use crate::mic::Mic;
use crate::parameters::CellBeTiming;
use crate::tokens::Tokens;
use crate::transaction::{
    MappedRegister, RingElement, Transaction, TransactionPurpose, Transactions,
};
use seatmap_data::invariant::broken;
use seatmap_sim::moment::at_cycle;

#[derive(Clone, Debug)]
struct Chip {
    arbiter: DataArbiter,
    mic: Mic,
    memory: RingElement,
    bif: RingElement,
}

#[derive(Clone, Debug)]
pub struct Interconnect {
    transactions: Transactions,
    tokens: Tokens,
    commands: CommandBus,
    chips: Vec<Chip>,
    link: Bif,
    channels: u64,
    mic_retry: u64,
    register: u64,
    signal: u64,
    signal_far: u64,
}

impl Interconnect {
    pub fn new(model: &CellModel, timing: &CellBeTiming) -> Self {
        Interconnect {
            transactions: Transactions::default(),
            tokens: Tokens::new(timing),
            commands: CommandBus::new(model.chips, node(model, 0, "PPE").element.into(), timing),
            chips: (0..model.chips as u8)
                .map(|chip| {
                    let memory = node(model, chip, "MIC");
                    let bif = node(model, chip, "BIF");
                    let arbiter = DataArbiter::new(chip, memory.element.into(), timing);
                    Chip { arbiter, mic: Mic::new(chip, timing), memory, bif }
                })
                .collect(),
            link: Bif::new(model.chips, timing),
            channels: timing.mic_channels,
            mic_retry: timing.mic_retry,
            register: timing.register,
            signal: timing.signal,
            signal_far: timing.signal_far,
        }
    }

    pub fn reset(&mut self) {
        self.transactions.clear();
        self.tokens.reset();
        self.commands.reset();
        self.link.reset();
        for chip in &mut self.chips {
            chip.arbiter.reset();
            chip.mic.reset();
        }
    }

    pub fn memory(&self, chip: u8) -> RingElement {
        self.chips[chip as usize].memory
    }

    pub fn bif(&self, chip: u8) -> RingElement {
        self.chips[chip as usize].bif
    }

    /// Sends a transaction's command now, or when it gets a token.
    pub fn begin(&mut self, transaction: Transaction, out: &mut EventOutbox) {
        let time = self.tokens.take(&transaction, out.now());
        let id = self.transactions.add(transaction);
        if time == out.now() {
            self.command(id, out)
        } else {
            out.send(time, CellBeEvent::Command(id))
        }
    }

    pub fn begin_at(&mut self, time: u64, transaction: Transaction, out: &mut EventOutbox) {
        let time = self.tokens.take(&transaction, time);
        let id = self.transactions.add(transaction);
        out.send(time, CellBeEvent::Command(id));
    }

    /// Sends a transaction's command: to both chips' networks if it addresses memory or the other
    /// chip.
    pub fn command(&mut self, id: u32, out: &mut EventOutbox) {
        let now = out.now();
        let transaction = self.transactions.get(id, now);
        let own = transaction.requester.chip;
        // Only the end other than the requester can be on the other chip.
        let other = if transaction.purpose == TransactionPurpose::Get {
            transaction.source
        } else {
            transaction.target
        };
        let is_global = other.chip != own || matches!(transaction.ea, Ea::Memory { .. });
        // Both chips must snoop a line of memory, because caches of either chip may have it.
        let reach = if is_global && self.chips.len() > 1 { Reach::Both } else { Reach::Chip };
        let from = transaction.requester;
        let line = line_of(transaction);
        let command = BusCommand { transaction: id, from, reach, line, since: now };
        if let Some(command) = self.commands.send(command, out) {
            self.answer(&command, out);
        }
    }

    pub fn command_turn(&mut self, out: &mut EventOutbox) {
        for command in self.commands.turn(out).into_iter().flatten() {
            self.answer(&command, out);
        }
    }

    fn answer(&mut self, command: &BusCommand, out: &mut EventOutbox) {
        let now = out.now();
        let crossing = if command.reach == Reach::Both { self.link.carry_command(now) } else { 0 };
        match self.commands.answer(now, command.line, crossing) {
            CommandResponse::Response(time) => {
                out.send(time, CellBeEvent::Response(command.transaction))
            }
            CommandResponse::Retry(time) => {
                out.send(time, CellBeEvent::Command(command.transaction))
            }
        }
    }

    pub fn transaction(&self, id: u32, now: u64) -> &Transaction {
        self.transactions.get(id, now)
    }

    /// Fetches a transaction's data at its source; memory may have to read it first.
    pub fn fetch(&mut self, id: u32, out: &mut EventOutbox) {
        let now = out.now();
        let Transaction { source, ea, .. } = *self.transactions.get(id, now);
        let chip = &mut self.chips[source.chip as usize];
        if source != chip.memory {
            return self.data_ready(id, out);
        }
        // A full queue causes a retry: the whole command is sent and snooped again.
        if !chip.mic.read(id, ea.offset(), out) {
            out.send(now + self.mic_retry, CellBeEvent::Command(id));
        }
    }

    /// Announces a transaction's data to its target, and queues it for the rings. If the target is
    /// full memory, the command is sent again.
    pub fn announce(&mut self, id: u32, out: &mut EventOutbox) {
        let Transaction { target, ea, .. } = *self.transactions.get(id, out.now());
        let chip = &mut self.chips[target.chip as usize];
        if target != chip.memory || chip.mic.expect_write(ea.offset()) {
            self.data_ready(id, out);
        } else {
            out.send(out.now() + self.mic_retry, CellBeEvent::Command(id));
        }
    }

    pub fn memory_turn(&mut self, channel: u16, out: &mut EventOutbox) {
        let each = self.channels as u16;
        self.chips[usize::from(channel / each)].mic.turn(usize::from(channel % each), out);
    }

    /// Fetches a transaction's data from another element than its command's.
    pub fn fetch_from(&mut self, id: u32, source: RingElement, out: &mut EventOutbox) {
        self.transactions.set_source(id, source, out.now());
        self.fetch(id, out);
    }

    /// Queues a transaction's data for the rings; the data is at its source.
    pub fn data_ready(&mut self, id: u32, out: &mut EventOutbox) {
        let Transaction { source, target, .. } = *self.transactions.get(id, out.now());
        self.enter(id, source, target, out);
    }

    fn enter(&mut self, id: u32, from: RingElement, target: RingElement, out: &mut EventOutbox) {
        let chip = &mut self.chips[from.chip as usize];
        let to = if target.chip == from.chip { target } else { chip.bif };
        if to == from {
            // The route is empty: the target is the link's own element.
            out.send(out.now(), CellBeEvent::LeftRing(id));
        } else {
            chip.arbiter.request(id, from.element.into(), to.element.into(), out);
        }
    }

    pub fn arbitrate(&mut self, chip: u8, out: &mut EventOutbox) {
        self.chips[chip as usize].arbiter.arbitrate(out);
    }

    /// The transfers that a chip's arbiter started last, with their transactions.
    pub fn granted(&self, chip: u8, now: u64) -> impl Iterator<Item = (Grant, Transaction)> {
        let granted = self.chips[chip as usize].arbiter.granted().iter();
        granted.map(move |grant| (*grant, *self.transactions.get(grant.transaction, now)))
    }

    /// Handles data that has left the rings. Returns whether the transaction is complete.
    pub fn left_ring(&mut self, id: u32, out: &mut EventOutbox) -> bool {
        let now = out.now();
        let Transaction { purpose, requester, source, target, size, ea, .. } =
            *self.transactions.get(id, now);
        if source.chip != target.chip {
            out.send(self.link.carry_data(now, source.chip, size), CellBeEvent::CrossedLink(id));
            return false;
        }
        let chip = &mut self.chips[target.chip as usize];
        match purpose {
            TransactionPurpose::Put if target == chip.memory => {
                chip.mic.write(id, ea.offset(), size, out)
            }
            TransactionPurpose::Message(register) => {
                let cycles = self.register_cycles(register, requester.chip != target.chip);
                out.send(now + cycles, CellBeEvent::Delivered(id));
            }
            TransactionPurpose::Get | TransactionPurpose::Put | TransactionPurpose::Reserve => {
                return true;
            }
            // Plural: "moves" is a verb here.
            TransactionPurpose::Claim => {
                broken(at_cycle(NAME, now), format_args!("a claim of {requester:?} moves data"))
            }
        }
        false
    }

    pub fn crossed_link(&mut self, id: u32, out: &mut EventOutbox) {
        let target = self.transactions.get(id, out.now()).target;
        let entry = self.bif(target.chip);
        // From now on, the link is the source: `left_ring` compares the chips of source and target
        // to find whether the data has crossed.
        self.transactions.set_source(id, entry, out.now());
        self.enter(id, entry, target, out);
    }

    fn register_cycles(&self, register: MappedRegister, is_far: bool) -> u64 {
        match register {
            MappedRegister::Mailbox => self.register,
            MappedRegister::Signal(_) if is_far => self.register + self.signal + self.signal_far,
            MappedRegister::Signal(_) => self.register + self.signal,
        }
    }

    pub fn finish(&mut self, id: u32, now: u64) -> Transaction {
        self.transactions.remove(id, now)
    }

    pub fn count(&self, names: &[String]) -> CellBeCounters {
        let commands = self.commands.counters();
        let link = self.link.counters();
        CellBeCounters {
            commands: commands.commands,
            command_wait_cycles: commands.wait_cycles,
            same_line_commands: commands.same_line_commands,
            same_line_wait_cycles: commands.same_line_wait_cycles,
            bif_bytes: link.bytes,
            bif_busy_cycles: link.busy_cycles,
            chips: self
                .chips
                .iter()
                .map(|chip| {
                    ChipCounters::new(&chip.arbiter.counters(), &chip.mic.counters(), names)
                })
                .collect(),
            ..CellBeCounters::default()
        }
    }
}

const NAME: &str = "the interconnect";

/// The element of a chip with this name; every checked model has one.
pub fn node(model: &CellModel, chip: u8, name: &str) -> RingElement {
    match model.ring.iter().position(|element| element == name) {
        Some(element) => RingElement { chip, element: element as u8 },
        None => broken(
            at_cycle(NAME, 0),
            format_args!("the ring of {} has no {name}; only checked models can run", model.name),
        ),
    }
}

#[cfg(test)]
mod tests;
