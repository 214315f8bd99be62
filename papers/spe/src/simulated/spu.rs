//! The part of an SPU's state that serves the simulated Cell.

use crate::list::List;
use seatmap_cell_sim::session::{CellBeSession, ProgramTurn};

/// An SPU as a task of a session.
#[derive(Debug)]
pub struct SimulatedSpu {
    /// The session, while the program runs; the program has it alone then.
    pub session: *mut CellBeSession,
    /// The turn that the program has.
    pub turn: ProgramTurn,
    /// The CPU time of the driver when the turn began, if it is charged.
    pub since_ns: u64,
    /// Lists that may stall, by the entry of their command.
    pub lists: Vec<(u8, List)>,
    /// The work that the program counts.
    pub count: CycleCount,
}

/// The core cycles that a program counts in a register, as far as they were not charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CycleCount {
    /// The register when the program called last. The way into the table's functions writes it.
    pub register: u64,
    /// The register as far as it was looked at.
    seen: u64,
    sum: u64,
}

impl CycleCount {
    /// Adds what the program counted until its call. A register that has gone back, as a long jump
    /// does, adds nothing.
    pub fn note(&mut self) {
        let more = self.register.wrapping_sub(self.seen);
        self.sum += if more < 1 << 63 { more } else { 0 };
        self.seen = self.register;
    }

    /// Forgets what the program counted until the register had this value.
    pub fn forget(&mut self, register: u64) {
        self.seen = register;
    }

    /// Takes what was not charged.
    pub fn take(&mut self) -> u64 {
        std::mem::take(&mut self.sum)
    }

    /// Whether something was not charged.
    #[must_use]
    pub fn has_some(&self) -> bool {
        self.sum > 0
    }
}

impl Default for SimulatedSpu {
    fn default() -> Self {
        let turn = ProgramTurn { task: 0, answer: 0 };
        SimulatedSpu {
            session: std::ptr::null_mut(),
            turn,
            since_ns: 0,
            lists: Vec::new(),
            count: CycleCount::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted_from_call_to_call() {
        let mut count = CycleCount { register: 50, ..CycleCount::default() };
        count.note();
        count.register = 80;
        count.note();
        assert_eq!((count.has_some(), count.take(), count.has_some()), (true, 80, false));
        count.register = 20;
        count.note();
        assert_eq!(count.take(), 0, "a long jump");
        count.forget(1000);
        count.register = 1005;
        count.note();
        assert_eq!(count.take(), 5);
    }
}
