//! Verified pinning of the calling thread, and masks to restore.
//!
//! sched_getaffinity(2) omits offline CPUs: a mask restored from it lacks them even after they
//! return.
//!
//! | question | function |
//! |---|---|
//! | where may this thread run now? | [`current`], [`CpuSet::of_thread`] |
//! | what is its mask, with offline CPUs? | [`whole`] |
//! | which mask restores its present one? | [`to_put_back`] |
//! | does it have a given mask? | [`bind`], [`has_mask`], [`is_as_given`] |
//! | what does this process's cpuset allow? | [`granted`] |
//!
//! Linux 6.3 and newer keep offline CPUs in masks outside cpusets, and remember requested masks in
//! cpusets. Older kernels remove offline CPUs from every new mask ([`forgets_offline`];
//! [`crate::forgotten`] finds the missing CPUs).

use crate::hierarchy::{Hierarchies, is_first_namespace};
use crate::kernel::version;
use crate::root::Root;
use crate::{CpuSet, Tid, layout, small, task, traced};
use std::io;
use std::sync::OnceLock;
use std::thread;

/// The first kernel that keeps offline CPUs in new masks: "cgroup/cpuset: Don't filter offline CPUs
/// in cpuset_cpus_allowed() for top cpuset tasks", after "sched: Always preserve the user requested
/// cpumask" in 6.2.
const KEEPS_OFFLINE: (u32, u32) = (6, 3);

/// The largest `NR_CPUS` (arch/x86/Kconfig).
const MOST_CPUS: u32 = 8192;

/// The CPUs allowed for the calling thread, ascending.
///
/// # Errors
/// The kernel's.
pub fn current() -> io::Result<Vec<u32>> {
    Ok(CpuSet::of_thread(0)?.iter().collect())
}

/// Restricts the calling thread to exactly these CPUs and verifies it.
///
/// # Errors
/// The kernel's, or `InvalidInput` if the mask differs: the kernel silently drops CPUs outside the
/// cpuset.
pub fn pin(cpus: &[u32]) -> io::Result<()> {
    let mask: CpuSet = cpus.iter().copied().collect();
    mask.give(0)?;
    let seated = CpuSet::of_thread(0)?;
    if seated == mask {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("requested CPUs {mask}, but the kernel set CPUs {seated}"),
        ))
    }
}

/// A thread's mask including offline CPUs, unless `/proc` hides it; thread 0 is the caller.
///
/// # Errors
/// The kernel's: `ESRCH` if the thread has exited.
pub fn whole(tid: Tid) -> io::Result<CpuSet> {
    let tid = task::real_tid(tid);
    traced::status(tid)
        .and_then(|status| CpuSet::of_list(&small::value_of(&status, "Cpus_allowed_list")?))
        .filter(|mask| !mask.is_empty())
        .map_or_else(|| CpuSet::of_thread(tid), Ok)
}

/// The mask that restores a thread's present rights; thread 0 is the caller. With all online CPUs
/// of its cpuset, it also gets the offline ones.
///
/// # Errors
/// As [`whole`].
pub fn to_put_back(tid: Tid) -> io::Result<CpuSet> {
    let whole = whole(tid)?;
    let hidden = offline().without(&whole);
    if hidden.is_empty() {
        return Ok(whole);
    }
    let is_open = cpuset_of(tid).is_some_and(|cpuset| cpuset.is_subset(&whole));
    Ok(if is_open { whole.with(&hidden) } else { whole })
}

/// Whether a thread has the given mask on all online CPUs; thread 0 is the caller.
///
/// # Errors
/// As [`whole`].
pub fn has_mask(tid: Tid, given: &CpuSet) -> io::Result<bool> {
    Ok(is_as_given(given, &CpuSet::of_thread(tid)?))
}

/// Sets a thread's mask. Returns the actual one if a control group allows fewer CPUs.
///
/// # Errors
/// As [`whole`].
pub fn bind(tid: Tid, cpus: &CpuSet) -> io::Result<Option<CpuSet>> {
    cpus.give(tid)?;
    let has = CpuSet::of_thread(tid)?;
    Ok(Some(has).filter(|has| !is_as_given(cpus, has)))
}

/// Whether a mask is the given one; offline CPUs may be missing.
pub fn is_as_given(given: &CpuSet, found: &CpuSet) -> bool {
    is_as_given_without(given, found, offline)
}

/// Reads offline CPUs only if they matter: this runs for each new thread.
fn is_as_given_without(given: &CpuSet, found: &CpuSet, offline: impl FnOnce() -> CpuSet) -> bool {
    let is_part = !found.is_empty() && found.is_subset(given);
    given == found || is_part && given.without(found).is_subset(&offline())
}

/// Present but offline CPUs; empty if not listed.
pub fn offline() -> CpuSet {
    let root = Root::new("/");
    match (root.cpus("/sys/devices/system/cpu/present"), layout::online(&root)) {
        (Some(present), Ok(online)) => present.without(&online),
        _ => CpuSet::default(),
    }
}

/// All CPUs that this process's cpuset allows, including `isolcpus=` CPUs, which a process lacks
/// until it requests them.
///
/// # Errors
/// The kernel's: no thread can start, or a filter forbids the request.
pub fn granted() -> io::Result<CpuSet> {
    let asked = thread::scope(|scope| {
        Ok(thread::Builder::new()
            .spawn_scoped(scope, || {
                possible().give(0)?;
                whole(0)
            })?
            .join())
    });
    asked.and_then(|asked| asked.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

fn possible() -> CpuSet {
    let root = Root::new("/");
    let listed = root.cpus("/sys/devices/system/cpu/possible").filter(|cpus| !cpus.is_empty());
    listed.unwrap_or_else(|| (0..MOST_CPUS).collect()).with(&root.running())
}

/// Whether a thread's cpuset excludes some of these CPUs.
pub fn is_kept_off(tid: Tid, cpus: &CpuSet) -> bool {
    cpuset_of(tid).is_some_and(|allowed| !cpus.without(&offline()).is_subset(&allowed))
}

/// `None` for the root cpuset, whose threads' masks show all CPUs, or if unreadable.
fn cpuset_of(tid: Tid) -> Option<CpuSet> {
    let root = Root::new("/");
    let tid = task::real_tid(tid);
    let cpuset = cpuset_path(&root, tid)?;
    if cpuset == "/" && is_first_namespace(&root) {
        return None;
    }
    if cpuset_path(&root, task::own_tid()).as_ref() == Some(&cpuset) {
        return granted().ok();
    }
    // A cpuset above this cgroup namespace is not mounted here.
    let membership =
        root.read(&format!("/proc/{tid}/cgroup")).ok().filter(|_| !cpuset.starts_with("/.."))?;
    let groups = Hierarchies::read(&root).groups(&root, tid, &membership);
    CpuSet::of_list(&Hierarchies::limits(&root, &groups).cpus?).filter(|cpus| !cpus.is_empty())
}

fn cpuset_path(root: &Root, tid: Tid) -> Option<String> {
    root.read(&format!("/proc/{tid}/cpuset")).ok()
}

/// Shell commands that set the mask of threads.
pub fn commands(mask: &CpuSet, tids: &[Tid]) -> String {
    let commands: Vec<String> =
        tids.iter().map(|tid| format!("taskset -pc {mask} {tid}")).collect();
    commands.join("; ")
}

/// Whether this kernel permanently removes offline CPUs from new masks.
pub fn forgets_offline() -> bool {
    // Cached, because this runs for each new mask.
    static FORGETS: OnceLock<bool> = OnceLock::new();
    *FORGETS
        .get_or_init(|| is_older(&small::read("/proc/sys/kernel/osrelease").unwrap_or_default()))
}

fn is_older(release: &str) -> bool {
    version(release).is_some_and(|version| version < KEEPS_OFFLINE)
}

/// The calling thread's present CPU.
pub fn current_cpu() -> u32 {
    // SAFETY: takes no arguments; it returns -1 on failure, a number that no CPU has.
    unsafe { libc::sched_getcpu() as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test runner's thread keeps its mask.
    fn aside<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| scope.spawn(work).join().unwrap())
    }

    #[test]
    fn pinned_thread_has_only_its_cpu() {
        let cpu = current().unwrap()[0];
        assert_eq!(aside(|| pin(&[cpu]).and_then(|()| current()).unwrap()), [cpu]);
    }

    #[test]
    fn whole_mask_includes_the_effective_one() {
        let now = CpuSet::of_thread(0).unwrap();
        assert!(now.is_subset(&whole(0).unwrap()));
        assert!(whole(0).unwrap().is_subset(&to_put_back(0).unwrap()));
        let seat = CpuSet::single(now.first().unwrap());
        let seated = aside(|| {
            seat.give(0).and_then(|()| Ok((whole(0)?, has_mask(0, &seat)?, has_mask(0, &now)?)))
        });
        assert_eq!(seated.unwrap(), (seat.clone(), true, seat == now));
        assert_eq!(whole(Tid::MAX).unwrap_err().raw_os_error(), Some(libc::ESRCH));
    }

    #[test]
    fn comparison_ignores_missing_offline_cpus() {
        use crate::cpu_set::tests::set;
        let fits = |given: &str, found: &str, offline: &str| {
            is_as_given_without(&set(given), &set(found), || set(offline))
        };
        assert!(fits("0-3", "0-3", "") && fits("0-3", "0-1,3", "2") && fits("0-3", "0-3", "2"));
        assert!(!fits("0-3", "0-1", "2"), "CPU 3 is online, and missing");
        assert!(!fits("0-1", "0-1,3", "2") && !fits("2", "", "2"), "more, or nothing at all");
    }

    #[test]
    fn granted_cpus_do_not_depend_on_own_mask() {
        let all = granted().unwrap();
        let seat = CpuSet::single(current().unwrap()[0]);
        let seated = aside(|| seat.give(0).and_then(|()| granted()));
        assert_eq!(seated.unwrap(), all);
        assert!(whole(0).unwrap().is_subset(&all));
    }

    #[test]
    fn forgetful_kernels_are_recognised_by_release() {
        assert!(is_older("6.1.0-56-cloud-amd64") && is_older("5.15.0") && is_older("6.2.16"));
        assert!(
            !is_older("6.12.117+deb12")
                && !is_older("7.0")
                && !is_older("6.3-rc1")
                && !is_older("")
        );
    }

    #[test]
    fn pinning_to_impossible_cpu_fails() {
        assert!(aside(|| pin(&[500_000])).is_err());
        assert!(aside(|| pin(&[])).is_err());
    }

    #[test]
    fn partly_effective_mask_is_refused() {
        let cpu = current().unwrap()[0];
        let error = aside(|| pin(&[cpu, 4000])).unwrap_err().to_string();
        assert!(error.contains("requested CPUs"), "{error}");
    }
}
