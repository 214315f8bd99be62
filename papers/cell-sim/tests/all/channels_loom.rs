//! Channels on lines under every interleaving of two tasks that the memory model allows (loom);
//! takes seconds. With a third task next to two spinning ones, loom gives up on branches that only
//! spin.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use seatmap_cell_sim::channels::lines::{ChannelLayout, LineChannels, PortLines};
use seatmap_cell_sim::channels::{Channels, ProgramNeeds, SignalNumber};
use seatmap_data::port::{Addr, Port, Stamp};

/// Shared memory with every access visible to loom.
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

fn pair<T: Send + 'static>(
    signals_or: bool,
    one: fn(&LineChannels<'_, PortLines<'_, LoomPort>>) -> T,
    two: fn(&LineChannels<'_, PortLines<'_, LoomPort>>) -> T,
    check: fn(T, T),
) {
    let layout =
        ChannelLayout::new(ProgramNeeds { tasks: 2, signals_or, ..ProgramNeeds::default() }, 1)
            .unwrap();
    // Known defects of such structures show within two preemptions; without a bound the test takes
    // minutes.
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(move || {
        let port = LoomPort::with_words(layout.lines() as usize * 8);
        let other = port.clone();
        let task = thread::spawn(move || two(&LineChannels::new(&PortLines(&other), layout, 1)));
        let first = one(&LineChannels::new(&PortLines(&port), layout, 0));
        check(first, task.join().unwrap());
    });
}

#[test]
fn mail_is_delivered_and_answered() {
    pair(
        false,
        |channels| {
            channels.mailbox_write(1, 11);
            let first = channels.mailbox_read();
            channels.mailbox_write(1, first + 100);
            (first, channels.mailbox_read())
        },
        |channels| {
            channels.mailbox_write(0, 10);
            let first = channels.mailbox_read();
            channels.mailbox_write(0, first + 100);
            (first, channels.mailbox_read())
        },
        |one, two| assert_eq!((one, two), ((10, 111), (11, 110))),
    );
}

#[test]
fn full_lane_blocks_writer_without_loss() {
    pair(
        false,
        |channels| {
            (1..=7).for_each(|value| channels.mailbox_write(1, value));
            vec![]
        },
        // The seventh message reuses the first one's position.
        |channels| (1..=3).map(|_| channels.mailbox_read()).collect(),
        |_, read| assert_eq!(read, [1, 2, 3]),
    );
}

#[test]
fn outbox_blocks_writer_until_read() {
    pair(
        false,
        |channels| {
            let first = channels.outbox_read(1);
            channels.mailbox_write(1, first);
            vec![first, channels.outbox_read(1), channels.outbox_read(1)]
        },
        |channels| {
            channels.outbox_write(5);
            channels.mailbox_read();
            channels.outbox_write(6);
            channels.outbox_write(7);
            Vec::new()
        },
        |read, _| assert_eq!(read, [5, 6, 7]),
    );
}

#[test]
fn signal_loses_no_bit() {
    pair(
        true,
        |channels| {
            channels.signal(1, SignalNumber::One, 1);
            channels.signal(1, SignalNumber::One, 2);
            0
        },
        |channels| {
            let mut seen = 0;
            while seen != 3 {
                seen |= channels.signal_read(SignalNumber::One);
            }
            seen
        },
        |_, seen| assert_eq!(seen, 3),
    );
}
