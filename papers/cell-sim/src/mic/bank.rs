//! A memory bank: an array with one open row at a time.

use crate::parameters::CellBeTiming;
use seatmap_data::invariant;
use seatmap_sim::moment::at_cycle;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BankAccess {
    Read,
    Write,
    /// Reads, changes and writes a line, because less than a quadword is written.
    Modify,
}

impl BankAccess {
    pub fn writes(self) -> bool {
        self != BankAccess::Read
    }
}

#[derive(Clone, Copy, Debug)]
pub struct BankTiming {
    read: u64,
    write: u64,
}

impl BankTiming {
    pub fn new(timing: &CellBeTiming) -> Self {
        BankTiming { read: timing.bank_read, write: timing.bank_write }
    }

    fn of(self, access: BankAccess) -> u64 {
        match access {
            BankAccess::Read => self.read,
            BankAccess::Write => self.write,
            BankAccess::Modify => self.read + self.write,
        }
    }
}

/// A bank. It closes its row after each line, so every line costs a whole row cycle.
#[derive(Clone, Debug)]
pub struct Bank {
    timing: BankTiming,
    free: u64,
}

impl Bank {
    pub fn new(timing: BankTiming) -> Self {
        Bank { timing, free: 0 }
    }

    pub fn free(&self) -> u64 {
        self.free
    }

    pub fn open(&mut self, time: u64, access: BankAccess) {
        let free = self.free;
        invariant!(
            free <= time,
            at_cycle("a memory bank", time),
            "{access:?} opens a row, and another is open until {free}"
        );
        self.free = time + self.timing.of(access);
    }

    pub fn refresh(&mut self, time: u64, cycles: u64) {
        let free = self.free;
        invariant!(
            free <= time,
            at_cycle("a memory bank", time),
            "a refresh opens a row, and another is open until {free}"
        );
        self.free = time + cycles;
    }

    pub fn reset(&mut self) {
        self.free = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TIMING: BankTiming = BankTiming { read: 128, write: 160 };

    #[test]
    fn each_access_kind_takes_its_row_cycle() {
        let mut bank = Bank::new(TIMING);
        let mut next = |access| {
            bank.open(bank.free(), access);
            bank.free()
        };
        assert_eq!(
            [next(BankAccess::Read), next(BankAccess::Write), next(BankAccess::Modify)],
            [128, 288, 576]
        );
    }

    #[test]
    #[should_panic(
        expected = "a memory bank at core cycle 127: Write opens a row, and another is open until 128"
    )]
    fn opening_second_row_panics() {
        let mut bank = Bank::new(TIMING);
        bank.open(0, BankAccess::Read);
        bank.open(127, BankAccess::Write);
    }

    proptest! {
        #[test]
        fn row_cycles_do_not_overlap(asked in proptest::collection::vec((0_u64..400, 0_u8..4), 1..100)) {
            let mut bank = Bank::new(TIMING);
            let mut now = 0;
            let mut closed = 0;
            for (gap, what) in asked {
                now += gap;
                let begins = now.max(bank.free());
                match what {
                    0 => bank.refresh(begins, 128),
                    _ => bank.open(begins, [BankAccess::Read, BankAccess::Write, BankAccess::Modify][what as usize - 1]),
                }
                prop_assert!(begins >= closed && bank.free() >= begins + 128);
                closed = bank.free();
            }
        }
    }
}
