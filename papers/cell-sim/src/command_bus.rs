//! The command network: address concentrators order commands, have them snooped, and combine the
//! responses.
//!
//! Commands go up a [tree](tree) of concentrators, each of which serves its inputs in turn. A
//! command with a slot at the top is reflected to all elements, which snoop it. With two chips a
//! global command needs a slot on both.

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

const RECENT: usize = 1024;
const RECENT_BITS: u32 = RECENT.trailing_zeros();
const NO_LINE: u64 = u64::MAX;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandCounters {
    pub commands: u64,
    pub wait_cycles: u64,
    pub element_wait_cycles: [u64; ELEMENT_COUNT],
    /// Commands delayed or refused for another command in flight to their line.
    pub same_line_commands: u64,
    pub same_line_wait_cycles: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Chip,
    /// Those of both chips: the command crosses the link.
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusCommand {
    pub transaction: u32,
    pub from: RingElement,
    pub reach: Reach,
    pub line: u64,
    pub since: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandResponse {
    Response(u64),
    Retry(u64),
}

#[derive(Clone, Debug)]
struct Chip {
    tree: ConcentratorTree,
    free: u64,
    output: Option<BusCommand>,
}

#[derive(Clone, Debug)]
pub struct CommandBus {
    gap: u64,
    snoop: u64,
    /// Time until a command to a busy line is sent again; 0 if the network holds it until the line
    /// is free.
    retry: u64,
    chips: Vec<Chip>,
    first: usize,
    next: u64,
    /// Recently used lines, each with the time of its last command's response.
    recent: Vec<(u64, u64)>,
    counters: CommandCounters,
}

impl CommandBus {
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

    /// Accepts a command, and returns it if it has its slot now; otherwise the network has a
    /// message to itself pending.
    pub fn send(&mut self, command: BusCommand, out: &mut EventOutbox) -> Option<BusCommand> {
        let chip = command.from.chip as usize;
        // A pending message means waiting commands, which this one must not pass.
        let has_slot = self.next == u64::MAX && self.opens(chip, command.reach) <= out.now();
        if has_slot {
            self.take_slot(chip, &command, out.now());
            return Some(command);
        }
        self.chips[chip].tree.push(command);
        self.turn_at(self.opens(chip, Reach::Chip), out);
        None
    }

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

    /// Handles the message to itself. Returns the commands that have their slot now, at most one
    /// per chip.
    pub fn turn(&mut self, out: &mut EventOutbox) -> [Option<BusCommand>; 2] {
        let now = out.now();
        let mut granted = [None; 2];
        // A later message with an earlier time replaced this one.
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

    fn grant(&mut self, chip: usize, now: u64) -> Option<BusCommand> {
        if self.chips[chip].free > now {
            return None;
        }
        let command = self.chips[chip].output.take().or_else(|| self.chips[chip].tree.pop())?;
        // The command stays in front of the tree, so that no later one passes it.
        if self.opens(chip, command.reach) > now {
            self.chips[chip].output = Some(command);
            return None;
        }
        self.take_slot(chip, &command, now);
        Some(command)
    }

    fn next_slot(&self, chip: usize) -> u64 {
        let reach = self.chips[chip].output.map_or(Reach::Chip, |command| command.reach);
        self.opens(chip, reach)
    }

    /// Answers a command that has its slot now; `crossing` is the extra time for the link. A
    /// command must wait for the response to an earlier command to the same line, because the
    /// address concentrators compare addresses (the PMU's PAAM events).
    pub fn answer(&mut self, now: u64, line: u64, crossing: u64) -> CommandResponse {
        invariant!(line != NO_LINE, at_cycle("the command network", now), "a command has no line");
        let phase = self.snoop + crossing;
        // Fibonacci hashing (Knuth, volume 3, section 6.4).
        let at = (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT_BITS)) as usize;
        let (known, free) = self.recent[at];
        // Of two lines with one entry, the earlier is dropped and delays nothing.
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

pub fn line_of(transaction: &Transaction) -> u64 {
    // Memories, local stores and registers have separate ranges of numbers.
    let store = match transaction.ea {
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
