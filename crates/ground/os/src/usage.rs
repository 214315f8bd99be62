//! The kernel's resource counts of a thread or process.

use std::ops::AddAssign;
use std::time::Duration;

/// CPU time of the calling thread, in nanoseconds (clock_gettime(2)).
pub fn own_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
}

/// CPU time of a thread of this process, in nanoseconds; `None` if it has ended.
pub fn cpu_ns(tid: crate::Tid) -> Option<u64> {
    // The thread's clock (`MAKE_THREAD_CPUCLOCK` with `CPUCLOCK_SCHED`).
    clock_ns((!tid << 3) | 6)
}

/// CPU time of a process, including ended threads, in nanoseconds; `None` if it has exited.
pub fn process_cpu_ns(pid: crate::Tid) -> Option<u64> {
    // The process's clock (clock_getcpuclockid(3)).
    clock_ns((!pid << 3) | 2)
}

pub(crate) fn clock_ns(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one `timespec`.
    let status = unsafe { libc::clock_gettime(clock, &raw mut time) };
    (status == 0).then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Context switches, page faults and CPU time so far (getrusage(2)).
///
/// Most kernels split the exact CPU time between user and kernel by samples at ticks, so both parts
/// are accurate only over many ticks.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResourceUsage {
    /// Switches because the thread waited.
    pub voluntary_switches: u64,
    /// Switches because it was preempted.
    pub involuntary_switches: u64,
    /// Page faults, with and without disk access.
    pub page_faults: u64,
    /// CPU time in user mode.
    pub user: Duration,
    /// CPU time in the kernel.
    pub kernel: Duration,
}

impl ResourceUsage {
    /// Usage of the calling thread. Allocates nothing.
    pub fn of_thread() -> Self {
        ResourceUsage::of(libc::RUSAGE_THREAD)
    }

    /// Usage of this process, including ended threads.
    pub fn of_process() -> Self {
        ResourceUsage::of(libc::RUSAGE_SELF)
    }

    /// Usage of reaped children and their children.
    pub fn of_children() -> Self {
        ResourceUsage::of(libc::RUSAGE_CHILDREN)
    }

    fn of(whom: libc::c_int) -> Self {
        // SAFETY: all zeros is a valid `rusage` of integers.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes one `rusage`.
        unsafe { libc::getrusage(whom, &raw mut usage) };
        ResourceUsage {
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
            page_faults: (usage.ru_minflt + usage.ru_majflt) as u64,
            user: duration(usage.ru_utime),
            kernel: duration(usage.ru_stime),
        }
    }

    /// The difference from an earlier count.
    pub fn since(self, earlier: ResourceUsage) -> Self {
        ResourceUsage {
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
            page_faults: self.page_faults.saturating_sub(earlier.page_faults),
            user: self.user.saturating_sub(earlier.user),
            kernel: self.kernel.saturating_sub(earlier.kernel),
        }
    }
}

impl AddAssign for ResourceUsage {
    fn add_assign(&mut self, other: ResourceUsage) {
        self.voluntary_switches += other.voluntary_switches;
        self.involuntary_switches += other.involuntary_switches;
        self.page_faults += other.page_faults;
        self.user += other.user;
        self.kernel += other.kernel;
    }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_clocks_agree() {
        let tid = crate::task::own_tid();
        let before = own_cpu_ns();
        let between = cpu_ns(tid).unwrap();
        let after = own_cpu_ns();
        assert!(before <= between && between <= after, "{before} {between} {after}");
        assert!(process_cpu_ns(std::process::id() as crate::Tid).is_some_and(|all| all >= after));
        assert_eq!(cpu_ns(1 << 26), None);
    }

    #[test]
    fn sleep_counts_as_switch_and_fresh_memory_as_fault() {
        let before = ResourceUsage::of_thread();
        std::thread::sleep(Duration::from_millis(1));
        // Beyond 32 MiB, the C library always takes fresh memory (mallopt(3), M_MMAP_THRESHOLD).
        std::hint::black_box(vec![1u8; 40 << 20]);
        let found = ResourceUsage::of_thread().since(before);
        assert!(found.voluntary_switches > 0 && found.page_faults > 0, "{found:?}");
    }

    #[test]
    fn ended_threads_count_for_the_process() {
        let before = ResourceUsage::of_process();
        std::thread::spawn(|| std::thread::sleep(Duration::from_millis(1))).join().unwrap();
        assert!(ResourceUsage::of_process().since(before).voluntary_switches > 0);
    }

    #[test]
    fn usage_adds_up() {
        let kernel = Duration::from_millis(1);
        let mut all = ResourceUsage { page_faults: 1, kernel, ..ResourceUsage::default() };
        all += all;
        assert_eq!((all.kernel, all.page_faults), (2 * kernel, 2));
    }
}
