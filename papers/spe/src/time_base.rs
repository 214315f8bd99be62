//! The time base of this computer, which decrementers count.

use std::sync::OnceLock;
use std::time::Instant;

/// Ticks per second: the time base of a PlayStation 3, 79.8 MHz.
pub const TICKS_PER_SECOND: u64 = 79_800_000;

/// Ticks of this computer since the first call.
pub fn host_ticks() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let elapsed_ns = START.get_or_init(Instant::now).elapsed().as_nanos();
    u64::try_from(elapsed_ns * u128::from(TICKS_PER_SECOND) / 1_000_000_000).unwrap_or(u64::MAX)
}
