//! Workers.

use crate::failure::WorkerCallFailure;
use crate::status::WorkerStatus;
use seatmap_c_abi::{Boundary, take_back};
use seatmap_worker::options::STORE_BYTES;
use std::ffi::c_int;
use std::time::Duration;

/// The most CPUs; no machine has more.
const MOST_CPUS: usize = 1 << 20;

/// The first signal register gathers bits (OR) instead of keeping the last value; libspe2's
/// SPE_CFG_SIGNOTIFY1_OR.
pub const SEATMAP_SIGNOTIFY1_OR: u32 = 0x10;

/// The second signal register gathers bits (OR) instead of keeping the last value; libspe2's
/// SPE_CFG_SIGNOTIFY2_OR.
pub const SEATMAP_SIGNOTIFY2_OR: u32 = 0x20;

/// Workers, each on its CPU, until they and all their contexts are destroyed.
pub struct RuntimeHandle(pub(crate) seatmap_worker::Runtime);

/// How workers, and the threads that wait for them, wait.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollingMode {
    /// They spin: the fastest, but the CPU is never free.
    Spin = 0,
    /// They spin for spin_us, then sleep until woken.
    Adaptive = 1,
    /// They sleep at once, for workers on a shared CPU.
    Sleep = 2,
}

/// The options of new workers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RuntimeOptions {
    /// The size of each local store in bytes; 0 for 256 KiB, as on a Cell.
    pub store_bytes: usize,
    /// One of seatmap_polling.
    pub polling: c_int,
    /// The time to poll before sleeping, in microseconds, for SEATMAP_POLLING_ADAPTIVE.
    pub spin_us: u32,
    /// SEATMAP_SIGNOTIFY1_OR and SEATMAP_SIGNOTIFY2_OR, or 0.
    pub flags: u32,
}

impl RuntimeOptions {
    fn meant(&self) -> Result<seatmap_worker::WorkerOptions, WorkerCallFailure> {
        let polling = match self.polling {
            polling if polling == PollingMode::Spin as c_int => seatmap_worker::Polling::Spin,
            polling if polling == PollingMode::Adaptive as c_int => {
                seatmap_worker::Polling::Adaptive(Duration::from_micros(self.spin_us.into()))
            }
            polling if polling == PollingMode::Sleep as c_int => seatmap_worker::Polling::Sleep,
            other => {
                return Err(WorkerCallFailure::argument(format!(
                    "{other} is not a seatmap_polling"
                )));
            }
        };
        let known = SEATMAP_SIGNOTIFY1_OR | SEATMAP_SIGNOTIFY2_OR;
        if self.flags & !known != 0 {
            return Err(WorkerCallFailure::argument(format!(
                "flags is {:#x}; there are {known:#x}",
                self.flags
            )));
        }
        let signals_or =
            [SEATMAP_SIGNOTIFY1_OR, SEATMAP_SIGNOTIFY2_OR].map(|flag| self.flags & flag != 0);
        let store_bytes = if self.store_bytes == 0 { STORE_BYTES } else { self.store_bytes };
        Ok(seatmap_worker::WorkerOptions { store_bytes, polling, signals_or })
    }
}

/// Creates a worker on each CPU, by the operating system's numbers, each once. NULL options mean
/// stores of 256 KiB, workers that spin, and signals that keep the last value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_runtime_create(
    cpus: *const u32,
    count: usize,
    options: *const RuntimeOptions,
    runtime: *mut *mut RuntimeHandle,
) -> WorkerStatus {
    let usual = RuntimeOptions {
        store_bytes: 0,
        polling: PollingMode::Spin as c_int,
        spin_us: 0,
        flags: 0,
    };
    let make = || {
        let count = WorkerCallFailure::counted(cpus, count, "cpus")?;
        if !(1..=MOST_CPUS).contains(&count) {
            return Err(WorkerCallFailure::argument(format!(
                "count is {count}; a runtime has 1 to {MOST_CPUS} CPUs"
            )));
        }
        // SAFETY: not NULL, as it has elements; the caller promises that they exist.
        let cpus = unsafe { std::slice::from_raw_parts(cpus, count) };
        // SAFETY: the caller keeps the rules of the header.
        let options = unsafe { WorkerCallFailure::known(options, "options") }.unwrap_or(&usual);
        Ok(RuntimeHandle(seatmap_worker::Runtime::new(cpus, options.meant()?)?))
    };
    // SAFETY: the caller keeps the rules of the header.
    unsafe { WorkerCallFailure::give(runtime, "runtime", make) }
}

/// The number of workers; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_runtime_workers(runtime: *const RuntimeHandle) -> usize {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { WorkerCallFailure::known(runtime, "runtime") }.map_or(0, |runtime| runtime.0.workers())
}

/// Ends the workers outside of contexts, and each other one when its context is destroyed; NULL is
/// allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_runtime_destroy(runtime: *mut RuntimeHandle) {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { take_back(runtime) }
}

/// The CPUs that this process may use, ascending: writes up to `room` of them to `cpus`, and their
/// number to `count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_allowed_cpus(
    cpus: *mut u32,
    room: usize,
    count: *mut usize,
) -> WorkerStatus {
    WorkerCallFailure::call(|| {
        // SAFETY: the caller keeps the rules of the header.
        let count = unsafe { WorkerCallFailure::changed(count, "count") }?;
        let room = WorkerCallFailure::counted(cpus, room, "cpus")?;
        let allowed = seatmap_worker::allowed_cpus()?;
        *count = allowed.len();
        if room > 0 {
            // SAFETY: not NULL, as it has room, and no longer than that.
            unsafe {
                std::ptr::copy_nonoverlapping(allowed.as_ptr(), cpus, room.min(allowed.len()))
            };
        }
        Ok(())
    })
}
