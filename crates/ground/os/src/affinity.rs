//! Pinning of the calling thread, verified; masks as they stand, for putting them back.
//!
//! sched_getaffinity(2) leaves out the CPUs that are offline. A mask that is put back from its
//! answer lacks them for good, also when they have come back.
//!
//! | question | function |
//! |---|---|
//! | where may this thread run now? | [`current`], [`CpuSet::of_thread`] |
//! | which mask has a thread, CPUs that are offline included? | [`whole`] |
//! | which mask gives a thread back what it has now? | [`to_put_back`] |
//! | does a thread have the mask that it was given? | [`bind`], [`has_mask`], [`is_as_given`] |
//! | what does the cpuset of this process allow? | [`granted`] |
//!
//! Linux 6.3 and newer keep CPUs that are offline in the masks of threads outside cpusets, and
//! remember those that a thread in a cpuset was given. Older kernels take them out of every mask
//! that is set ([`forgets_offline`]; [`crate::forgotten`] says which thread lacks which).

use crate::hierarchy::{Hierarchies, is_first_namespace};
use crate::kernel::version;
use crate::root::Root;
use crate::traced;
use crate::{CpuSet, Tid, small};
use std::io;
use std::sync::OnceLock;
use std::thread;

/// The first kernel that keeps CPUs that are offline in masks that are set: "cgroup/cpuset: Don't
/// filter offline CPUs in cpuset_cpus_allowed() for top cpuset tasks", after "sched: Always
/// preserve the user requested cpumask" in 6.2.
const KEEPS_OFFLINE: (u32, u32) = (6, 3);

/// The largest number of CPUs that a kernel can be built for (`NR_CPUS`, arch/x86/Kconfig).
const MOST_CPUS: u32 = 8192;

/// The CPUs that the calling thread may run on, ascending.
///
/// # Errors
/// The kernel's error.
pub fn current() -> io::Result<Vec<u32>> {
    Ok(CpuSet::of_thread(0)?.iter().collect())
}

/// Restricts the calling thread to exactly these CPUs, and checks that this took effect.
///
/// # Errors
/// The kernel's error, or `InvalidInput` where it accepted the call and then reports another mask:
/// it drops CPUs outside the cpuset without a word.
pub fn pin(cpus: &[u32]) -> io::Result<()> {
    let mask: CpuSet = cpus.iter().copied().collect();
    mask.give(0)?;
    let seated = CpuSet::of_thread(0)?;
    if seated == mask {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("asked for CPUs {mask}, the kernel gave {seated}"),
        ))
    }
}

/// The mask of a thread with the CPUs that are offline, from its `status` file; thread 0 is the
/// caller. Where `/proc` does not show the file, the mask without them.
///
/// # Errors
/// The kernel's error: `ESRCH` where the thread has gone.
pub fn whole(tid: Tid) -> io::Result<CpuSet> {
    let tid = if tid == 0 { crate::task::own_tid() } else { tid };
    traced::status(tid)
        .and_then(|status| CpuSet::of_list(&small::value_of(&status, "Cpus_allowed_list")?))
        .filter(|mask| !mask.is_empty())
        .map_or_else(|| CpuSet::of_thread(tid), Ok)
}

/// The mask that gives a thread back all that it has now; thread 0 is the caller. A thread that may
/// use every CPU that its cpuset has online gets those that are offline as well, since the kernel
/// lets it use them when they come back.
///
/// # Errors
/// The kernel's error: `ESRCH` where the thread has gone.
pub fn to_put_back(tid: Tid) -> io::Result<CpuSet> {
    let whole = whole(tid)?;
    let hidden = offline().without(&whole);
    if hidden.is_empty() {
        return Ok(whole);
    }
    let is_open = cpuset_of(tid).is_some_and(|cpuset| cpuset.is_subset(&whole));
    Ok(if is_open { whole.with(&hidden) } else { whole })
}

/// Whether a thread has the mask that it was given, as far as its CPUs are online; thread 0 is the
/// caller.
///
/// # Errors
/// The kernel's error: `ESRCH` where the thread has gone.
pub fn has_mask(tid: Tid, given: &CpuSet) -> io::Result<bool> {
    Ok(is_as_given(given, &CpuSet::of_thread(tid)?))
}

/// Gives a thread a mask. Returns the mask that it has where that is another one: a control group
/// may allow fewer CPUs.
///
/// # Errors
/// The kernel's error: `ESRCH` where the thread has gone.
pub fn bind(tid: Tid, cpus: &CpuSet) -> io::Result<Option<CpuSet>> {
    cpus.give(tid)?;
    let has = CpuSet::of_thread(tid)?;
    Ok(Some(has).filter(|has| !is_as_given(cpus, has)))
}

/// Whether a mask that was read is the one that was given: CPUs that are offline may be missing.
#[must_use]
pub fn is_as_given(given: &CpuSet, found: &CpuSet) -> bool {
    is_as_given_without(given, found, offline)
}

/// The CPUs that are offline are read only where they can matter: this is asked for each thread
/// that is created.
fn is_as_given_without(given: &CpuSet, found: &CpuSet, offline: impl FnOnce() -> CpuSet) -> bool {
    let is_part = !found.is_empty() && found.is_subset(given);
    given == found || is_part && given.without(found).is_subset(&offline())
}

/// The CPUs that are present and offline; none where the kernel does not say.
#[must_use]
pub fn offline() -> CpuSet {
    match (listed_cpus("present"), listed_cpus("online")) {
        (Some(present), Some(online)) => present.without(&online),
        _ => CpuSet::default(),
    }
}

fn listed_cpus(name: &str) -> Option<CpuSet> {
    let text = small::read(format!("/sys/devices/system/cpu/{name}"))?;
    CpuSet::of_list(&text)
}

/// The CPUs that the cpuset of this process allows, those included that are outside its mask: the
/// mask that the kernel gives to a thread that asks for all. A process starts without the CPUs of
/// `isolcpus=`, and may ask for them.
///
/// # Errors
/// The kernel's error: no thread can be started, or a filter of system calls forbids it to ask.
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
    let listed =
        small::read("/sys/devices/system/cpu/possible").and_then(|text| CpuSet::of_list(&text));
    listed.unwrap_or_else(|| (0..MOST_CPUS).collect())
}

/// Whether the cpuset of a thread keeps it off some of these CPUs.
#[must_use]
pub fn is_kept_off(tid: Tid, cpus: &CpuSet) -> bool {
    cpuset_of(tid).is_some_and(|allowed| !cpus.without(&offline()).is_subset(&allowed))
}

/// The CPUs that the cpuset of a thread has online; `None` for the root cpuset, whose threads'
/// masks show all CPUs, and where the cpuset cannot be read.
fn cpuset_of(tid: Tid) -> Option<CpuSet> {
    let root = Root::new("/");
    let own = crate::task::own_tid();
    let tid = if tid == 0 { own } else { tid };
    let cpuset = cpuset_path(&root, tid)?;
    if cpuset == "/" && is_first_namespace(&root) {
        return None;
    }
    if cpuset_path(&root, own).as_ref() == Some(&cpuset) {
        return granted().ok();
    }
    // One above the root of this namespace of control groups is not mounted here.
    let membership =
        root.read(&format!("/proc/{tid}/cgroup")).ok().filter(|_| !cpuset.starts_with("/.."))?;
    let groups = Hierarchies::read(&root).groups(&root, tid, &membership);
    CpuSet::of_list(&Hierarchies::limits(&root, &groups).cpus?).filter(|cpus| !cpus.is_empty())
}

fn cpuset_path(root: &Root, tid: Tid) -> Option<String> {
    root.read(&format!("/proc/{tid}/cpuset")).ok()
}

/// The commands that give threads a mask.
#[must_use]
pub fn commands(mask: &CpuSet, tids: &[Tid]) -> String {
    let commands: Vec<String> =
        tids.iter().map(|tid| format!("taskset -pc {mask} {tid}")).collect();
    commands.join("; ")
}

/// Whether this kernel takes CPUs that are offline out of the masks that threads are given, for
/// good.
#[must_use]
pub fn forgets_offline() -> bool {
    // A kernel stays the one that it is, and this is asked for each thread that gets a mask.
    static FORGETS: OnceLock<bool> = OnceLock::new();
    *FORGETS
        .get_or_init(|| is_older(&small::read("/proc/sys/kernel/osrelease").unwrap_or_default()))
}

fn is_older(release: &str) -> bool {
    version(release).is_some_and(|version| version < KEEPS_OFFLINE)
}

/// The CPU that the calling thread is on at this moment.
#[must_use]
pub fn current_cpu() -> u32 {
    // SAFETY: takes no arguments; it returns -1 on failure, a number that no CPU has.
    unsafe { libc::sched_getcpu() as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a thread of its own, so that the test runner's keeps its mask.
    fn aside<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| scope.spawn(work).join().unwrap())
    }

    #[test]
    fn a_pinned_thread_sits_on_its_cpu() {
        let cpu = current().unwrap()[0];
        assert_eq!(aside(|| pin(&[cpu]).and_then(|()| current()).unwrap()), [cpu]);
    }

    #[test]
    fn a_whole_mask_holds_what_the_kernel_answers_and_more() {
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
    fn cpus_that_are_offline_may_be_missing_from_what_was_given() {
        let set = |list: &str| CpuSet::of_list(list).unwrap();
        let fits = |given: &str, found: &str, offline: &str| {
            is_as_given_without(&set(given), &set(found), || set(offline))
        };
        assert!(fits("0-3", "0-3", "") && fits("0-3", "0-1,3", "2") && fits("0-3", "0-3", "2"));
        assert!(!fits("0-3", "0-1", "2"), "CPU 3 is online, and missing");
        assert!(!fits("0-1", "0-1,3", "2") && !fits("2", "", "2"), "more, or nothing at all");
    }

    #[test]
    fn what_is_granted_does_not_depend_on_the_own_mask() {
        let all = granted().unwrap();
        let seat = CpuSet::single(current().unwrap()[0]);
        let seated = aside(|| seat.give(0).and_then(|()| granted()));
        assert_eq!(seated.unwrap(), all);
        assert!(whole(0).unwrap().is_subset(&all));
    }

    #[test]
    fn kernels_that_forget_are_known_by_their_release() {
        assert!(is_older("6.1.0-56-cloud-amd64") && is_older("5.15.0") && is_older("6.2.16"));
        assert!(
            !is_older("6.12.117+deb12")
                && !is_older("7.0")
                && !is_older("6.3-rc1")
                && !is_older("")
        );
    }

    #[test]
    fn a_cpu_that_no_machine_has_is_refused() {
        assert!(aside(|| pin(&[500_000])).is_err());
        assert!(aside(|| pin(&[])).is_err());
    }

    #[test]
    fn a_mask_that_takes_effect_only_in_part_is_refused() {
        let cpu = current().unwrap()[0];
        let error = aside(|| pin(&[cpu, 4000])).unwrap_err().to_string();
        assert!(error.contains("asked for CPUs"), "{error}");
    }
}
