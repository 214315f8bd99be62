//! Values handed over one by one.

use seatmap_data::port::{Addr, Port, Stamp, Workload};
use seatmap_machines::workload::SpinChannel;

/// The producer-consumer model of Liu et al. 2015 (section IV.A): a producer puts values into a
/// channel for one value with a spin lock, and a consumer takes them out.
///
/// Channel c is the line `channels[c]`, with the lock, the fullness and the value, so that all
/// three have one home. Its producer is task 2c and its consumer task 2c + 1. The lines must hold
/// zeros before the run; after it, all words but the value do.
#[derive(Clone, Debug)]
pub struct ProducerConsumer {
    /// Each channel's line.
    pub channels: Vec<Addr>,
    /// Values through each channel.
    pub values: u64,
}

/// The result of one task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handed {
    /// The clock before the first value.
    pub began: Stamp,
    /// The clock after the last value.
    pub ended: Stamp,
    /// The sum of all values.
    pub sum: u64,
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
        let channel = SpinChannel::new(port, self.channels[rank / 2]);
        let mut handed = Handed { began: port.stamp(), ..Handed::default() };
        for value in 1..=self.values {
            let mut message = [value];
            match rank % 2 {
                0 => channel.put(&message),
                _ => channel.take(&mut message),
            }
            handed.sum += message[0];
        }
        handed.ended = port.stamp();
        handed
    }
}
