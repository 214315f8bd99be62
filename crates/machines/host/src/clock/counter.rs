//! The hardware counters and the kernel's clock, read directly.

use super::Source;
use seatmap_os::affinity::current_cpu;
use seatmap_port::Stamp;

/// The processor's own counter, if it runs at a constant rate on all CPUs.
pub(super) fn trusted() -> Option<Source> {
    architecture::trusted()
}

/// One reading.
#[inline(always)]
pub(super) fn read(source: Source) -> Stamp {
    match source {
        Source::Kernel => kernel(),
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
    use super::{Source, Stamp};
    use std::arch::x86_64::{__cpuid, __rdtscp};

    /// CPUID 8000_0007h, EDX: invariant TSC. CPUID 8000_0001h, EDX: RDTSCP (Intel SDM vol. 2A; AMD
    /// APM vol. 3).
    const INVARIANT_TSC: u32 = 1 << 8;
    const RDTSCP: u32 = 1 << 27;

    /// Linux keeps `node << 12 | cpu` in TSC_AUX (arch/x86/include/asm/segment.h,
    /// `VDSO_CPUNODE_BITS`).
    const CPU_BITS: u32 = 0xfff;

    pub(super) fn trusted() -> Option<Source> {
        let largest = __cpuid(0x8000_0000).eax;
        (has(largest, 0x8000_0007, INVARIANT_TSC) && has(largest, 0x8000_0001, RDTSCP))
            .then_some(Source::Tsc)
    }

    fn has(largest: u32, leaf: u32, bit: u32) -> bool {
        largest >= leaf && __cpuid(leaf).edx & bit != 0
    }

    #[inline(always)]
    pub(super) fn read() -> Stamp {
        let mut aux = 0;
        // SAFETY: only reached where `trusted` found RDTSCP.
        let ticks = unsafe { __rdtscp(&raw mut aux) };
        Stamp { ticks, pu: aux & CPU_BITS }
    }
}

#[cfg(target_arch = "aarch64")]
mod architecture {
    use super::{Source, Stamp, current_cpu};

    /// The virtual counter is architectural, constant and common to all CPUs (Arm ARM, D12.1).
    pub(super) fn trusted() -> Option<Source> {
        Some(Source::Cntvct)
    }

    #[inline(always)]
    pub(super) fn read() -> Stamp {
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
    use super::{Source, Stamp};

    pub(super) fn trusted() -> Option<Source> {
        None
    }

    pub(super) fn read() -> Stamp {
        super::kernel()
    }
}
