//! The current boot's id and age.

use crate::root::Root;
use crate::usage::clock_ns;

/// The kernel's id of this boot (random(4)); empty if missing.
pub fn id(root: &Root) -> String {
    root.read("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

/// Seconds since the boot, including sleep. Programs cannot set this clock.
pub fn seconds() -> u64 {
    milliseconds() / 1000
}

/// Clock ticks since the boot, the unit of a thread's start in `/proc` (proc_pid_stat(5),
/// `starttime`).
pub fn ticks() -> u64 {
    milliseconds().saturating_mul(ticks_per_s()) / 1000
}

/// Clock ticks per second; 100 on most computers.
pub fn ticks_per_s() -> u64 {
    // SAFETY: the call touches nothing.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).unwrap_or(100)
}

/// Milliseconds since the boot, comparable between processes.
pub fn milliseconds() -> u64 {
    nanoseconds() / 1_000_000
}

/// Nanoseconds since the boot, including sleep.
pub fn nanoseconds() -> u64 {
    clock_ns(libc::CLOCK_BOOTTIME).unwrap_or(0)
}

/// Nanoseconds since the boot, without sleep: the clock of kernel programs (`bpf_ktime_get_ns`).
pub fn awake_nanoseconds() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC).unwrap_or(0)
}
