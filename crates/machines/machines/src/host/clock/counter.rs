//! The hardware counters and the kernel's clock, read directly.

use super::{ClockSource, CounterFlaw};
use seatmap_data::port::Stamp;
use seatmap_os::Root;
use seatmap_os::affinity::current_cpu;

/// The clocks that the kernel offers (Documentation/ABI/testing/sysfs-devices-system-clocksource).
const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

pub fn trusted(root: &Root) -> Result<ClockSource, CounterFlaw> {
    let source = architecture::constant()?;
    if is_left_out(root, architecture::CLOCK) { Err(CounterFlaw::Distrusted) } else { Ok(source) }
}

/// Whether the kernel does not offer the counter as a clock. A processor only describes itself, but
/// the kernel compares the counters of all: those of two sockets may be hours apart, and threads
/// that start at one value would wait that long. On Arm the kernel withdraws a counter that the
/// firmware set wrong. The chosen clock does not matter: virtual machines prefer `kvm-clock` to a
/// good counter.
fn is_left_out(root: &Root, counter: &str) -> bool {
    let clocks = root.read(CLOCKS).unwrap_or_default();
    !clocks.is_empty() && !clocks.split_whitespace().any(|clock| clock == counter)
}

#[inline(always)]
pub fn read(source: ClockSource) -> Stamp {
    match source {
        ClockSource::Kernel => kernel(),
        _ => architecture::read(),
    }
}

fn kernel() -> Stamp {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one `timespec` to a place that holds one.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &raw mut time) };
    Stamp { ticks: time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64, pu: current_cpu() }
}

#[cfg(target_arch = "x86_64")]
mod architecture {
    use super::{ClockSource, CounterFlaw, Stamp};
    use crate::host::cpuid;
    use std::arch::x86_64::__rdtscp;

    /// CPUID 8000_0007h, EDX: invariant TSC. CPUID 8000_0001h, EDX: RDTSCP (Intel SDM vol. 2A; AMD
    /// APM vol. 3).
    const INVARIANT_TSC: u32 = 1 << 8;
    const RDTSCP: u32 = 1 << 27;

    /// Linux keeps `node << 12 | cpu` in TSC_AUX (arch/x86/include/asm/segment.h,
    /// `VDSO_CPUNODE_BITS`).
    const CPU_BITS: u32 = 0xfff;

    pub const CLOCK: &str = "tsc";

    pub fn constant() -> Result<ClockSource, CounterFlaw> {
        let largest = cpuid::leaf(0x8000_0000).eax;
        if has(largest, 0x8000_0007, INVARIANT_TSC) && has(largest, 0x8000_0001, RDTSCP) {
            Ok(ClockSource::Tsc)
        } else {
            Err(CounterFlaw::NotInvariant)
        }
    }

    fn has(largest: u32, leaf: u32, bit: u32) -> bool {
        largest >= leaf && cpuid::leaf(leaf).edx & bit != 0
    }

    #[inline(always)]
    pub fn read() -> Stamp {
        let mut aux = 0;
        // SAFETY: only reached where `trusted` found RDTSCP.
        let ticks = unsafe { __rdtscp(&raw mut aux) };
        Stamp { ticks, pu: aux & CPU_BITS }
    }
}

#[cfg(target_arch = "aarch64")]
mod architecture {
    use super::{ClockSource, CounterFlaw, Stamp, current_cpu};

    pub const CLOCK: &str = "arch_sys_counter";

    /// The virtual counter is architectural, constant and common to all CPUs (Arm ARM, D12.1).
    pub fn constant() -> Result<ClockSource, CounterFlaw> {
        Ok(ClockSource::Cntvct)
    }

    #[inline(always)]
    pub fn read() -> Stamp {
        let ticks: u64;
        // SAFETY: CNTVCT_EL0 is readable from user space under Linux; the barrier keeps the reading
        // in program order.
        unsafe {
            std::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) ticks, options(nostack, nomem))
        };
        Stamp { ticks, pu: current_cpu() }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod architecture {
    use super::{ClockSource, CounterFlaw, Stamp};

    pub const CLOCK: &str = "";

    pub fn constant() -> Result<ClockSource, CounterFlaw> {
        Err(CounterFlaw::NotInvariant)
    }

    pub fn read() -> Stamp {
        super::kernel()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_rejected_by_the_kernel_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        assert!(!is_left_out(&root, "tsc"), "where the kernel says nothing, the processor counts");
        std::fs::create_dir_all(root.path(CLOCKS).parent().unwrap()).unwrap();
        let cases = [
            ("tsc kvm-clock \n", "tsc", false),
            ("hpet acpi_pm\n", "tsc", true),
            ("tsc-early hpet", "tsc", true),
            ("arch_sys_counter \n", "arch_sys_counter", false),
            ("timer \n", "arch_sys_counter", true),
        ];
        for (clocks, counter, is_out) in cases {
            std::fs::write(root.path(CLOCKS), clocks).unwrap();
            assert_eq!(is_left_out(&root, counter), is_out, "{clocks}");
        }
        std::fs::write(root.path(CLOCKS), "jiffies\n").unwrap();
        assert!(trusted(&root).is_err(), "no processor's counter is called so");
    }
}
