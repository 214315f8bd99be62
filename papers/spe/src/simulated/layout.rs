//! The places of contexts and memory on the simulated Cell.

use crate::simulated::desk;
use crate::simulated::machine::simulated;
use std::sync::atomic::{AtomicU32, Ordering};

const ANY: u32 = u32::MAX;

static CHIP: AtomicU32 = AtomicU32::new(ANY);

/// New contexts take SPEs of this chip while one is free.
pub fn use_chip(chip: Option<u8>) {
    CHIP.store(chip.map_or(ANY, u32::from), Ordering::Relaxed);
}

/// The chip of new contexts.
pub fn chip() -> Option<u8> {
    u8::try_from(CHIP.load(Ordering::Relaxed)).ok()
}

/// Places a range of addresses in a chip's memory.
pub fn place(start: u64, bytes: u64, chip: u8) {
    if let Some(driver) = simulated() {
        desk::now(driver, move |session| {
            session.place(start, bytes, chip);
            0
        });
    }
}
