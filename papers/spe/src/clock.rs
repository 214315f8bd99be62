//! The time base as programs read it: the clock of decrementers and of `__mftb`.

use crate::simulated::desk;
use crate::simulated::machine::simulated;
use crate::time_base::{TICKS_PER_SECOND, host_ticks};
use seatmap_cell_sim::session::SessionCall;

/// Ticks since the first call; on a simulated Cell, those of its own time base.
pub fn ticks() -> u64 {
    if let Some(driver) = simulated() {
        return desk::call(driver, SessionCall::TimeBase);
    }
    host_ticks()
}

/// Ticks per second of the machine.
pub fn ticks_per_second() -> f64 {
    match simulated() {
        Some(driver) => 1e9 / driver.model().figures.decrementer_ns.value,
        None => TICKS_PER_SECOND as f64,
    }
}
