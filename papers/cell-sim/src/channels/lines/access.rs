//! Shared lines as channels use them: a port with extensions.

use seatmap_data::port::{Addr, Port};

/// A change to a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueChange {
    /// Adds this.
    Add(u32),
    /// Replaces the number with this.
    Set(u32),
}

impl ValueChange {
    /// Applies this change.
    pub fn of(self, found: u32) -> u32 {
        match self {
            ValueChange::Add(value) => found.wrapping_add(value),
            ValueChange::Set(value) => value,
        }
    }
}

/// A machine's shared lines: its port, and extensions for channels.
pub trait ChannelLines {
    /// Its port's type.
    type Port: Port;

    /// The port through which the task reaches the lines.
    fn port(&self) -> &Self::Port;

    /// Changes the lower or the upper 32 bits of a word atomically, and returns their old value.
    #[inline]
    fn change_half(&self, word: Addr, is_upper: bool, change: ValueChange) -> u32 {
        let shift = 32 * u32::from(is_upper);
        let before = change_word(self.port(), word, |found| {
            let half = u64::from(change.of((found >> shift) as u32));
            found & !(u64::from(u32::MAX) << shift) | half << shift
        });
        (before >> shift) as u32
    }

    /// Makes the same change `times` times. Returns false and does nothing if the machine has no
    /// tighter loop than calls of [`ChannelLines::change_half`].
    fn change_half_times(
        &self,
        _word: Addr,
        _is_upper: bool,
        _change: ValueChange,
        _times: u64,
    ) -> bool {
        false
    }

    /// As [`Channels::begin_together`](crate::channels::Channels::begin_together).
    fn begin_together(&self, _tasks: usize) {}

    /// As [`Channels::keep_on`](crate::channels::Channels::keep_on).
    fn keep_on(&self, _tasks: usize, _operation: &mut dyn FnMut()) -> Option<u64> {
        None
    }
}

/// The lines of a machine without extensions, such as a simulator.
#[derive(Clone, Copy, Debug)]
pub struct PortLines<'a, P>(pub &'a P);

impl<P: Port> ChannelLines for PortLines<'_, P> {
    type Port = P;

    #[inline(always)]
    fn port(&self) -> &P {
        self.0
    }
}

pub fn change_word<P: Port>(port: &P, word: Addr, new: impl Fn(u64) -> u64) -> u64 {
    let mut found = port.load(word);
    loop {
        match port.compare_exchange(word, found, new(found)) {
            Ok(before) => return before,
            Err(newer) => found = newer,
        }
    }
}
