//! A bus transaction: a command, a snoop, and up to 128 bytes.

use crate::channels::{Ea, SignalNumber};
use seatmap_data::invariant::broken;
use seatmap_sim::moment::at_cycle;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingElement {
    pub chip: u8,
    pub element: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionPurpose {
    /// Moves bytes into the requester's local store.
    Get,
    /// Moves bytes out of the requester's local store.
    Put,
    /// Writes a mapped register of another SPE.
    Message(MappedRegister),
    /// Fetches a line into the requester's atomic cache, with a reservation.
    Reserve,
    /// Gains the right to change that line.
    Claim,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappedRegister {
    Mailbox,
    Signal(SignalNumber),
}

impl MappedRegister {
    /// The register at an offset in an SPE's problem state area (libspe2's `cbea_map.h`).
    pub fn at(offset: u32) -> Option<Self> {
        match offset {
            0x400c => Some(MappedRegister::Mailbox),
            0x1_400c => Some(MappedRegister::Signal(SignalNumber::One)),
            0x1_c00c => Some(MappedRegister::Signal(SignalNumber::Two)),
            _ => None,
        }
    }

    pub fn line(self) -> u32 {
        match self {
            MappedRegister::Signal(SignalNumber::One) => 0,
            MappedRegister::Signal(SignalNumber::Two) => 1,
            MappedRegister::Mailbox => 2,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transaction {
    pub purpose: TransactionPurpose,
    pub spe: u16,
    pub requester: RingElement,
    pub entry: u8,
    pub source: RingElement,
    pub target: RingElement,
    pub size: u32,
    pub ea: Ea,
    pub local: u32,
    pub to: u16,
    pub value: u32,
}

#[derive(Clone, Debug, Default)]
pub struct Transactions {
    all: Vec<Option<Transaction>>,
    free: Vec<u32>,
}

impl Transactions {
    pub fn add(&mut self, transaction: Transaction) -> u32 {
        match self.free.pop() {
            Some(id) => {
                self.all[id as usize] = Some(transaction);
                id
            }
            None => {
                self.all.push(Some(transaction));
                self.all.len() as u32 - 1
            }
        }
    }

    #[inline]
    pub fn get(&self, id: u32, now: u64) -> &Transaction {
        match &self.all[id as usize] {
            Some(transaction) => transaction,
            None => Self::missing(id, now),
        }
    }

    /// Changes the source of the data's remaining route to the link of another chip or the cache
    /// with the line.
    pub fn set_source(&mut self, id: u32, source: RingElement, now: u64) {
        match &mut self.all[id as usize] {
            Some(transaction) => transaction.source = source,
            None => Self::missing(id, now),
        }
    }

    #[inline]
    pub fn remove(&mut self, id: u32, now: u64) -> Transaction {
        let removed = *self.get(id, now);
        self.all[id as usize] = None;
        self.free.push(id);
        removed
    }

    #[cold]
    fn missing(id: u32, now: u64) -> ! {
        broken(
            at_cycle("the transactions under way", now),
            format_args!("transaction {id} has ended"),
        )
    }

    pub fn clear(&mut self) {
        self.all.clear();
        self.free.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transaction(value: u32) -> Transaction {
        let node = RingElement::default();
        let purpose = TransactionPurpose::Get;
        let ea = Ea::Memory { module: 0, offset: 0 };
        Transaction {
            purpose,
            spe: 0,
            requester: node,
            entry: 0,
            source: node,
            target: node,
            size: 16,
            ea,
            local: 0,
            to: 0,
            value,
        }
    }

    #[test]
    fn ended_transaction_frees_its_number() {
        let mut under_way = Transactions::default();
        let first = under_way.add(transaction(1));
        let second = under_way.add(transaction(2));
        assert_eq!((under_way.remove(first, 0).value, under_way.add(transaction(3))), (1, first));
        let moved = RingElement { chip: 1, element: 4 };
        under_way.set_source(second, moved, 0);
        assert_eq!((under_way.get(first, 0).value, under_way.get(second, 0).source), (3, moved));
    }

    #[test]
    #[should_panic(
        expected = "the transactions under way at core cycle 7: transaction 0 has ended"
    )]
    fn second_end_of_transaction_panics() {
        let mut under_way = Transactions::default();
        let id = under_way.add(transaction(1));
        under_way.remove(id, 6);
        under_way.remove(id, 7);
    }
}
