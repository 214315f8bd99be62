//! The primitives under every interleaving that the memory model allows (loom); it takes seconds.
//!
//! With two spinning tasks and a third, loom gives up on the branches that only spin.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use seatmap_data::port::{Addr, Barrier, Port, Stamp};

#[derive(Clone)]
struct LoomPort(Arc<Vec<AtomicU64>>);

impl LoomPort {
    fn with_words(words: usize) -> Self {
        LoomPort(Arc::new((0..words).map(|_| AtomicU64::new(0)).collect()))
    }

    fn at(&self, word: Addr) -> &AtomicU64 {
        &self.0[word.0 as usize]
    }
}

impl Port for LoomPort {
    fn load(&self, word: Addr) -> u64 {
        self.at(word).load(Ordering::Acquire)
    }

    fn store(&self, word: Addr, value: u64) {
        self.at(word).store(value, Ordering::Release);
    }

    fn fetch_add(&self, word: Addr, value: u64) -> u64 {
        self.at(word).fetch_add(value, Ordering::AcqRel)
    }

    fn compare_exchange(&self, word: Addr, current: u64, new: u64) -> Result<u64, u64> {
        self.at(word).compare_exchange(current, new, Ordering::AcqRel, Ordering::Acquire)
    }

    fn wait_while(&self, word: Addr, value: u64) -> u64 {
        loop {
            let found = self.load(word);
            if found != value {
                return found;
            }
            thread::yield_now();
        }
    }

    fn stamp(&self) -> Stamp {
        Stamp::default()
    }

    fn compute(&self, _cycles: u64) {}

    fn pause(&self) {
        thread::yield_now();
    }
}

const BARRIER: Addr = Addr(0);
const LEFT: Addr = Addr(1);
const RIGHT: Addr = Addr(2);

#[test]
fn barrier_publishes_earlier_writes() {
    loom::model(|| {
        let port = LoomPort::with_words(3);
        let other = port.clone();
        let task = thread::spawn(move || {
            other.store(LEFT, 1);
            Barrier::new(BARRIER, 2).wait(&other);
            other.load(RIGHT)
        });
        port.store(RIGHT, 2);
        Barrier::new(BARRIER, 2).wait(&port);
        assert_eq!(port.load(LEFT), 1);
        assert_eq!(task.join().unwrap(), 2);
    });
}

#[test]
fn barrier_is_reusable_immediately() {
    loom::model(|| {
        let port = LoomPort::with_words(2);
        let other = port.clone();
        let task = thread::spawn(move || {
            let barrier = Barrier::new(BARRIER, 2);
            barrier.wait(&other);
            other.fetch_add(LEFT, 1);
            barrier.wait(&other);
        });
        let barrier = Barrier::new(BARRIER, 2);
        barrier.wait(&port);
        port.fetch_add(LEFT, 1);
        barrier.wait(&port);
        assert_eq!(port.load(LEFT), 2);
        task.join().unwrap();
    });
}
