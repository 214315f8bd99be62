//! A mailbox entry in one word: a message with its number.
//!
//! All mailboxes over cache lines use it. A reader knows by the number that the message is there,
//! so it looks at no second word, and a writer that fills one entry again has nothing to clear
//! first.

/// A message's word, with its number in the upper half.
#[inline(always)]
pub fn numbered(number: u32, message: u32) -> u64 {
    u64::from(number) << 32 | u64::from(message)
}

/// The message in a word, if it is the one with this number. Numbers may wrap: fewer messages than
/// there are numbers are ever under way.
///
/// ```
/// use seatmap_worker::message::{message, numbered};
/// assert_eq!(message(numbered(7, 40), 7), Some(40));
/// assert_eq!(message(numbered(7, 40), 8), None);
/// ```
#[inline(always)]
pub fn message(word: u64, number: u32) -> Option<u32> {
    // The halves are cut apart on purpose.
    ((word >> 32) as u32 == number).then_some(word as u32)
}
