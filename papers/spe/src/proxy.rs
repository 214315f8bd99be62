//! The registers through which the PPE gives commands to an SPE's transfer unit.

use crate::transfer::{LocalStoreTransfer, TransferDirection};
use std::sync::atomic::{AtomicU32, Ordering};

/// The local-store address (written).
pub const LOCAL: usize = 0x3004;
/// The upper half of the effective address (written).
pub const HIGH: usize = 0x3008;
/// The lower half (written).
pub const LOW: usize = 0x300c;
/// The size in the upper half, the tag in the lower one (written).
pub const SIZE_AND_TAG: usize = 0x3010;
/// The command, which a store starts; a load tells how that went.
pub const COMMAND: usize = 0x3014;
/// Free entries of the queue (read): all eight, and the bit of an empty queue.
pub const QUEUE: usize = 0x3104;
/// How the tag status is made (written): any or all.
pub const QUERY_TYPE: usize = 0x3204;
/// The tags that are asked for.
pub const QUERY_MASK: usize = 0x321c;
/// The tags of the query mask that are complete (read).
pub const TAG_STATUS: usize = 0x322c;

/// The queue of the PPE's commands when it is empty: each is complete when it was given.
pub const EMPTY_QUEUE: u32 = 0x8000_0008;
/// A command that was taken.
const TAKEN: u32 = 0;
/// A command that broke a rule.
const REFUSED: u32 = 1;

/// The words that were written for a command that is being put together.
#[derive(Debug, Default)]
pub struct Proxy {
    local: AtomicU32,
    high: AtomicU32,
    low: AtomicU32,
    size_and_tag: AtomicU32,
    query_mask: AtomicU32,
    status: AtomicU32,
}

impl Proxy {
    /// Keeps a word; false for a register that is not one of them.
    #[must_use]
    pub fn write(&self, offset: usize, value: u32) -> bool {
        let word = match offset {
            LOCAL => &self.local,
            HIGH => &self.high,
            LOW => &self.low,
            SIZE_AND_TAG => &self.size_and_tag,
            QUERY_MASK => &self.query_mask,
            // Complete commands satisfy both.
            QUERY_TYPE => return true,
            _ => return false,
        };
        word.store(value, Ordering::Relaxed);
        true
    }

    /// Notes how the last command went.
    pub fn note(&self, is_done: bool) {
        self.status.store(if is_done { TAKEN } else { REFUSED }, Ordering::Relaxed);
    }

    /// How the last command went.
    #[must_use]
    pub fn status(&self) -> u32 {
        self.status.load(Ordering::Relaxed)
    }

    /// The tags that are asked for.
    #[must_use]
    pub fn query_mask(&self) -> u32 {
        self.query_mask.load(Ordering::Relaxed)
    }

    /// The transfer that a command asks for; `None` for one that the PPE cannot give.
    #[must_use]
    pub fn transfer(&self, command: u32) -> Option<LocalStoreTransfer> {
        let (command, direction) = match command & 0xff {
            0x40..=0x42 => ("a get by the PPE", TransferDirection::Get),
            0x20..=0x22 | 0x30..=0x32 => ("a put by the PPE", TransferDirection::Put),
            _ => return None,
        };
        let size_and_tag = self.size_and_tag.load(Ordering::Relaxed);
        Some(LocalStoreTransfer {
            command,
            direction,
            local: self.local.load(Ordering::Relaxed),
            effective: u64::from(self.high.load(Ordering::Relaxed)) << 32
                | u64::from(self.low.load(Ordering::Relaxed)),
            bytes: size_and_tag >> 16,
            tag: size_and_tag & 0x1f,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_is_put_together_word_by_word() {
        let proxy = Proxy::default();
        let words = [
            (LOCAL, 0x1000),
            (HIGH, 1),
            (LOW, 0x80),
            (SIZE_AND_TAG, 4096 << 16 | 5),
            (QUERY_MASK, 32),
        ];
        assert!(
            words.iter().all(|(offset, value)| proxy.write(*offset, *value))
                && !proxy.write(COMMAND, 0)
        );
        let transfer = proxy.transfer(0x40).unwrap();
        assert_eq!((transfer.local, transfer.effective), (0x1000, 0x1_0000_0080));
        assert_eq!(
            (transfer.bytes, transfer.tag, transfer.direction),
            (4096, 5, TransferDirection::Get)
        );
        assert!(proxy.transfer(0xd0).is_none());
        proxy.note(false);
        assert_eq!((proxy.status(), proxy.query_mask()), (1, 32));
    }
}
