//! Damage to files, for the tests of all importers.

use proptest::prelude::*;
use proptest::sample::{Index, select};

#[derive(Clone, Debug)]
pub enum Change {
    Put(Index, &'static str),
    Byte(Index, u8),
    Cut(Index, usize),
    Repeat(Index, usize, usize),
    Truncate(Index),
}

impl Change {
    pub fn make(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let range = |at: &Index, length: usize| {
            at.index(bytes.len())..(at.index(bytes.len()) + length).min(bytes.len())
        };
        match self {
            Change::Put(at, text) => drop(bytes.splice(range(at, text.len()), text.bytes())),
            Change::Byte(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Change::Cut(at, length) => drop(bytes.drain(range(at, *length))),
            Change::Repeat(at, length, times) => {
                let range = range(at, *length);
                let again = bytes[range.clone()].repeat(*times);
                drop(bytes.splice(range.end..range.end, again));
            }
            Change::Truncate(at) => bytes.truncate(at.index(bytes.len())),
        }
    }
}

pub fn any_change(
    poison: &'static [&'static str],
    most_times: usize,
) -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<Index>(), select(poison)).prop_map(|(at, text)| Change::Put(at, text)),
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        (any::<Index>(), 1usize..40).prop_map(|(at, length)| Change::Cut(at, length)),
        (any::<Index>(), 1usize..60, 1..most_times)
            .prop_map(|(at, length, times)| Change::Repeat(at, length, times)),
        any::<Index>().prop_map(Change::Truncate),
    ]
}
