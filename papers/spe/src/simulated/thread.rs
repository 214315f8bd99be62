//! Threads of the PPE created by the program, and their waits for each other in virtual time.

use crate::simulated::desk;
use crate::simulated::machine::simulated;
use crate::simulated::request::{Driver, DriverSlot};
use seatmap_cell_sim::session::SessionCall;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

static LIVING: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// Whether the machine is a simulated Cell.
pub fn is_simulated() -> bool {
    simulated().is_some()
}

fn with<T>(work: impl FnOnce(&Arc<Driver>) -> T) -> Option<T> {
    simulated().map(work)
}

/// Creates a slot for the next thread; `None` on this computer.
pub fn open() -> Option<Arc<DriverSlot>> {
    with(desk::open)
}

/// Removes the slot of a thread that could not be created.
pub fn close(desk: Arc<DriverSlot>) {
    with(|driver| desk::close(driver, desk));
}

/// Records this slot's new thread. It has not yet started, because its creator runs.
pub fn born(desk: &DriverSlot, thread: u64) {
    let task = desk.task.load(Ordering::Acquire) as u16;
    with(|driver| {
        desk::now(driver, move |session| {
            session.set_key(task, thread);
            0
        })
    });
    LIVING.lock().unwrap_or_else(PoisonError::into_inner).insert(thread);
}

/// Starts the calling thread at its slot.
pub fn begin(desk: Arc<DriverSlot>) {
    with(|driver| desk::take(driver, desk));
}

/// Ends the calling thread, and wakes the threads that wait for that.
pub fn end(thread: u64) {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner).remove(&thread);
    wake(thread, u32::MAX);
    desk::leave();
}

/// Whether a thread has not ended.
pub fn lives(thread: u64) -> bool {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner).contains(&thread)
}

/// Waits until another thread wakes this key's waiters, or until a time in nanoseconds. Returns
/// whether it was woken.
pub fn park(key: u64, until_ns: Option<u64>) -> bool {
    with(|driver| {
        let ghz = driver.model().frequency_ghz;
        let until = until_ns.map(|ns| (ns as f64 * ghz) as u64);
        desk::call(driver, SessionCall::Park { key, until }) != 0
    })
    .unwrap_or(true)
}

/// Wakes up to `most` waiters of a key.
pub fn wake(key: u64, most: u32) {
    with(|driver| desk::now(driver, move |session| session.wake(key, most as usize) as u64));
}

/// Waits in virtual time.
pub fn sleep(ns: u64) {
    with(|driver| {
        desk::call(driver, SessionCall::Work(((ns as f64) * driver.model().frequency_ghz) as u64))
    });
}

/// Nanoseconds since the machine's start.
pub fn time_ns() -> u64 {
    with(|driver| {
        let cycles = desk::call(driver, SessionCall::Clock);
        (cycles as f64 / driver.model().frequency_ghz) as u64
    })
    .unwrap_or(0)
}
