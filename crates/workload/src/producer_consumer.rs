//! Values handed over one by one.

use seatmap_port::{Addr, Port, Stamp, WORDS_PER_LINE, Workload};

/// The producer-consumer model of Liu et al. 2015 (section IV.A): a producer puts values into a channel that holds one and is
/// guarded by a spin lock, a consumer takes them out.
///
/// Channel c is the line `channels[c]`: lock, whether it is full, and the value, so that all of it has one home. Its producer is
/// task 2c and its consumer task 2c + 1. The lines must hold zeros, and do so again afterwards but for the value.
#[derive(Clone, Debug)]
pub struct ProducerConsumer {
    /// The line of each channel.
    pub channels: Vec<Addr>,
    /// Values through each.
    pub values: u64,
}

/// What a task did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handed {
    /// The clock before the first value.
    pub began: Stamp,
    /// After the last.
    pub ended: Stamp,
    /// All values added up.
    pub sum: u64,
}

/// One channel, as one side sees it.
struct Channel<'a, P> {
    port: &'a P,
    lock: Addr,
    full: Addr,
    value: Addr,
}

impl<'a, P: Port> Channel<'a, P> {
    fn new(port: &'a P, line: Addr) -> Self {
        Channel { port, lock: line, full: line.word(1), value: line.word(2) }
    }

    /// Waits until the channel is (`full` 1) or is not full, and then does something under the lock.
    fn when<T>(&self, full: u64, act: impl FnOnce() -> T) -> T {
        self.port.wait_while(self.full, 1 - full);
        while self.port.compare_exchange(self.lock, 0, 1).is_err() {
            self.port.wait_while(self.lock, 1);
        }
        let done = act();
        self.port.store(self.full, 1 - full);
        self.port.store(self.lock, 0);
        done
    }

    fn put(&self, value: u64) {
        self.when(0, || self.port.store(self.value, value));
    }

    fn take(&self) -> u64 {
        self.when(1, || self.port.load(self.value))
    }
}

impl Workload for ProducerConsumer {
    type Output = Handed;

    fn tasks(&self) -> usize {
        2 * self.channels.len()
    }

    fn lines(&self) -> u32 {
        self.channels.iter().map(|line| line.line_index() + 1).max().unwrap_or(0)
    }

    fn task<P: Port>(&self, port: &P, rank: usize) -> Handed {
        let line = Addr(self.channels[rank / 2].line_index() * WORDS_PER_LINE);
        let channel = Channel::new(port, line);
        let mut handed = Handed { began: port.stamp(), ..Handed::default() };
        for value in 1..=self.values {
            handed.sum += match rank % 2 {
                0 => {
                    channel.put(value);
                    value
                }
                _ => channel.take(),
            };
        }
        handed.ended = port.stamp();
        handed
    }
}
