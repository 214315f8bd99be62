//! The simulated Cell's part of an SPU's state.

use crate::list::List;
use seatmap_cell_sim::session::{CellBeSession, ProgramTurn};

/// An SPU as a task of a session.
#[derive(Debug)]
pub struct SimulatedSpu {
    /// The session, which belongs to the program while it runs.
    pub session: *mut CellBeSession,
    /// The program's turn.
    pub turn: ProgramTurn,
    /// The driver's CPU time at the turn's start, if charged.
    pub since_ns: u64,
    /// Lists that may stall, with the queue entries of their commands.
    pub lists: Vec<(u8, List)>,
    /// The program's count of its work.
    pub count: CycleCount,
}

/// The uncharged core cycles that a program counts in a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CycleCount {
    /// The register at the program's last call, stored by the table's functions.
    pub register: u64,
    seen: u64,
    sum: u64,
}

impl CycleCount {
    /// Adds the count since the last call. A smaller value, after a long jump, adds nothing.
    pub fn note(&mut self) {
        let more = self.register.wrapping_sub(self.seen);
        self.sum += if more < 1 << 63 { more } else { 0 };
        self.seen = self.register;
    }

    /// Discards the count up to this register value.
    pub fn forget(&mut self, register: u64) {
        self.seen = register;
    }

    /// Takes the uncharged count.
    pub fn take(&mut self) -> u64 {
        std::mem::take(&mut self.sum)
    }

    /// Whether there is an uncharged count.
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
    fn work_is_counted_between_calls() {
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
