//! Plain loops of two threads: atomics, copies, messages. They share no code with what they are
//! held against.

use seatmap_os::affinity;
use std::hint::{black_box, spin_loop};
use std::io;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Instant;

/// Operations of an atomic or a message: enough that starting and stopping the threads does not
/// count.
const OPERATIONS: usize = 50_000;
/// Bytes copied by each thread.
const COPIED_BYTES: usize = 8 << 20;

/// An atomic operation on a word.
#[derive(Clone, Copy)]
pub enum Operation {
    FetchAdd,
    Swap,
    CompareExchange,
}

/// A value on lines of its own.
#[repr(align(256))]
#[derive(Default)]
struct Apart<T>(T);

/// Two threads on two CPUs: each waits for the other by spinning, and then loops. Nanoseconds of
/// each.
pub fn both(cpus: [u32; 2], body: impl Fn(usize) + Sync) -> io::Result<[f64; 2]> {
    let ready = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let ready = &ready;
        let body = &body;
        let [one, other] = [0, 1].map(|at| scope.spawn(move || side(cpus[at], ready, || body(at))));
        Ok([one.join().map_err(panicked)??, other.join().map_err(panicked)??])
    })
}

fn side(cpu: u32, ready: &AtomicU64, body: impl FnOnce()) -> io::Result<f64> {
    let pinned = affinity::pin(&[cpu]);
    ready.fetch_add(1, AcqRel);
    // Both begin at once.
    while ready.load(Acquire) < 2 {
        spin_loop();
    }
    // Only now: the other one waits for a thread that could not be pinned, too.
    pinned?;
    let began = Instant::now();
    body();
    Ok(began.elapsed().as_nanos() as f64)
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> io::Error {
    io::Error::other("a plain loop panicked")
}

/// An operation on a word of 64 bits, the same one or each its own.
pub fn atomics(cpus: [u32; 2], operation: Operation, is_shared: bool) -> io::Result<[f64; 2]> {
    let words: [Apart<AtomicU64>; 2] = Default::default();
    let times = both(cpus, |at| {
        let word = &words[if is_shared { 0 } else { at }].0;
        let mut found = 0;
        match operation {
            Operation::FetchAdd => (0..OPERATIONS).for_each(|_| found = word.fetch_add(1, AcqRel)),
            Operation::Swap => (0..OPERATIONS).for_each(|_| found = word.swap(found + 1, AcqRel)),
            Operation::CompareExchange => (0..OPERATIONS).for_each(|_| {
                found = match word.compare_exchange(found, found + 1, AcqRel, Acquire) {
                    Ok(before) => before + 1,
                    // The next try begins from the other's value, as a loop of compare and exchange
                    // does.
                    Err(before) => before,
                }
            }),
        }
        black_box(found);
    })?;
    Ok(times.map(|ns| ns / OPERATIONS as f64))
}

/// Nanoseconds of an operation on words of 32 bits, on one line or on one each.
pub fn halves(cpus: [u32; 2], operation: Operation, is_shared: bool) -> io::Result<[f64; 2]> {
    let words: [Apart<AtomicU32>; 2] = Default::default();
    let times = both(cpus, |at| {
        let word = &words[if is_shared { 0 } else { at }].0;
        for _ in 0..OPERATIONS {
            black_box(match operation {
                Operation::FetchAdd => word.fetch_add(3, AcqRel),
                _ => word.swap(1, AcqRel),
            });
        }
    })?;
    Ok(times.map(|ns| ns / OPERATIONS as f64))
}

/// Words copied one by one from a buffer to one of the thread's own, or from there to a buffer.
pub fn copies(cpus: [u32; 2], words: usize, is_get: bool, is_shared: bool) -> io::Result<[f64; 2]> {
    let far = [buffer(words), buffer(words)];
    let own = [buffer(words), buffer(words)];
    // The same number of bytes for each size, so that rows of all sizes take as long.
    let times = COPIED_BYTES / (8 * words);
    let ns = both(cpus, |at| {
        let far = &far[if is_shared { 0 } else { at }];
        let own = &own[at];
        for _ in 0..times {
            let (from, to) = if is_get { (far, own) } else { (own, far) };
            for (from, to) in black_box(from).iter().zip(black_box(to)) {
                to.store(from.load(Acquire), Release);
            }
        }
    })?;
    Ok(ns.map(|ns| ns / times as f64))
}

fn buffer(words: usize) -> Vec<AtomicU64> {
    (0..words).map(|_| AtomicU64::new(1)).collect::<Vec<_>>()
}

/// Numbers there and back, both on one line, as seldom as a line can go.
pub fn messages(cpus: [u32; 2]) -> io::Result<[f64; 2]> {
    let line = Apart([AtomicU64::new(0), AtomicU64::new(0)]);
    let [there, back] = &line.0;
    let times = both(cpus, |at| {
        for number in 1..=OPERATIONS as u64 {
            if at == 0 {
                there.store(number, Release);
                wait(back, number);
            } else {
                wait(there, number);
                back.store(number, Release);
            }
        }
    })?;
    Ok(times.map(|ns| ns / OPERATIONS as f64))
}

fn wait(word: &AtomicU64, number: u64) {
    while word.load(Acquire) != number {
        spin_loop();
    }
}
