//! The time base: the clock of decrementers and of `__mftb`.

use crate::simulated::desk;
use crate::simulated::machine::simulated;
use seatmap_sim::cell_be::session::Call;
use std::sync::OnceLock;
use std::time::Instant;

/// Ticks a second: the time base of a PlayStation 3, 79.8 MHz.
pub const TICKS_PER_SECOND: u64 = 79_800_000;

/// Ticks since the library was first asked; on a simulated Cell, those of its own time base.
#[must_use]
pub fn ticks() -> u64 {
    if let Some(driver) = simulated() {
        return desk::call(driver, Call::TimeBase);
    }
    host_ticks()
}

/// Ticks a second of the machine under the library.
#[must_use]
pub fn ticks_per_second() -> f64 {
    match simulated() {
        Some(driver) => 1e9 / driver.model().figures.decrementer_ns.value,
        None => TICKS_PER_SECOND as f64,
    }
}

/// Ticks of this computer since the library was first asked.
#[must_use]
pub fn host_ticks() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let elapsed_ns = START.get_or_init(Instant::now).elapsed().as_nanos();
    u64::try_from(elapsed_ns * u128::from(TICKS_PER_SECOND) / 1_000_000_000).unwrap_or(u64::MAX)
}
