//! CPUs excluded from load balancing.
//!
//! The kernel moves threads only within a CPU's scheduling domains
//! (Documentation/scheduler/sched-domains.rst). Four things remove the domains:
//!
//! | cause | source |
//! |---|---|
//! | `isolcpus=` at boot | `/sys/devices/system/cpu/isolated` |
//! | an isolated partition of cgroup v2 | `cpuset.cpus.isolated` of the root group (Linux 6.8) |
//! | | before Linux 6.8, `cpuset.cpus.partition` of each group |
//! | v1 cpusets without balancing | `cpuset.sched_load_balance` of all groups |
//! | any of these, seen from a container | `/proc/schedstat`, which lists each CPU's domains |

use crate::layout::{self, CpusetMounts};
use crate::{CpuSet, Root};

/// The isolated CPUs, from all readable sources.
pub fn cpus(root: &Root) -> CpuSet {
    let layout = CpusetMounts::read(root);
    let partitions = layout.v2.map(|base| partitions(root, &base)).unwrap_or_default();
    let unbalanced = layout.v1.map(|base| unbalanced(root, &base)).unwrap_or_default();
    at_boot(root).with(&partitions).with(&unbalanced).with(&without_domain(root))
}

/// The isolated CPUs, or none if all are isolated: then programs run there anyway.
pub fn beside_others(root: &Root) -> CpuSet {
    let isolated = cpus(root);
    let online = layout::online(root).unwrap_or_default();
    if online.is_subset(&isolated) { CpuSet::default() } else { isolated }
}

/// The CPUs of `isolcpus=`; some kernels include those of isolated partitions.
pub fn at_boot(root: &Root) -> CpuSet {
    kernel_list(root, "isolated")
}

pub(crate) fn kernel_list(root: &Root, name: &str) -> CpuSet {
    // The kernel writes "(null)" for an empty `nohz_full` list.
    root.cpus(&format!("/sys/devices/system/cpu/{name}")).unwrap_or_default()
}

/// The root group lists all, even invisible ones, but not on older kernels or in a container.
fn partitions(root: &Root, base: &str) -> CpuSet {
    if let Some(all) = root.cpus(&format!("{base}/cpuset.cpus.isolated")) {
        return all;
    }
    below(root, base, "cpuset.cpus.partition")
        .filter(|(_, kind)| kind == "isolated")
        .filter_map(|(group, _)| root.cpus(&format!("{group}/cpuset.cpus.effective")))
        .fold(CpuSet::default(), |all, own| all.with(&own))
}

/// CPUs that no version 1 cpuset balances. While the root group balances, the kernel ignores the
/// others (Documentation/admin-guide/cgroup-v1/cpusets.rst, 1.7).
fn unbalanced(root: &Root, base: &str) -> CpuSet {
    const BALANCES: &str = "cpuset.sched_load_balance";
    // Only the real root group has this file.
    let is_root = root.has(&format!("{base}/release_agent"));
    let is_on = root.read(&format!("{base}/{BALANCES}")).is_ok_and(|text| text != "0");
    if !is_root || is_on {
        return CpuSet::default();
    }
    let all = layout::online(root).unwrap_or_default();
    below(root, base, BALANCES).filter(|(_, is_on)| is_on == "1").fold(all, |left, (group, _)| {
        let effective = root.cpus(&format!("{group}/cpuset.effective_cpus"));
        let own = effective.or_else(|| root.cpus(&format!("{group}/cpuset.cpus")));
        left.without(&own.unwrap_or_default())
    })
}

/// This group and those below with a file, and its text. Groups without it have none below.
fn below<'a>(
    root: &'a Root,
    base: &str,
    file: &'a str,
) -> impl Iterator<Item = (String, String)> + 'a {
    let mut left = vec![base.to_owned()];
    let mut is_base = true;
    std::iter::from_fn(move || {
        while let Some(group) = left.pop() {
            let text = root.read(&format!("{group}/{file}"));
            // In version 2, the root group lacks the file.
            if text.is_ok() || is_base {
                let inner = root.folders(&group).unwrap_or_default();
                left.extend(inner.into_iter().map(|name| format!("{group}/{name}")));
            }
            is_base = false;
            if let Ok(text) = text {
                return Some((group, text));
            }
        }
        None
    })
}

/// CPUs without a scheduling domain, if others have one (Documentation/scheduler/sched-stats.rst).
/// Unknown without CONFIG_SCHEDSTATS.
fn without_domain(root: &Root) -> CpuSet {
    let text = root.read("/proc/schedstat").unwrap_or_default();
    let mut without = CpuSet::default();
    let mut last = None;
    let mut has_domains = false;
    for line in text.lines() {
        let word = line.split(' ').next().unwrap_or_default();
        if let Some(cpu) = word.strip_prefix("cpu").and_then(|cpu| cpu.parse().ok()) {
            without.insert(cpu);
            last = Some(cpu);
        } else if let Some(cpu) = last.filter(|_| word.starts_with("domain")) {
            without = without.without(&CpuSet::single(cpu));
            has_domains = true;
        }
    }
    if has_domains { without } else { CpuSet::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tests::with_files;

    fn isolated(files: &[(&str, &str)]) -> String {
        let (_folder, root) = with_files(files);
        cpus(&root).to_string()
    }

    const V2: [(&str, &str); 2] = [
        ("/proc/self/mountinfo", "30 1 0:30 / /cg rw - cgroup2 cgroup rw\n"),
        ("/cg/cgroup.controllers", "cpuset"),
    ];

    #[test]
    fn isolated_partitions_are_found_with_and_without_root_list() {
        let [mounts, controllers] = V2;
        let of_root = ("/cg/cpuset.cpus.isolated", "2-3\n");
        assert_eq!(isolated(&[mounts, controllers, of_root]), "2,3");
        let groups = [
            mounts,
            controllers,
            ("/cg/a/cpuset.cpus.partition", "root\n"),
            ("/cg/a/cpuset.cpus.effective", "1\n"),
            ("/cg/a/b/cpuset.cpus.partition", "isolated\n"),
            ("/cg/a/b/cpuset.cpus.effective", "4-5\n"),
            ("/cg/c/cpuset.cpus.partition", "isolated invalid (Cpu list in cpuset.cpus empty)\n"),
            ("/cg/c/cpuset.cpus.effective", "0-7\n"),
        ];
        assert_eq!(
            isolated(&groups),
            "4,5",
            "a partition that the kernel refused isolates nothing"
        );
    }

    #[test]
    fn v1_cpusets_isolate_once_root_stops_balancing() {
        let files = |of_root, of_outer| {
            [
                ("/proc/self/mountinfo", "30 1 0:30 / /cg rw - cgroup cgroup rw,cpuset\n"),
                ("/sys/devices/system/cpu/online", "0-7\n"),
                ("/cg/release_agent", ""),
                ("/cg/cpuset.sched_load_balance", of_root),
                ("/cg/quiet/cpuset.sched_load_balance", "0\n"),
                ("/cg/quiet/cpuset.cpus", "4-7\n"),
                ("/cg/quiet/inner/cpuset.sched_load_balance", "1\n"),
                ("/cg/quiet/inner/cpuset.cpus", "6-7\n"),
                ("/cg/rest/cpuset.sched_load_balance", of_outer),
                ("/cg/rest/cpuset.cpus", "0-7\n"),
                ("/cg/rest/cpuset.effective_cpus", "0-3\n"),
            ]
        };
        assert_eq!(isolated(&files("0\n", "1\n")), "4,5");
        assert_eq!(isolated(&files("0\n", "0\n")), "0-5");
        assert_eq!(isolated(&files("1\n", "1\n")), "", "the kernel balances over all CPUs");
        let [mounts, online, _, inner @ ..] = files("0\n", "0\n");
        let inside = [&[mounts, online][..], &inner].concat();
        assert_eq!(isolated(&inside), "", "the root of a container is not the root of all groups");
    }

    #[test]
    fn cpu_without_scheduling_domain_is_isolated() {
        let text =
            "version 15\ntimestamp 1\ncpu0 0 0\ndomain0 3 0\ncpu1 0 0\ndomain0 3 0\ncpu2 0\n";
        assert_eq!(isolated(&[("/proc/schedstat", text)]), "2");
        let without = "version 15\ntimestamp 1\ncpu0 0 0\ncpu1 0 0\n";
        assert_eq!(isolated(&[("/proc/schedstat", without)]), "", "one CPU alone has no domain");
        let boot = [("/sys/devices/system/cpu/isolated", "1\n"), ("/proc/schedstat", text)];
        assert_eq!(isolated(&boot), "1,2", "sources add to each other");
    }
}
