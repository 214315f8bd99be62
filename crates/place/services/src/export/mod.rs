//! Plans of services, written as other tools take them.
//!
//! | module | is | finds a service by | gives it |
//! |---|---|---|---|
//! | [`systemd`] | a script that writes a drop-in for each unit | unit | its CPUs and NUMA nodes |
//! | [`sched_ext`] | layers of `scx_layered` | unit, group, program, pid | CPUs of its nodes |
//! | [`mitosis`] | cells of `scx_mitosis` | unit, group | a cell, with the cpuset's CPUs |
//! | [`balloons`] | a policy of Kubernetes' NRI plugin | container | as many CPUs |
//! | [`kubelet`] | a part of kubelet's configuration | | the CPUs that pods do not get |
//!
//! Each says what its tool cannot express: in comments, or in JSON in a layer's own comment. Where
//! nothing of a plan can be expressed, there is an error instead.

pub mod balloons;
pub mod kubelet;
pub mod mitosis;
pub mod sched_ext;
pub mod systemd;

use crate::file::ServiceTarget;
use crate::plan::{PlannedService, ServicesPlan};
use seatmap_document::{Blame, visible};
use seatmap_os::CpuSet;
use seatmap_statistics::words::counted;

/// Writes a plan in one format.
pub type ServicesWriter = fn(&ServicesPlan) -> Result<String, ServicesExportError>;

/// The formats, by the words that are typed for them.
pub const FORMATS: [(&str, ServicesWriter); 6] = [
    ("systemd", systemd::write),
    ("sched-ext", sched_ext::write),
    ("scx-mitosis", mitosis::write),
    ("k8s", balloons::write),
    ("kubelet", kubelet::write),
    ("json", |plan| Ok(seatmap_document::written(plan))),
];

/// Why a tool cannot have a plan.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServicesExportError {
    /// The tool finds none of the services.
    #[error("{tool} finds services by {by} alone, and no service of this plan is named so")]
    NoneFound {
        /// The tool.
        tool: &'static str,
        /// The keys of a service by which the tool finds it.
        by: &'static str,
    },
    /// The tool takes fewer groups of services.
    #[error(
        "{tool} takes {most} {what} at most, and this plan needs {needed}; plan fewer services"
    )]
    TooMany {
        /// The tool.
        tool: &'static str,
        /// The things that it counts.
        what: &'static str,
        /// The most of them.
        most: usize,
        /// How many the plan needs.
        needed: usize,
    },
    /// kubelet's static policy needs CPUs for the system, and the plan leaves none.
    #[error(
        "kubelet's static policy reserves at least one CPU for the system, and every service of \
         this plan is a container: name a CPU in housekeeping, and plan again"
    )]
    NothingReserved,
    /// kubelet would have no CPU for pods.
    #[error(
        "services that are not containers have every CPU of this plan, which leaves none for \
         kubelet's pods; limit them by most_cpus, and plan again"
    )]
    NothingLeft,
}

impl Blame for ServicesExportError {
    fn is_input(&self) -> bool {
        true
    }
}

/// `# Seatmap plan: 4 services on desk.`
fn header(plan: &ServicesPlan) -> String {
    format!(
        "# Seatmap plan: {} on {}.\n",
        counted(plan.services.len(), "service"),
        one_line(&plan.machine)
    )
}

/// Text that stays in its comment. A backslash goes too: it continues a line of a unit file.
fn one_line(text: &str) -> String {
    visible(&text.replace('\\', r"\\"))
}

/// The line for a service that the tool cannot find.
fn left_out(planned: &PlannedService, tool: &str) -> String {
    let name = one_line(&planned.service.name);
    let target = planned.service.target().map_or_else(String::new, |target| target.to_string());
    let is_old = planned.service.cgroup.as_deref().is_some_and(is_of_version_1);
    let kind = if is_old { "a group of version 1, " } else { "" };
    format!("Left out: {name} ({}), {kind}which {tool} cannot find.", one_line(&target))
}

/// The hierarchies of version 1, by the folders in which systemd and container engines mount them
/// (cgroups(7)).
const VERSION_1: [&str; 17] = [
    "cpuset",
    "cpu",
    "cpuacct",
    "cpu,cpuacct",
    "memory",
    "devices",
    "freezer",
    "net_cls",
    "net_prio",
    "net_cls,net_prio",
    "blkio",
    "perf_event",
    "hugetlb",
    "pids",
    "rdma",
    "misc",
    "systemd",
];

/// Whether a path is that of a group of version 1.
fn is_of_version_1(path: &str) -> bool {
    let mounted = path.strip_prefix("/sys/fs/cgroup/").and_then(|rest| rest.split('/').next());
    mounted.is_some_and(|folder| VERSION_1.contains(&folder))
}

/// The path of a group below the root of version 2, without slashes at its ends. `None` for the
/// root itself, and for a group of version 1: schedulers of sched_ext go by version 2 alone.
fn group(path: &str) -> Option<&str> {
    if is_of_version_1(path) {
        return None;
    }
    let below = path.strip_prefix("/sys/fs/cgroup").unwrap_or(path);
    // Beside hierarchies of version 1, version 2 has a folder of its own.
    let below = below.strip_prefix("/unified").unwrap_or(below).trim_matches('/');
    (!below.is_empty()).then_some(below)
}

/// The unit's full name, where the service is a unit whose name is safe in files and commands.
fn unit(planned: &PlannedService) -> Option<String> {
    let Some(ServiceTarget::Unit(name)) = planned.service.target() else { return None };
    let is_safe = crate::apply::is_word(&name) && !name.contains('\\') && !name.starts_with('.');
    is_safe.then(|| if name.contains('.') { name } else { format!("{name}.service") })
}

/// The container's name, where the service is one.
fn container(planned: &PlannedService) -> Option<String> {
    match planned.service.target() {
        Some(ServiceTarget::Container(name)) if crate::apply::is_word(&name) => Some(name),
        _ => None,
    }
}

/// The CPUs of the services that are not containers.
fn outside_containers(plan: &ServicesPlan) -> CpuSet {
    let outside = plan.services.iter().filter(|planned| container(planned).is_none());
    outside.fold(CpuSet::default(), |all, planned| all.with(&planned.cpu_set()))
}

/// All CPUs that services may get.
fn all_cpus(plan: &ServicesPlan) -> CpuSet {
    let caches = plan.caches.iter().filter_map(|list| CpuSet::of_list(list));
    caches.fold(CpuSet::default(), |all, cache| all.with(&cache))
}

#[cfg(test)]
mod tests;
