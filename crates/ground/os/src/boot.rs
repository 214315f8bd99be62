//! The id of the current boot, and how long it has lasted.

use crate::root::Root;

/// The kernel's name for this boot (random(4)); empty where it has none.
#[must_use]
pub fn id(root: &Root) -> String {
    root.read("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

/// Seconds since the boot, sleep included: no program can set this clock.
#[must_use]
pub fn seconds() -> u64 {
    milliseconds() / 1000
}

/// The same in clock ticks, the unit in which `/proc` says when a thread started (proc_pid_stat(5),
/// `starttime`).
#[must_use]
pub fn ticks() -> u64 {
    milliseconds().saturating_mul(ticks_per_s()) / 1000
}

/// Clock ticks in a second, 100 on most computers.
#[must_use]
pub fn ticks_per_s() -> u64 {
    // SAFETY: the call touches nothing.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).unwrap_or(100)
}

/// Milliseconds since boot: two processes of one boot can compare their readings.
#[must_use]
pub fn milliseconds() -> u64 {
    nanoseconds() / 1_000_000
}

/// Nanoseconds since boot, with the time of a suspended computer.
#[must_use]
pub fn nanoseconds() -> u64 {
    read(libc::CLOCK_BOOTTIME)
}

/// The same without the time that the computer slept, in ns: the clock of programs in the kernel
/// (`bpf_ktime_get_ns`).
#[must_use]
pub fn awake_nanoseconds() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is writable, and the clocks have been there since Linux 2.6.39.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    u64::try_from(now.tv_sec * 1_000_000_000 + now.tv_nsec).unwrap_or(0)
}
