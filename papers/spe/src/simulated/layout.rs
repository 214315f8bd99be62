//! Where contexts and memory lie on the simulated Cell, for programs that say so.

use crate::simulated::desk;
use crate::simulated::machine::simulated;
use std::sync::atomic::{AtomicU32, Ordering};

/// No chip in particular.
const ANY: u32 = u32::MAX;

static CHIP: AtomicU32 = AtomicU32::new(ANY);

/// Has contexts that are created from now on take SPEs of this chip, as long as one is free.
pub fn use_chip(chip: Option<u8>) {
    CHIP.store(chip.map_or(ANY, u32::from), Ordering::Relaxed);
}

/// The chip whose SPEs new contexts take.
#[must_use]
pub fn chip() -> Option<u8> {
    u8::try_from(CHIP.load(Ordering::Relaxed)).ok()
}

/// Has a range of addresses lie in the memory of a chip.
pub fn place(start: u64, bytes: u64, chip: u8) {
    if let Some(driver) = simulated() {
        desk::now(driver, move |session| {
            session.place(start, bytes, chip);
            0
        });
    }
}
