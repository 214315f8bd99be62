//! A mailbox: a short queue of 32-bit messages.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A queue of bounded length. It never blocks: who wants to wait does so at a [`Notify`](crate::notify::Notify).
#[derive(Debug)]
pub struct Fifo {
    capacity: usize,
    /// How many messages wait, for looks without the lock.
    count: AtomicUsize,
    entries: Mutex<VecDeque<u32>>,
}

impl Fifo {
    /// An empty queue for `capacity` messages.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Fifo { capacity, count: AtomicUsize::new(0), entries: Mutex::new(VecDeque::with_capacity(capacity)) }
    }

    /// Messages that wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// Messages that fit.
    #[must_use]
    pub fn room(&self) -> usize {
        self.capacity - self.waiting()
    }

    /// Appends a message; false where there is no room.
    #[must_use]
    pub fn try_write(&self, value: u32) -> bool {
        if self.room() == 0 {
            return false;
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = entries.len() < self.capacity;
        if fits {
            entries.push_back(value);
            self.count.store(entries.len(), Ordering::Release);
        }
        fits
    }

    /// Appends a message; replaces the last one where there is no room, as a store to a full mailbox register does.
    pub fn overwrite(&self, value: u32) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() == self.capacity {
            entries.pop_back();
        }
        entries.push_back(value);
        self.count.store(entries.len(), Ordering::Release);
    }

    /// Takes the oldest message.
    #[must_use]
    pub fn try_read(&self) -> Option<u32> {
        if self.waiting() == 0 {
            return None;
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let value = entries.pop_front();
        self.count.store(entries.len(), Ordering::Release);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_keep_their_order_and_number() {
        let fifo = Fifo::new(4);
        assert!((1..=4).all(|value| fifo.try_write(value)) && !fifo.try_write(5));
        assert_eq!((fifo.waiting(), fifo.room()), (4, 0));
        fifo.overwrite(6);
        let read: Vec<u32> = std::iter::from_fn(|| fifo.try_read()).collect();
        assert_eq!((read, fifo.room()), (vec![1, 2, 3, 6], 4));
    }
}
