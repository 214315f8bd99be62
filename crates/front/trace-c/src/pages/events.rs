//! Messages of the kernel about the memory of this process: `struct uffd_msg`.

use std::ffi::c_int;

/// The length of a message.
pub const MESSAGE_BYTES: usize = 32;

/// The flags of a fault.
const WRITES: u64 = 1;
const PROTECTED: u64 = 2;

/// The kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A thread waits for a page.
    Fault {
        /// The address that it accesses.
        address: usize,
        /// The thread.
        tid: i32,
        /// Whether it writes.
        is_write: bool,
        /// Whether the page is there and protected.
        is_protected: bool,
    },
    /// The process has forked, and its child has the same pages: the descriptor for its faults.
    Fork(c_int),
    /// Memory has another address now.
    Moved {
        /// The old address.
        from: usize,
        /// The new address.
        to: usize,
        /// The length.
        bytes: usize,
    },
    /// The program gives the pages of this memory back, and the memory stays (madvise(2)).
    Dropped {
        /// The first address.
        start: usize,
        /// The end.
        end: usize,
    },
    /// This memory is no longer there.
    Unmapped {
        /// The first address.
        start: usize,
        /// The end.
        end: usize,
    },
}

impl Event {
    /// Reads a message.
    pub fn parse(words: &[u64; MESSAGE_BYTES / 8]) -> Option<Self> {
        let [kind, first, second, third] = *words;
        let [first_address, second_address] = [first as usize, second as usize];
        match kind.to_le_bytes()[0] {
            0x12 => Some(Event::Fault {
                address: second_address,
                tid: third as i32,
                is_write: first & WRITES != 0,
                is_protected: first & PROTECTED != 0,
            }),
            0x13 => Some(Event::Fork(first as c_int)),
            0x14 => Some(Event::Moved {
                from: first_address,
                to: second_address,
                bytes: third as usize,
            }),
            0x15 => Some(Event::Dropped { start: first_address, end: second_address }),
            0x16 => Some(Event::Unmapped { start: first_address, end: second_address }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_has_its_thread_and_address() {
        let fault = |flags| Event::parse(&[0x12, flags, 0x7000_1234, 42]);
        let event = |is_write, is_protected| Event::Fault {
            address: 0x7000_1234,
            tid: 42,
            is_write,
            is_protected,
        };
        assert_eq!(fault(0), Some(event(false, false)));
        assert_eq!(fault(1), Some(event(true, false)));
        assert_eq!(fault(3), Some(event(true, true)));
        assert_eq!(Event::parse(&[0x99, 0, 0, 0]), None);
        assert_eq!(Event::parse(&[0x14, 1, 2, 3]), Some(Event::Moved { from: 1, to: 2, bytes: 3 }));
    }
}
