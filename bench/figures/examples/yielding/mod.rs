//! A port for plain threads, possibly more than CPUs: a waiting thread spins briefly, then yields.

use seatmap_data::port::{Addr, Port, Stamp};
use seatmap_machines::host::{HostClock, port::HostPort};
use std::sync::atomic::AtomicU64;

/// Loads before a waiting thread yields: some microseconds, the answering time of a partner on
/// another CPU.
const LOOKS: u32 = 200;

#[derive(Clone, Copy)]
pub struct Yielding<'a>(HostPort<'a>);

impl<'a> Yielding<'a> {
    pub fn new(words: &'a [AtomicU64], clock: &'a HostClock) -> Self {
        Yielding(HostPort::new(words, clock))
    }
}

impl Port for Yielding<'_> {
    fn load(&self, word: Addr) -> u64 {
        self.0.load(word)
    }

    fn store(&self, word: Addr, value: u64) {
        self.0.store(word, value);
    }

    fn fetch_add(&self, word: Addr, value: u64) -> u64 {
        self.0.fetch_add(word, value)
    }

    fn compare_exchange(&self, word: Addr, current: u64, new: u64) -> Result<u64, u64> {
        self.0.compare_exchange(word, current, new)
    }

    fn wait_while(&self, word: Addr, value: u64) -> u64 {
        loop {
            for _ in 0..LOOKS {
                let found = self.0.load(word);
                if found != value {
                    return found;
                }
                self.0.pause();
            }
            std::thread::yield_now();
        }
    }

    fn stamp(&self) -> Stamp {
        self.0.stamp()
    }

    fn compute(&self, cycles: u64) {
        self.0.compute(cycles);
    }
}
