//! How many processors there are, and the clock of programs on the PPE.

use crate::call::{Errno, number};
use seatmap_spe::{clock, pool};
use std::ffi::c_int;

/// Counts processors: 1 nodes, 2 SPEs, 3 SPEs that can be used. A node of -1 means all; the only one is 0.
#[unsafe(no_mangle)]
pub extern "C" fn spe_cpu_info_get(info_requested: c_int, cpu_node: c_int) -> c_int {
    number(|| match (info_requested, cpu_node) {
        (1, -1 | 0) => Ok(1),
        (2 | 3, -1 | 0) => c_int::try_from(pool::seats()).map_err(|_| Errno(libc::EINVAL)),
        _ => Err(Errno(libc::EINVAL)),
    })
}

/// The time base, for `__mftb`.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_spe_timebase() -> u64 {
    clock::ticks()
}
