//! Mailboxes and bells under every interleaving that the memory model allows:
//! `cargo test -p seatmap-worker --features loom --test loom --release`, seconds in all.
#![cfg(feature = "loom")]

use loom::thread;
use seatmap_worker::Polling;
use seatmap_worker::mailbox::mailboxes;
use seatmap_worker::signal::Signal;
use std::sync::Arc;

#[test]
fn a_sleeping_reader_is_always_woken() {
    loom::model(|| {
        let (mut reader, mut writer) = mailboxes([1, 1], Polling::Sleep);
        let wrote = thread::spawn(move || writer.write(7));
        assert_eq!(reader.read(), 7);
        wrote.join().unwrap();
    });
}

#[test]
fn a_writer_that_waits_for_room_is_always_woken() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let (mut reader, mut writer) = mailboxes([1, 1], Polling::Sleep);
        let wrote = thread::spawn(move || (0..2).for_each(|value| writer.write(value)));
        assert_eq!((reader.read(), reader.read()), (0, 1));
        wrote.join().unwrap();
    });
}

#[test]
fn no_bit_of_a_signal_is_lost() {
    loom::model(|| {
        let signal = Arc::new(Signal::new(true, Polling::Sleep));
        let other = Arc::clone(&signal);
        let wrote = thread::spawn(move || {
            other.write(1);
            other.write(2);
        });
        let mut bits = 0;
        while bits != 3 {
            bits |= signal.read();
        }
        wrote.join().unwrap();
    });
}
