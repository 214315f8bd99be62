//! The mailboxes and signal registers of an SPE.

use seatmap_data::invariant;
use seatmap_sim::moment::at_cycle;
use std::collections::VecDeque;

/// Entries of an inbound mailbox (Cell Broadband Engine Architecture).
pub const INBOUND_ENTRIES: usize = 4;

/// The inbound mailbox: other elements write it, the SPU reads it.
#[derive(Clone, Debug)]
pub struct InboundMailbox {
    /// The messages, oldest first. Those beyond the entries wait at the register.
    messages: VecDeque<u32>,
}

impl Default for InboundMailbox {
    fn default() -> Self {
        InboundMailbox { messages: VecDeque::with_capacity(4 * INBOUND_ENTRIES) }
    }
}

impl InboundMailbox {
    pub fn filled(&self) -> usize {
        self.messages.len().min(INBOUND_ENTRIES)
    }

    pub fn has_room(&self) -> bool {
        self.filled() < INBOUND_ENTRIES
    }

    /// Receives a message. Without a free entry it waits until the SPU has read one; no message is
    /// lost.
    pub fn write(&mut self, value: u32) {
        self.messages.push_back(value);
    }

    pub fn read(&mut self) -> Option<u32> {
        self.messages.pop_front()
    }

    pub fn reset(&mut self) {
        self.messages.clear();
    }
}

/// The outbound mailbox with one entry: the SPU writes it, the PPE reads it.
#[derive(Clone, Debug, Default)]
pub struct OutboundMailbox {
    entry: Option<u32>,
}

impl OutboundMailbox {
    pub fn has_room(&self) -> bool {
        self.entry.is_none()
    }

    /// Writes the SPU's message; the caller has checked that there is [room](Self::has_room).
    pub fn write(&mut self, now: u64, value: u32) {
        let held = self.entry.replace(value);
        invariant!(
            held.is_none(),
            at_cycle("an outbound mailbox", now),
            "{value} is written over {held:?}"
        );
    }

    pub fn read(&mut self) -> Option<u32> {
        self.entry.take()
    }
}

#[derive(Clone, Debug, Default)]
pub struct SignalRegister {
    bits: u32,
}

impl SignalRegister {
    /// Receives a signal: adds its bits to the present ones if `gathers`, otherwise replaces them.
    pub fn write(&mut self, value: u32, gathers: bool) {
        self.bits = if gathers { self.bits | value } else { value };
    }

    /// Reads and clears all bits for the SPU; `None` if none is set and it must wait.
    pub fn read(&mut self) -> Option<u32> {
        (self.bits != 0).then(|| std::mem::take(&mut self.bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn signals_gather_or_replace() {
        let mut register = SignalRegister::default();
        assert_eq!(register.read(), None);
        register.write(1, true);
        register.write(4, true);
        assert_eq!((register.read(), register.read()), (Some(5), None));
        register.write(1, false);
        register.write(4, false);
        assert_eq!(register.read(), Some(4));
    }

    #[test]
    #[should_panic(expected = "an outbound mailbox at core cycle 9: 2 is written over Some(1)")]
    fn write_to_full_outbound_mailbox_panics() {
        let mut mailbox = OutboundMailbox::default();
        assert!(mailbox.has_room());
        mailbox.write(8, 1);
        assert!(!mailbox.has_room());
        mailbox.write(9, 2);
    }

    proptest! {
        #[test]
        fn inbound_mailbox_queues_four_messages(steps in proptest::collection::vec(any::<Option<u32>>(), 1..200)) {
            let mut mailbox = InboundMailbox::default();
            let mut sent = Vec::new();
            let mut read = Vec::new();
            for step in steps {
                match step {
                    Some(value) => {
                        mailbox.write(value);
                        sent.push(value);
                    }
                    None => read.extend(mailbox.read()),
                }
                let waiting = sent.len() - read.len();
                prop_assert_eq!(mailbox.filled(), waiting.min(4));
                prop_assert_eq!(mailbox.has_room(), waiting < 4);
            }
            prop_assert_eq!(&read[..], &sent[..read.len()]);
            read.extend(std::iter::from_fn(|| mailbox.read()));
            prop_assert_eq!(read, sent);
        }
    }
}
