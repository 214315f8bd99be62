//! Transfers between a local store and the effective address space, with the rules of the hardware.

use std::fmt;

/// The largest transfer: 16 KiB.
pub const MOST_BYTES: u32 = 16 << 10;
/// Tags of an SPU's commands.
pub const TAGS: u32 = 32;

/// Which way a transfer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the effective address into the local store.
    Get,
    /// From the local store to the effective address.
    Put,
}

/// One transfer, as an SPU or the PPE asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The command, for error texts.
    pub command: &'static str,
    /// Which way it goes.
    pub direction: Direction,
    /// The local-store address.
    pub local: u32,
    /// The effective address.
    pub effective: u64,
    /// How many bytes.
    pub bytes: u32,
    /// The tag, from 0 to 31.
    pub tag: u32,
}

/// The rule that a transfer breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// One, two, four, eight or a multiple of 16 bytes up to 16 KiB.
    Size,
    /// Both addresses have the same offset in a quadword, which is a multiple of a small size.
    Alignment,
    /// The tag is below 32.
    Tag,
    /// The range lies in the local store.
    Local,
    /// The effective address can be read or written.
    Address,
    /// The address of a register that can be written takes four bytes.
    Register,
    /// The command is one that the transfer unit knows.
    Command,
}

impl Rule {
    /// libspe2's constant for the exception: alignment, segmentation or storage.
    #[must_use]
    pub fn exception(self) -> i32 {
        match self {
            Rule::Size | Rule::Alignment | Rule::Tag | Rule::Command => 0x08,
            Rule::Address => 0x20,
            Rule::Local | Rule::Register => 0x40,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Rule::Size => "the size is not 1, 2, 4, 8 or a multiple of 16 up to 16384",
            Rule::Alignment => {
                "the two addresses differ in their last four bits, or do not suit the size"
            }
            Rule::Tag => "tags go from 0 to 31",
            Rule::Local => "the range is not in the local store",
            Rule::Address => "the effective address cannot be read or written",
            Rule::Register => "not a register that this transfer can reach",
            Rule::Command => "the transfer unit does not know this command",
        }
    }
}

/// A transfer that broke a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub struct TransferFault {
    /// The context's number.
    pub context: u32,
    /// The transfer.
    pub transfer: Transfer,
    /// The rule.
    pub rule: Rule,
}

impl fmt::Display for TransferFault {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let Transfer { command, local, effective, bytes, tag, .. } = self.transfer;
        write!(out, "context {}: {command} of {bytes} bytes, tag {tag}, ", self.context)?;
        write!(
            out,
            "local address {local:#x}, effective address {effective:#x}: {}",
            self.rule.words()
        )
    }
}

impl Transfer {
    /// Checks the rules that need no look at memory.
    ///
    /// # Errors
    /// The rule that it breaks.
    #[inline]
    pub fn check(&self) -> Result<(), Rule> {
        if self.tag >= TAGS {
            return Err(Rule::Tag);
        }
        let is_small = matches!(self.bytes, 1 | 2 | 4 | 8);
        if !(is_small || (self.bytes.is_multiple_of(16) && self.bytes <= MOST_BYTES)) {
            return Err(Rule::Size);
        }
        let here = u64::from(self.local) & 15;
        let there = self.effective & 15;
        let unit = if is_small { u64::from(self.bytes) } else { 16 };
        if here == there && here % unit == 0 { Ok(()) } else { Err(Rule::Alignment) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(local: u32, effective: u64, bytes: u32, tag: u32) -> Transfer {
        Transfer { command: "mfc_get", direction: Direction::Get, local, effective, bytes, tag }
    }

    #[test]
    fn sizes_and_alignments_are_those_of_the_hardware() {
        for good in [
            transfer(0, 0x10, 16, 0),
            transfer(3, 0x13, 1, 31),
            transfer(8, 0x28, 8, 5),
            transfer(0, 0, 0, 0),
        ] {
            assert_eq!(good.check(), Ok(()), "{good:?}");
        }
        let rules = [
            (transfer(0, 0, 24, 0), Rule::Size),
            (transfer(0, 0, MOST_BYTES + 16, 0), Rule::Size),
            (transfer(0, 8, 16, 0), Rule::Alignment),
            (transfer(8, 8, 16, 0), Rule::Alignment),
            (transfer(2, 2, 4, 0), Rule::Alignment),
            (transfer(4, 8, 4, 0), Rule::Alignment),
            (transfer(0, 0, 16, 32), Rule::Tag),
        ];
        for (bad, rule) in rules {
            assert_eq!(bad.check(), Err(rule), "{bad:?}");
        }
    }

    #[test]
    fn a_fault_says_context_tag_and_address() {
        let fault = TransferFault {
            context: 3,
            transfer: transfer(0, 0xdead, 16, 7),
            rule: Rule::Alignment,
        };
        let words = fault.to_string();
        assert!(
            words.contains("context 3") && words.contains("tag 7") && words.contains("0xdead"),
            "{words}"
        );
    }
}
