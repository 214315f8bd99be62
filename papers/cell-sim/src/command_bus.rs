//! The command network: address concentrators, which order commands, have them snooped, and combine
//! the responses.
//!
//! Commands go up a [tree](tree) of concentrators, each of which serves its inputs in turn. A
//! command that has its slot at the top is reflected to all elements, which snoop it. On a machine
//! with two chips a global command needs a slot on both.

mod tree;

use crate::channels::Ea;
use crate::event::{CellBeEvent, EventOutbox};
use crate::memory::LINE_BYTES;
use crate::parameters::CellBeTiming;
use crate::ring::ELEMENT_COUNT;
use crate::transaction::{RingElement, Transaction, TransactionPurpose};
use seatmap_data::invariant;
use seatmap_sim::moment::at_cycle;
use tree::ConcentratorTree;

/// Lines whose last command is remembered.
const RECENT: usize = 1024;
/// Bits of a table position.
const RECENT_BITS: u32 = RECENT.trailing_zeros();
/// No line has this number.
const NO_LINE: u64 = u64::MAX;

/// Counts of the command network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandCounters {
    /// Commands sent.
    pub commands: u64,
    /// Core cycles for which commands waited for their slot.
    pub wait_cycles: u64,
    /// Core cycles of waiting by the element that sent the command, of all chips together.
    pub element_wait_cycles: [u64; ELEMENT_COUNT],
    /// Commands held back or refused because another command to their line was under way.
    pub same_line_commands: u64,
    /// Core cycles for which they were held back.
    pub same_line_wait_cycles: u64,
}

/// The concentrators that order a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The concentrators of the sender's chip.
    Chip,
    /// The concentrators of both chips: the command crosses the link between them.
    Both,
}

/// A command on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusCommand {
    pub transaction: u32,
    /// The element that sends it.
    pub from: RingElement,
    pub reach: Reach,
    /// The [line](line_of) that it names.
    pub line: u64,
    /// When it was sent.
    pub since: u64,
}

/// The answer to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandResponse {
    /// The combined response, which is back at this time.
    Response(u64),
    /// A retry, after which the command is sent again at this time.
    Retry(u64),
}

/// A chip's part of the network.
#[derive(Clone, Debug)]
struct Chip {
    tree: ConcentratorTree,
    /// When it takes its next command.
    free: u64,
    /// A command that has won on the tree, and waits until both chips are free.
    output: Option<BusCommand>,
}

/// The command network of all chips.
#[derive(Clone, Debug)]
pub struct CommandBus {
    gap: u64,
    snoop: u64,
    /// Time until a command to a busy line is sent again; 0 if it is held until the line is free.
    retry: u64,
    chips: Vec<Chip>,
    /// The chip that is served first.
    first: usize,
    /// The time of the next message to itself; `u64::MAX` for none.
    next: u64,
    /// Lines to which commands went lately, with the time at which the last command had its
    /// response.
    recent: Vec<(u64, u64)>,
    counters: CommandCounters,
}

impl CommandBus {
    /// The network of these chips, on whose rings the PPE is the element `ppe`.
    pub fn new(chips: usize, ppe: usize, timing: &CellBeTiming) -> Self {
        let tree = ConcentratorTree::new(ppe, timing.concentrator_levels as usize);
        CommandBus {
            gap: timing.command_gap,
            snoop: timing.snoop,
            retry: timing.command_retry,
            chips: vec![Chip { tree, free: 0, output: None }; chips],
            first: 0,
            next: u64::MAX,
            recent: vec![(NO_LINE, 0); RECENT],
            counters: CommandCounters::default(),
        }
    }

    /// Takes a command. Returns it if it has its slot now; otherwise it waits, and a message to the
    /// network is under way.
    pub fn send(&mut self, command: BusCommand, out: &mut EventOutbox) -> Option<BusCommand> {
        let chip = command.from.chip as usize;
        // While a message is under way, earlier commands wait for their turn: this one must not
        // pass them.
        let has_slot = self.next == u64::MAX && self.opens(chip, command.reach) <= out.now();
        if has_slot {
            self.take_slot(chip, &command, out.now());
            return Some(command);
        }
        self.chips[chip].tree.push(command);
        self.turn_at(self.opens(chip, Reach::Chip), out);
        None
    }

    /// When a chip can take a command of this reach.
    fn opens(&self, chip: usize, reach: Reach) -> u64 {
        match reach {
            Reach::Chip => self.chips[chip].free,
            Reach::Both => self.chips.iter().map(|chip| chip.free).fold(0, u64::max),
        }
    }

    fn take_slot(&mut self, chip: usize, command: &BusCommand, now: u64) {
        let until = now + self.gap;
        match command.reach {
            Reach::Chip => self.chips[chip].free = until,
            Reach::Both => {
                self.chips.iter_mut().for_each(|chip| chip.free = until);
                // The next command of both chips may be the other chip's.
                self.first = (chip + 1) % self.chips.len();
            }
        }
        self.counters.commands += 1;
        self.counters.wait_cycles += now - command.since;
        self.counters.element_wait_cycles[command.from.element as usize] += now - command.since;
    }

    fn turn_at(&mut self, time: u64, out: &mut EventOutbox) {
        let time = time.max(out.now());
        if time < self.next {
            self.next = time;
            out.send(time, CellBeEvent::CommandTurn);
        }
    }

    /// Handles the message to itself. Returns the commands that have their slot now, one of a chip
    /// at most.
    pub fn turn(&mut self, out: &mut EventOutbox) -> [Option<BusCommand>; 2] {
        let now = out.now();
        let mut granted = [None; 2];
        // An earlier message may have replaced this one.
        if self.next != now {
            return granted;
        }
        self.next = u64::MAX;
        let count = self.chips.len();
        for (place, chip) in (self.first..self.first + count).map(|chip| chip % count).enumerate() {
            granted[place] = self.grant(chip, now);
        }
        let waiting = (0..count).filter(|chip| self.chips[*chip].has_commands());
        if let Some(next) = waiting.map(|chip| self.next_slot(chip)).min() {
            self.turn_at(next, out);
        }
        granted
    }

    /// The command that a chip takes now, if there is one.
    fn grant(&mut self, chip: usize, now: u64) -> Option<BusCommand> {
        if self.chips[chip].free > now {
            return None;
        }
        let command = self.chips[chip].output.take().or_else(|| self.chips[chip].tree.pop())?;
        // It stays in front of the tree until both chips are free, so that no later command passes
        // it.
        if self.opens(chip, command.reach) > now {
            self.chips[chip].output = Some(command);
            return None;
        }
        self.take_slot(chip, &command, now);
        Some(command)
    }

    /// When a chip with waiting commands can take one.
    fn next_slot(&self, chip: usize) -> u64 {
        let reach = self.chips[chip].output.map_or(Reach::Chip, |command| command.reach);
        self.opens(chip, reach)
    }

    /// The answer to a command that has its slot now, and takes these cycles longer for crossing
    /// the link. A command to a line whose earlier command has had no response yet must wait: the
    /// address concentrators compare addresses (the PMU's PAAM events).
    pub fn answer(&mut self, now: u64, line: u64, crossing: u64) -> CommandResponse {
        invariant!(line != NO_LINE, at_cycle("the command network", now), "a command has no line");
        let phase = self.snoop + crossing;
        // Fibonacci hashing (Knuth, volume 3, section 6.4).
        let at = (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT_BITS)) as usize;
        let (known, free) = self.recent[at];
        // Two lines can share a place: then the earlier one is forgotten, and nothing waits for it.
        let begin = if known == line { now.max(free) } else { now };
        self.counters.same_line_commands += u64::from(begin > now);
        if begin > now && self.retry > 0 {
            return CommandResponse::Retry(now + phase + self.retry);
        }
        self.counters.same_line_wait_cycles += begin - now;
        self.recent[at] = (line, begin + phase);
        CommandResponse::Response(begin + phase)
    }

    pub fn counters(&self) -> &CommandCounters {
        &self.counters
    }

    /// Forgets all commands and counts.
    pub fn reset(&mut self) {
        for chip in &mut self.chips {
            (chip.free, chip.output) = (0, None);
            chip.tree.reset();
        }
        (self.first, self.next) = (0, u64::MAX);
        self.recent.fill((NO_LINE, 0));
        self.counters = CommandCounters::default();
    }
}

impl Chip {
    fn has_commands(&self) -> bool {
        self.output.is_some() || !self.tree.is_empty()
    }
}

/// The number of the line that a transaction's command names.
pub fn line_of(transaction: &Transaction) -> u64 {
    // Memories, local stores and registers have ranges of numbers of their own.
    let store = match transaction.ea {
        // Registers of one SPE are lines of their own.
        Ea::Local { rank, .. } if matches!(transaction.purpose, TransactionPurpose::Message(_)) => {
            0x2_0000 + u64::from(rank)
        }
        Ea::Local { rank, .. } => 0x1_0000 + u64::from(rank),
        Ea::Memory { module, .. } => u64::from(module),
    };
    store << 32 | u64::from(transaction.ea.offset() / LINE_BYTES)
}

#[cfg(test)]
mod tests;
