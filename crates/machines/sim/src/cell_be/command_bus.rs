//! The command network: address concentrators, which order commands, have them snooped, and combine the responses.

use crate::cell_be::invariant::invariant;
use crate::cell_be::memory::LINE_BYTES;
use crate::cell_be::parameters::Timing;
use crate::cell_be::transaction::{Purpose, Transaction};
use seatmap_port::channels::Ea;

/// Sets of lines whose last command is remembered.
const SETS: usize = 512;
/// Bits of a set's number.
const SET_BITS: u32 = SETS.trailing_zeros();
/// Lines of a set. All SPEs of two chips have at most 256 lines under way, so that no set is full of them: a line that
/// is forgotten has had its response.
const WAYS: usize = 8;
/// No line has this number.
const NO_LINE: u64 = u64::MAX;

/// Counts of the command network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandCounters {
    /// Commands sent.
    pub commands: u64,
    /// Core cycles for which commands waited for their slot.
    pub wait_cycles: u64,
    /// Commands held back because another command to their line was under way.
    pub same_line_commands: u64,
    /// Core cycles for which they were held back.
    pub same_line_wait_cycles: u64,
}

/// The concentrators that order a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The concentrators of one chip.
    Chip(u8),
    /// The concentrators of both chips. The response takes this many more core cycles, for crossing the link.
    Both { crossing: u64 },
}

/// The command network of all chips.
#[derive(Clone, Debug)]
pub struct CommandBus {
    gap: u64,
    snoop: u64,
    /// When each chip takes its next command.
    free: Vec<u64>,
    /// Lines to which commands went lately, with the time at which the last command had its response.
    recent: Vec<[(u64, u64); WAYS]>,
    counters: CommandCounters,
}

impl CommandBus {
    pub fn new(chips: usize, timing: &Timing) -> Self {
        CommandBus {
            gap: timing.command_gap,
            snoop: timing.snoop,
            free: vec![0; chips],
            recent: vec![[(NO_LINE, 0); WAYS]; SETS],
            counters: CommandCounters::default(),
        }
    }

    /// Sends a command to a [line](line_of). Returns the time at which its combined response is back.
    pub fn send(&mut self, now: u64, reach: Reach, line: u64) -> u64 {
        let start = self.slot(now, reach);
        let crossing = if let Reach::Both { crossing } = reach { crossing } else { 0 };
        self.counters.commands += 1;
        self.counters.wait_cycles += start - now;
        self.after_same_line(start, line, self.snoop + crossing)
    }

    /// The next slot of the concentrators, which take one command after the other.
    fn slot(&mut self, now: u64, reach: Reach) -> u64 {
        let chips = match reach {
            Reach::Chip(chip) => &mut self.free[chip as usize..=chip as usize],
            Reach::Both { .. } => &mut self.free[..],
        };
        let start = chips.iter().copied().fold(now, u64::max);
        chips.fill(start + self.gap);
        start
    }

    /// The time at which a command gets its response. A command to a line whose earlier command has had no response
    /// yet is refused, and sent again until it has: the address concentrators compare addresses (the PMU's PAAM
    /// events).
    fn after_same_line(&mut self, start: u64, line: u64, phase: u64) -> u64 {
        invariant!(line != NO_LINE, "the command network", start, "a command has no line");
        // Fibonacci hashing (Knuth, volume 3, section 6.4).
        let set = &mut self.recent[(line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SET_BITS)) as usize];
        let known = set.iter().position(|(known, _)| *known == line);
        let begin = known.map_or(start, |at| start.max(set[at].1));
        self.counters.same_line_commands += u64::from(begin > start);
        self.counters.same_line_wait_cycles += begin - start;
        let oldest = || (0..WAYS).min_by_key(|at| set[*at].1).unwrap_or(0);
        let at = known.unwrap_or_else(oldest);
        set[at] = (line, begin + phase);
        begin + phase
    }

    pub fn counters(&self) -> &CommandCounters {
        &self.counters
    }

    /// Forgets all commands and counts.
    pub fn reset(&mut self) {
        self.free.fill(0);
        self.recent.fill([(NO_LINE, 0); WAYS]);
        self.counters = CommandCounters::default();
    }
}

/// The number of the line that a transaction's command names.
pub fn line_of(transaction: &Transaction) -> u64 {
    let store = match transaction.ea {
        // Registers of one SPE are lines of their own.
        Ea::Local { rank, .. } if matches!(transaction.purpose, Purpose::Message(_)) => 0x2_0000 + u64::from(rank),
        Ea::Local { rank, .. } => 0x1_0000 + u64::from(rank),
        Ea::Memory { module, .. } => u64::from(module),
    };
    store << 32 | u64::from(transaction.ea.offset() / LINE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use proptest::prelude::*;

    fn bus() -> (CommandBus, Timing) {
        let timing = Timing::new(&catalog::cell("cell-qs20").unwrap().unwrap());
        (CommandBus::new(2, &timing), timing)
    }

    #[test]
    fn a_chip_takes_one_command_a_slot() {
        let (mut bus, timing) = bus();
        let (gap, snoop) = (timing.command_gap, timing.snoop);
        assert_eq!(bus.send(10, Reach::Chip(0), 1), 10 + snoop);
        assert_eq!(bus.send(10, Reach::Chip(0), 2), 10 + gap + snoop);
        assert_eq!(bus.send(10, Reach::Chip(1), 3), 10 + snoop, "the other chip has slots of its own");
        assert_eq!(bus.send(10, Reach::Both { crossing: 440 }, 4), 10 + 2 * gap + snoop + 440);
        assert_eq!(bus.send(10, Reach::Chip(1), 5), 10 + 3 * gap + snoop, "a command to both takes both chips' slots");
        assert_eq!((bus.counters().commands, bus.counters().wait_cycles), (5, 6 * gap));
    }

    #[test]
    fn commands_to_one_line_follow_each_other() {
        let (mut bus, timing) = bus();
        let first = bus.send(0, Reach::Chip(0), 7);
        assert_eq!(bus.send(0, Reach::Chip(0), 7), first + timing.snoop);
        assert_eq!(bus.counters().same_line_commands, 1);
        assert_eq!(bus.counters().same_line_wait_cycles, first - timing.command_gap);
    }

    proptest! {
        #[test]
        fn two_commands_never_share_a_slot_nor_a_line(
            sent in proptest::collection::vec((0_u64..30, 0_u8..3, 0_u64..6), 1..200)
        ) {
            let (mut bus, timing) = bus();
            let (mut now, mut last_response) = (0, [0; 6]);
            let mut starts: [Vec<u64>; 2] = Default::default();
            for (gap, chip, line) in sent {
                now += gap;
                let reach = if chip < 2 { Reach::Chip(chip) } else { Reach::Both { crossing: 440 } };
                let waited = bus.counters().wait_cycles;
                let response = bus.send(now, reach, line);
                let start = now + bus.counters().wait_cycles - waited;
                let takes_it = |each: usize| chip == 2 || each == chip as usize;
                for (each, starts) in starts.iter_mut().enumerate().filter(|(each, _)| takes_it(*each)) {
                    let last = starts.last().copied();
                    prop_assert!(last.is_none_or(|last| start >= last + timing.command_gap), "chip {each}");
                    starts.push(start);
                }
                let phase = timing.snoop + if chip == 2 { 440 } else { 0 };
                prop_assert!(response >= start + phase && response >= last_response[line as usize] + phase);
                last_response[line as usize] = response;
            }
        }
    }
}
