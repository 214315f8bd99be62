//! DMA lists: up to 2048 transfers in one command. Each may stall the list until the SPU continues
//! it.

use crate::state::SpeState;
use crate::transfer::{LocalStoreTransfer, TransferDirection, TransferFault, TransferRule};

/// Bytes of an element: flags and size, then the effective address's low half.
pub const ELEMENT_BYTES: u32 = 8;
/// The most elements of a list.
pub const MOST_ELEMENTS: u32 = 2048;
/// Set if the list stalls after this element's transfer.
const STALL: u32 = 1 << 31;
const SIZE: u32 = 0x7fff;

/// An element's size, and whether it stalls the list, from its first word.
///
/// The lowest bit, reserved on the Cell, also means a stall: programs that declare the fields in
/// the Cell's order set it.
pub fn element(word: u32) -> (u32, bool) {
    match (word & SIZE, word >> 16 & SIZE) {
        (stalls @ 0..=1, bytes @ 1..) => (bytes, stalls == 1),
        (bytes, _) => (bytes, word & STALL != 0),
    }
}

/// An unfinished list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    /// The command, for error messages.
    pub command: &'static str,
    /// The transfers' direction.
    pub direction: TransferDirection,
    /// The local-store address of the next transfer.
    pub local: u32,
    /// The high half of all effective addresses.
    pub high: u32,
    /// The local-store address of the next element.
    pub next: u32,
    /// The remaining elements.
    pub left: u32,
    /// The tag.
    pub tag: u32,
}

/// A decoded element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodedElement {
    /// Its transfer.
    pub transfer: LocalStoreTransfer,
    /// Whether the list stalls after it.
    pub stalls: bool,
}

/// A list's progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListProgress {
    /// All elements are done.
    Done,
    /// An element stalled it.
    Stalled,
}

impl List {
    /// A list with `bytes` bytes of elements.
    ///
    /// # Errors
    /// The rule that the list's size or address breaks.
    pub fn new(whole: LocalStoreTransfer, elements_at: u32) -> Result<Self, TransferRule> {
        let LocalStoreTransfer { command, direction, local, effective, bytes, tag } = whole;
        let left = bytes / ELEMENT_BYTES;
        if !bytes.is_multiple_of(ELEMENT_BYTES) || left > MOST_ELEMENTS {
            return Err(TransferRule::Size);
        }
        if !elements_at.is_multiple_of(ELEMENT_BYTES) {
            return Err(TransferRule::Alignment);
        }
        let high = u32::try_from(effective >> 32).unwrap_or(u32::MAX);
        Ok(List { command, direction, local, high, next: elements_at, left, tag })
    }

    /// Performs transfers until the list ends or an element stalls it.
    ///
    /// # Errors
    /// The first transfer that breaks a rule.
    pub fn advance(&mut self, spe: &SpeState) -> Result<ListProgress, TransferFault> {
        while self.left > 0 {
            if self.step(spe)? && self.left > 0 {
                return Ok(ListProgress::Stalled);
            }
        }
        Ok(ListProgress::Done)
    }

    fn step(&mut self, spe: &SpeState) -> Result<bool, TransferFault> {
        let head = self.next(spe).map_err(|rule| self.fault(spe, rule))?;
        let Some(DecodedElement { transfer, stalls }) = head else { return Ok(false) };
        transfer.perform(spe)?;
        Ok(stalls)
    }

    /// Reads the next element from the store and moves past it; `None` at the end.
    ///
    /// # Errors
    /// The element is not in the store.
    pub fn next(&mut self, spe: &SpeState) -> Result<Option<DecodedElement>, TransferRule> {
        if self.left == 0 {
            return Ok(None);
        }
        let at = spe.store().at(self.next, 8).ok_or(TransferRule::Local)?.cast::<u32>();
        // SAFETY: eight bytes of the store, aligned to eight.
        let (head, low) = unsafe { (at.read_volatile(), at.add(1).read_volatile()) };
        let (bytes, stalls) = element(head);
        let transfer = self.transfer(bytes, low);
        self.local = behind(&transfer);
        self.next += ELEMENT_BYTES;
        self.left -= 1;
        Ok(Some(DecodedElement { transfer, stalls }))
    }

    /// A small transfer has the same offset in its quadword of the store as in memory.
    fn transfer(&self, bytes: u32, low: u32) -> LocalStoreTransfer {
        let within = if bytes < 16 { low & 15 } else { 0 };
        let local = (self.local & !15) | within;
        let effective = u64::from(self.high) << 32 | u64::from(low);
        LocalStoreTransfer {
            command: self.command,
            direction: self.direction,
            local,
            effective,
            bytes,
            tag: self.tag,
        }
    }

    /// The fault of a list whose elements cannot be read.
    pub fn fault(&self, spe: &SpeState, rule: TransferRule) -> TransferFault {
        spe.fault(self.transfer(0, 0), rule)
    }
}

/// After the last transfer it is the highest address, which no transfer may use.
fn behind(transfer: &LocalStoreTransfer) -> u32 {
    let end = transfer.local.saturating_add(transfer.bytes);
    end.checked_next_multiple_of(16).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: LocalStoreTransfer = LocalStoreTransfer {
        command: "mfc_getl",
        direction: TransferDirection::Get,
        local: 32,
        effective: 1 << 32,
        bytes: 16,
        tag: 1,
    };

    #[test]
    fn partial_or_misaligned_lists_are_refused() {
        assert_eq!(List::new(WHOLE, 64).unwrap().left, 2);
        assert_eq!(List::new(WHOLE, 68), Err(TransferRule::Alignment));
        assert_eq!(
            List::new(LocalStoreTransfer { bytes: 12, ..WHOLE }, 64),
            Err(TransferRule::Size)
        );
        assert_eq!(
            List::new(LocalStoreTransfer { bytes: 8 * 2049, ..WHOLE }, 64),
            Err(TransferRule::Size)
        );
    }

    #[test]
    fn elements_are_read_in_both_field_orders() {
        assert_eq!((element(4096), element(STALL | 16)), ((4096, false), (16, true)));
        assert_eq!((element(4096 << 16), element(16 << 16 | 1)), ((4096, false), (16, true)));
        assert_eq!((element(0), element(1), element(STALL)), ((0, false), (1, false), (0, true)));
    }

    #[test]
    fn small_transfers_keep_their_quadword_offset() {
        let list = List::new(WHOLE, 64).unwrap();
        let small = list.transfer(4, 0x1c);
        assert_eq!((small.local, small.effective), (32 + 12, 0x1_0000_001c));
        assert_eq!(behind(&small), 48);
    }

    #[test]
    fn local_address_saturates() {
        for local in [u32::MAX - 15, u32::MAX - 4, u32::MAX] {
            assert_eq!(behind(&LocalStoreTransfer { local, ..WHOLE }), u32::MAX);
        }
    }
}
