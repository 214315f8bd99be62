//! The numbers of processors, and the clock for programs on the PPE.

use crate::call::{Errno, number};
use seatmap_spe::clock;
use seatmap_spe::simulated::layout;
use std::ffi::{c_int, c_void};

/// Counts processors: 1 nodes, 2 SPEs, 3 usable SPEs. A node of -1 means all.
#[unsafe(no_mangle)]
pub extern "C" fn spe_cpu_info_get(info_requested: c_int, cpu_node: c_int) -> c_int {
    number(|| {
        let (nodes, spes) = seatmap_spe::processors()?;
        let known = usize::try_from(cpu_node).map_or(cpu_node == -1, |node| node < nodes);
        let count = match info_requested {
            _ if !known => None,
            // As in libspe2, nodes are only counted for the whole machine.
            1 => (cpu_node == -1).then_some(nodes),
            2 | 3 => Some(if cpu_node == -1 { spes } else { spes / nodes }),
            _ => None,
        };
        count.and_then(|count| c_int::try_from(count).ok()).ok_or(Errno(libc::EINVAL))
    })
}

/// The time base, for `__mftb`.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_spe_timebase() -> u64 {
    clock::ticks()
}

/// New contexts take SPEs of this chip of the simulated Cell; of any, for a negative number.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_spe_use_chip(chip: c_int) {
    layout::use_chip(u8::try_from(chip).ok());
}

/// Places addresses in the memory of a chip of the simulated Cell.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_spe_place(start: *mut c_void, bytes: usize, chip: c_int) {
    layout::place(start as u64, bytes as u64, u8::try_from(chip).unwrap_or(0));
}

/// Ticks of the time base per second.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_spe_ticks_per_second() -> f64 {
    clock::ticks_per_second()
}

/// Sets and returns the program's action for a fault signal. The library handles the signal first,
/// because SPU programs may fault. Returns 0 for other signals.
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_spe_disposition(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: C's promise: NULL or a structure.
    let Some(before) = seatmap_spe::faults::disposition(signal, unsafe { new.as_ref() }) else {
        return 0;
    };
    // SAFETY: as above.
    if let Some(old) = unsafe { old.as_mut() } {
        *old = before;
    }
    1
}
