//! The registers for the PPE's commands to an SPE's transfer unit.

use crate::transfer::{LocalStoreTransfer, TransferDirection};
use std::sync::atomic::{AtomicU32, Ordering};

/// The local-store address (written).
pub const LOCAL: usize = 0x3004;
/// The upper half of the effective address (written).
pub const HIGH: usize = 0x3008;
/// The lower half of the effective address (written).
pub const LOW: usize = 0x300c;
/// The size in the upper half, the tag in the lower one (written).
pub const SIZE_AND_TAG: usize = 0x3010;
/// The command; a store starts it, and a load returns its status.
pub const COMMAND: usize = 0x3014;
/// Free entries of the queue (read): all eight, and an empty queue's bit.
pub const QUEUE: usize = 0x3104;
/// The condition of the tag status (written): any or all.
pub const QUERY_TYPE: usize = 0x3204;
/// The tag status's mask.
pub const QUERY_MASK: usize = 0x321c;
/// The complete tags of the mask (read).
pub const TAG_STATUS: usize = 0x322c;

/// An empty queue, because each command is complete when it returns.
pub const EMPTY_QUEUE: u32 = 0x8000_0008;
const TAKEN: u32 = 0;
const REFUSED: u32 = 1;

/// The next command's parameters.
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
    /// Stores a parameter; false for another register.
    pub fn write(&self, offset: usize, value: u32) -> bool {
        let word = match offset {
            LOCAL => &self.local,
            HIGH => &self.high,
            LOW => &self.low,
            SIZE_AND_TAG => &self.size_and_tag,
            QUERY_MASK => &self.query_mask,
            // Complete commands satisfy both conditions.
            QUERY_TYPE => return true,
            _ => return false,
        };
        word.store(value, Ordering::Relaxed);
        true
    }

    /// Records the last command's status.
    pub fn note(&self, is_done: bool) {
        self.status.store(if is_done { TAKEN } else { REFUSED }, Ordering::Relaxed);
    }

    /// The last command's status.
    pub fn status(&self) -> u32 {
        self.status.load(Ordering::Relaxed)
    }

    /// The tag status's mask.
    pub fn query_mask(&self) -> u32 {
        self.query_mask.load(Ordering::Relaxed)
    }

    /// A command's transfer; `None` if the PPE cannot give it.
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
    fn transfer_is_assembled_from_register_writes() {
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
