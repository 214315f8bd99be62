//! The memory interface controller (MIC) of a chip and its memory.
//!
//! Line n is in bank n modulo the number of banks. Even and odd banks have separate channels, each
//! with a queue of reads and a queue of writes; if a queue is full, the command is sent again. A
//! chip's sustained memory rate depends on its banks' row cycles, on refresh, and on turns of the
//! channels' pins.

mod bank;
mod channel;
mod counters;

use crate::event::EventOutbox;
use crate::memory::LINE_BYTES;
use crate::parameters::CellBeTiming;
use bank::BankAccess;
use channel::MemoryChannel;
pub use counters::MicCounters;

/// A smaller write has to read the line first (the PMU's read-modify-write events).
const QUADWORD_BYTES: u32 = 16;

#[derive(Clone, Debug)]
pub struct Mic {
    banks: u32,
    channels: Vec<MemoryChannel>,
}

impl Mic {
    pub fn new(chip: u8, timing: &CellBeTiming) -> Self {
        let count = timing.mic_channels as u16;
        Mic {
            banks: timing.mic_banks as u32,
            channels: (0..count)
                .map(|number| MemoryChannel::new(u16::from(chip) * count + number, timing))
                .collect(),
        }
    }

    fn place(&self, offset: u32) -> (usize, u8) {
        let bank = offset / LINE_BYTES % self.banks;
        let channels = self.channels.len() as u32;
        // Neighbouring lines are on different channels, so that a stream uses both.
        ((bank % channels) as usize, (bank / channels) as u8)
    }

    pub fn read(&mut self, transaction: u32, offset: u32, out: &mut EventOutbox) -> bool {
        let (channel, bank) = self.place(offset);
        self.channels[channel].read(transaction, bank, out)
    }

    /// Reserves an entry for a write's data. Returns false if the queue is full.
    pub fn expect_write(&mut self, offset: u32) -> bool {
        let (channel, _) = self.place(offset);
        self.channels[channel].expect_write()
    }

    pub fn write(&mut self, transaction: u32, offset: u32, size: u32, out: &mut EventOutbox) {
        let (channel, bank) = self.place(offset);
        let access = if size < QUADWORD_BYTES { BankAccess::Modify } else { BankAccess::Write };
        self.channels[channel].write(transaction, bank, access, out);
    }

    pub fn turn(&mut self, channel: usize, out: &mut EventOutbox) {
        self.channels[channel].turn(out);
    }

    pub fn counters(&self) -> MicCounters {
        self.channels
            .iter()
            .fold(MicCounters::default(), |sum, channel| sum.with(channel.counters()))
    }

    pub fn reset(&mut self) {
        self.channels.iter_mut().for_each(MemoryChannel::reset);
    }
}

#[cfg(test)]
mod tests;
