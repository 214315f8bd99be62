//! Mailboxes and bells under all interleavings of the memory model with up to five preemptions, in
//! seconds. More preemptions have found nothing so far and take a minute: `LOOM_MAX_PREEMPTIONS=100
//! cargo test --test loom`.
//!
//! The modules are those of the library, over loom's atomics. A test harness would also build their
//! own tests, which need real threads.
#![allow(
    dead_code,
    unused_imports,
    reason = "a part of each module is used, and none of its own tests"
)]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "../../src/bell.rs"]
mod bell;
#[path = "../../src/mailbox.rs"]
mod mailbox;
#[path = "../../src/message.rs"]
mod message;
#[path = "../../src/options.rs"]
mod options;
mod primitive;
#[path = "../../src/signal.rs"]
mod signal;

use loom::thread;
use mailbox::mailboxes;
use options::Polling;
use primitive::{AtomicU32, Ordering};
use signal::WorkerSignal;
use std::sync::Arc;

const MODELS: [fn(); 4] = [
    sleeping_reader_is_always_woken,
    writer_waiting_for_room_is_always_woken,
    signal_loses_no_bit,
    sleeping_reader_detects_dropped_writer,
];

fn main() {
    // Each model has a thread, and its panic ends the scope with one.
    std::thread::scope(|scope| {
        for model in MODELS {
            scope.spawn(model);
        }
    });
    println!("loom: {} models hold", MODELS.len());
}

/// Runs the model under all interleavings with so many preemptions.
fn hold(model: fn()) {
    let mut explorer = loom::model::Builder::new();
    explorer.preemption_bound = explorer.preemption_bound.or(Some(5));
    explorer.check(model);
}

fn sleeping_reader_is_always_woken() {
    hold(|| {
        let (mut reader, mut writer) = mailboxes([1, 1], Polling::Sleep);
        let wrote = thread::spawn(move || writer.write(7, never));
        assert_eq!(reader.read(never), Some(7));
        assert!(wrote.join().unwrap());
    });
}

fn never() -> bool {
    false
}

/// A message that the writer leaves before it exits is read.
fn sleeping_reader_detects_dropped_writer() {
    hold(|| {
        let (mut reader, mut writer) = mailboxes([1, 1], Polling::Sleep);
        let gone = Arc::new(AtomicU32::new(0));
        let goes = Arc::clone(&gone);
        let wrote = thread::spawn(move || {
            assert!(writer.write(7, never));
            goes.store(1, Ordering::Release);
            writer.ring();
        });
        let is_gone = || gone.load(Ordering::Acquire) == 1;
        assert_eq!((reader.read(is_gone), reader.read(is_gone)), (Some(7), None));
        wrote.join().unwrap();
    });
}

fn writer_waiting_for_room_is_always_woken() {
    hold(|| {
        let (mut reader, mut writer) = mailboxes([1, 1], Polling::Sleep);
        let wrote = thread::spawn(move || (0..2).all(|value| writer.write(value, never)));
        assert_eq!((reader.read(never), reader.read(never)), (Some(0), Some(1)));
        assert!(wrote.join().unwrap());
    });
}

fn signal_loses_no_bit() {
    hold(|| {
        let signal = Arc::new(WorkerSignal::new(true, Polling::Sleep));
        let other = Arc::clone(&signal);
        let wrote = thread::spawn(move || {
            other.write(1);
            other.write(2);
        });
        let mut bits = 0;
        while bits != 3 {
            bits |= signal.read(never).unwrap();
        }
        wrote.join().unwrap();
    });
}
