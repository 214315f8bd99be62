//! Services of owners that ignore plans: kubelet overwrites the groups of pods, and Slurm has
//! promised a step's other CPUs to other jobs.

use super::setting;
use crate::{PlannedService, Service, ServiceTarget};
use seatmap_cell::SettingChange;
use seatmap_data::document::{Failure, unfit};
use seatmap_os::layout::CpusetMounts;
use seatmap_os::{CpuSet, Root, Tid, task};

/// Refuses services that only their owner may seat, by their names.
///
/// # Errors
/// The service is a pod, or a whole Slurm job.
pub fn check(service: &Service) -> Result<(), Failure> {
    let name = &service.name;
    match service.target() {
        Some(ServiceTarget::Cgroup(path) | ServiceTarget::Unit(path)) => {
            check_kubelet(name, [path.as_str()].into_iter())
        }
        // Each new step overwrites the job's group: `task_cgroup_cpuset_create` in
        // src/plugins/task/cgroup/task_cgroup_cpuset.c.
        Some(ServiceTarget::Step(job)) if !job.contains('.') => unfit(format!(
            "service '{name}' is a whole Slurm job, and Slurm overwrites its CPUs with each step; \
             name a step, such as {job}.0 or {job}.batch"
        )),
        _ => Ok(()),
    }
}

/// Refuses a container created for kubelet, which its group shows.
///
/// # Errors
/// It is part of a pod.
pub fn check_container(root: &Root, service: &str, pid: i32) -> Result<(), Failure> {
    let membership = root.read(&format!("/proc/{pid}/cgroup")).unwrap_or_default();
    check_kubelet(service, membership.lines())
}

fn check_kubelet<'a>(
    service: &str,
    mut groups: impl Iterator<Item = &'a str>,
) -> Result<(), Failure> {
    if groups.any(is_of_kubelet) {
        return unfit(format!(
            "service '{service}' belongs to kubelet, which overwrites the CPUs of its pods; remove \
             it from services.toml and plan again, and reserve the CPUs of the others in kubelet's \
             reservedSystemCPUs"
        ));
    }
    Ok(())
}

/// Refuses CPUs that Slurm has not given to a step.
///
/// # Errors
/// The plan gives it others, or the group cannot be read.
pub fn check_step(root: &Root, planned: &PlannedService, folder: &str) -> Result<(), Failure> {
    let files = ["cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"];
    let own = files.iter().find_map(|file| root.read(&format!("{folder}/{file}")).ok());
    let own = own.as_deref().and_then(CpuSet::of_list).unwrap_or_default();
    let beyond = planned.cpu_set().without(&own);
    if beyond.is_empty() {
        return Ok(());
    }
    unfit(format!(
        "service '{}' is a Slurm step with CPUs {own}, but the plan gives it {beyond}, which Slurm \
         may give to others; a plan can only narrow a step: request more CPUs with 'srun \
         --exclusive' or '--cpus-per-task'",
        planned.service.name
    ))
}

/// Refuses process 1 and threads of the kernel.
///
/// # Errors
/// The service includes one.
pub fn check_processes<'a>(
    service: &str,
    pids: impl IntoIterator<Item = &'a Tid>,
) -> Result<(), Failure> {
    for pid in pids {
        if let Some(kind) = task::vital(*pid) {
            return unfit(format!(
                "service '{service}' includes process {pid}, {kind}; name the processes of one \
                 program, by pid, command, cgroup or unit"
            ));
        }
    }
    Ok(())
}

/// Refuses changes that an undo would refuse.
///
/// # Errors
/// There is such a change.
pub fn check_changes(root: &Root, service: &str, changes: &[SettingChange]) -> Result<(), Failure> {
    let layout = CpusetMounts::read(root);
    match changes.iter().find(|change| !setting::may_be(change, &layout)) {
        None => Ok(()),
        Some(SettingChange { path, .. }) => unfit(format!(
            "service '{service}' would need a change of {path}, but plans never change that; name \
             a unit, container or domain by its name, or a control group below the cpuset \
             hierarchy"
        )),
    }
}

/// Whether a path is below `kubepods` (kubelet's `--cgroup-root` may add a prefix:
/// `kubelet-kubepods-pod1.slice`).
fn is_of_kubelet(path: &str) -> bool {
    path.split('/').any(|part| {
        let stem = part.strip_suffix(".slice").unwrap_or(part);
        stem.split('-').any(|word| word == "kubepods")
    })
}
