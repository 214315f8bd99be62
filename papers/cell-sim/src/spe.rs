//! A synergistic processor element (SPE): its MFC, its mailboxes and its signal registers.

use crate::channels::SignalNumber;
use crate::mailbox::{InboundMailbox, OutboundMailbox, SignalRegister};
use crate::mfc::Mfc;
use crate::parameters::CellBeTiming;
use crate::transaction::{MappedRegister, RingElement};
use seatmap_data::invariant::broken;
use seatmap_sim::moment::at_cycle;

#[derive(Clone, Debug)]
pub struct Spe {
    number: u16,
    node: RingElement,
    task: Option<u16>,
    pub mfc: Mfc,
    pub outbound: OutboundMailbox,
    inbound: InboundMailbox,
    signals: [SignalRegister; 2],
}

impl Spe {
    pub fn new(number: u16, node: RingElement, timing: &CellBeTiming) -> Self {
        Spe {
            number,
            node,
            task: None,
            mfc: Mfc::new(number, timing),
            outbound: OutboundMailbox::default(),
            inbound: InboundMailbox::default(),
            signals: Default::default(),
        }
    }

    pub fn reset(&mut self, task: Option<u16>) {
        self.task = task;
        self.mfc.reset();
        self.inbound.reset();
        self.outbound = OutboundMailbox::default();
        self.signals = Default::default();
    }

    pub fn seat(&mut self, task: Option<u16>) {
        self.task = task;
    }

    pub fn seated(&self) -> Option<u16> {
        self.task
    }

    pub fn node(&self) -> RingElement {
        self.node
    }

    /// The seated task; the simulation stops if there is none.
    pub fn task(&self, now: u64) -> u16 {
        match self.task {
            Some(task) => task,
            None => broken(
                at_cycle(format_args!("SPE {}", self.number), now),
                format_args!("it works, and no task runs on it"),
            ),
        }
    }

    pub fn has_mailbox_room(&self) -> bool {
        self.inbound.has_room()
    }

    /// Receives a value at a mapped register; `gathers` says whether a signal adds to earlier ones.
    pub fn write(&mut self, register: MappedRegister, value: u32, gathers: bool) {
        match register {
            MappedRegister::Mailbox => self.inbound.write(value),
            MappedRegister::Signal(register) => self.signals[index(register)].write(value, gathers),
        }
    }

    pub fn read(&mut self, register: MappedRegister) -> Option<u32> {
        match register {
            MappedRegister::Mailbox => self.inbound.read(),
            MappedRegister::Signal(register) => self.signals[index(register)].read(),
        }
    }
}

fn index(register: SignalNumber) -> usize {
    match register {
        SignalNumber::One => 0,
        SignalNumber::Two => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    fn spe() -> Spe {
        let timing = catalog::load("cell-ps3").unwrap().unwrap().timing();
        Spe::new(3, RingElement { chip: 0, element: 2 }, &timing)
    }

    #[test]
    fn registers_are_independent() {
        let mut spe = spe();
        let [one, two] = [SignalNumber::One, SignalNumber::Two].map(MappedRegister::Signal);
        spe.write(two, 4, true);
        spe.write(MappedRegister::Mailbox, 9, true);
        assert_eq!(
            (spe.read(one), spe.read(two), spe.read(MappedRegister::Mailbox)),
            (None, Some(4), Some(9))
        );
    }

    #[test]
    fn reset_empties_the_spe() {
        let mut spe = spe();
        for value in 0..4 {
            spe.write(MappedRegister::Mailbox, value, false);
        }
        assert!(!spe.has_mailbox_room());
        spe.reset(Some(5));
        assert!(spe.has_mailbox_room() && spe.read(MappedRegister::Mailbox).is_none());
        assert_eq!(spe.task(0), 5);
    }

    #[test]
    #[should_panic(expected = "SPE 3 at core cycle 8: it works, and no task runs on it")]
    fn task_of_idle_spe_panics() {
        spe().task(8);
    }
}
