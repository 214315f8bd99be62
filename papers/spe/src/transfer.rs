//! Transfers between a local store and the effective address space, with the hardware's rules.

use std::fmt;

/// The largest transfer: 16 KiB.
pub const MOST_BYTES: u32 = 16 << 10;
/// Tags of an SPU's commands.
pub const TAGS: u32 = 32;

/// A transfer's direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferDirection {
    /// From the effective address into the local store.
    Get,
    /// From the local store to the effective address.
    Put,
}

/// A transfer requested by an SPU or the PPE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalStoreTransfer {
    /// The command, for error messages.
    pub command: &'static str,
    /// The direction.
    pub direction: TransferDirection,
    /// The local-store address.
    pub local: u32,
    /// The effective address.
    pub effective: u64,
    /// Bytes.
    pub bytes: u32,
    /// The tag, from 0 to 31.
    pub tag: u32,
}

/// The broken rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferRule {
    /// One, two, four, eight or a multiple of 16 bytes up to 16 KiB.
    Size,
    /// Both addresses have the same offset in a quadword, a multiple of a small size.
    Alignment,
    /// The tag is below 32.
    Tag,
    /// The range is in the local store.
    Local,
    /// The effective address is accessible.
    Address,
    /// An access to a register takes four bytes, and writes need a writable one.
    Register,
    /// The command exists.
    Command,
}

impl TransferRule {
    /// libspe2's constant for the exception: alignment, segmentation or storage.
    pub fn exception(self) -> i32 {
        match self {
            TransferRule::Size
            | TransferRule::Alignment
            | TransferRule::Tag
            | TransferRule::Command => 0x08,
            TransferRule::Address => 0x20,
            TransferRule::Local | TransferRule::Register => 0x40,
        }
    }

    fn words(self) -> &'static str {
        match self {
            TransferRule::Size => "the size is not 1, 2, 4, 8 or a multiple of 16 up to 16384",
            TransferRule::Alignment => {
                "the two addresses differ in their last four bits, or do not suit the size"
            }
            TransferRule::Tag => "tags go from 0 to 31",
            TransferRule::Local => "the range is not in the local store",
            TransferRule::Address => "the effective address cannot be read or written",
            TransferRule::Register => "not a register that this transfer can reach",
            TransferRule::Command => "the transfer unit does not know this command",
        }
    }
}

/// A transfer with a broken rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub struct TransferFault {
    /// The context's number.
    pub context: u32,
    /// The transfer.
    pub transfer: LocalStoreTransfer,
    /// The rule.
    pub rule: TransferRule,
}

impl fmt::Display for TransferFault {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let LocalStoreTransfer { command, local, effective, bytes, tag, .. } = self.transfer;
        write!(out, "context {}: {command} of {bytes} bytes, tag {tag}, ", self.context)?;
        write!(
            out,
            "local address {local:#x}, effective address {effective:#x}: {}",
            self.rule.words()
        )
    }
}

impl LocalStoreTransfer {
    /// Checks the rules that do not depend on memory.
    ///
    /// # Errors
    /// The broken rule.
    #[inline]
    pub fn check(&self) -> Result<(), TransferRule> {
        if self.tag >= TAGS {
            return Err(TransferRule::Tag);
        }
        let is_small = matches!(self.bytes, 1 | 2 | 4 | 8);
        if !(is_small || (self.bytes.is_multiple_of(16) && self.bytes <= MOST_BYTES)) {
            return Err(TransferRule::Size);
        }
        let here = u64::from(self.local) & 15;
        let there = self.effective & 15;
        let unit = if is_small { u64::from(self.bytes) } else { 16 };
        if here == there && here % unit == 0 { Ok(()) } else { Err(TransferRule::Alignment) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(local: u32, effective: u64, bytes: u32, tag: u32) -> LocalStoreTransfer {
        LocalStoreTransfer {
            command: "mfc_get",
            direction: TransferDirection::Get,
            local,
            effective,
            bytes,
            tag,
        }
    }

    #[test]
    fn hardware_sizes_and_alignments_are_enforced() {
        for good in [
            transfer(0, 0x10, 16, 0),
            transfer(3, 0x13, 1, 31),
            transfer(8, 0x28, 8, 5),
            transfer(0, 0, 0, 0),
        ] {
            assert_eq!(good.check(), Ok(()), "{good:?}");
        }
        let rules = [
            (transfer(0, 0, 24, 0), TransferRule::Size),
            (transfer(0, 0, MOST_BYTES + 16, 0), TransferRule::Size),
            (transfer(0, 8, 16, 0), TransferRule::Alignment),
            (transfer(8, 8, 16, 0), TransferRule::Alignment),
            (transfer(2, 2, 4, 0), TransferRule::Alignment),
            (transfer(4, 8, 4, 0), TransferRule::Alignment),
            (transfer(0, 0, 16, 32), TransferRule::Tag),
        ];
        for (bad, rule) in rules {
            assert_eq!(bad.check(), Err(rule), "{bad:?}");
        }
    }

    #[test]
    fn fault_names_context_tag_and_address() {
        let fault = TransferFault {
            context: 3,
            transfer: transfer(0, 0xdead, 16, 7),
            rule: TransferRule::Alignment,
        };
        let words = fault.to_string();
        assert!(
            words.contains("context 3") && words.contains("tag 7") && words.contains("0xdead"),
            "{words}"
        );
    }
}
