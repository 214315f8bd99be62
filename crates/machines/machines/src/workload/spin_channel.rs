//! A channel that holds one message and is guarded by a spin lock.

use seatmap_data::port::{Addr, Port};

/// Words of the largest message: a line without the lock and the word for fullness.
pub const MOST_WORDS: usize = 6;

/// One side of a channel of Liu et al. 2015 (section IV.A). Lock, fullness and message share a
/// line, and so a home. The line must hold zeros at first; an empty channel holds zeros in all
/// words but the message.
pub struct SpinChannel<'a, P> {
    port: &'a P,
    lock: Addr,
    full: Addr,
    message: Addr,
}

impl<'a, P: Port> SpinChannel<'a, P> {
    /// The channel on this line.
    pub fn new(port: &'a P, line: Addr) -> Self {
        let line = Addr::line(line.line_index());
        SpinChannel { port, lock: line, full: line.word(1), message: line.word(2) }
    }

    /// Waits until the channel is full (`full` is 1) or not full, and then calls `act` under the
    /// lock.
    fn when(&self, full: u64, act: impl FnOnce()) {
        self.port.wait_while(self.full, 1 - full);
        while self.port.compare_exchange(self.lock, 0, 1).is_err() {
            self.port.wait_while(self.lock, 1);
        }
        act();
        self.port.store(self.full, 1 - full);
        self.port.store(self.lock, 0);
    }

    /// Puts a message of up to [`MOST_WORDS`] words; waits while the channel is full.
    pub fn put(&self, message: &[u64]) {
        let words = message.iter().take(MOST_WORDS).zip(0..);
        self.when(0, || {
            words.for_each(|(value, word)| self.port.store(self.message.word(word), *value))
        });
    }

    /// Takes a message; waits while the channel is empty.
    pub fn take(&self, message: &mut [u64]) {
        let words = message.iter_mut().take(MOST_WORDS).zip(0..);
        self.when(1, || {
            words.for_each(|(value, word)| *value = self.port.load(self.message.word(word)))
        });
    }
}
