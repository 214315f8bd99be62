//! Services of owners that ignore plans: kubelet overwrites the groups of pods, and Slurm has
//! promised a step's other CPUs to other jobs.

use super::{ApplyError, setting};
use crate::file::{Service, ServiceTarget};
use crate::plan::PlannedService;
use seatmap_cell::change::SettingChange;
use seatmap_os::layout::CpusetMounts;
use seatmap_os::{CpuSet, Root, Tid, task};

/// Refuses services that only their owner may seat, by their names.
///
/// # Errors
/// [`ApplyError::OfKubelet`] or [`ApplyError::WholeJob`].
pub fn check(service: &Service) -> Result<(), ApplyError> {
    let name = service.name.clone();
    match service.target() {
        Some(ServiceTarget::Cgroup(path)) if is_of_kubelet(&path) => {
            Err(ApplyError::OfKubelet(name))
        }
        Some(ServiceTarget::Unit(unit)) if is_of_kubelet(&unit) => Err(ApplyError::OfKubelet(name)),
        // Each new step overwrites the job's group: `task_cgroup_cpuset_create` in
        // src/plugins/task/cgroup/task_cgroup_cpuset.c.
        Some(ServiceTarget::Step(job)) if !job.contains('.') => {
            Err(ApplyError::WholeJob { service: name, job })
        }
        _ => Ok(()),
    }
}

/// Refuses a container created for kubelet, which its group shows.
///
/// # Errors
/// [`ApplyError::OfKubelet`].
pub fn check_container(root: &Root, service: &str, pid: i32) -> Result<(), ApplyError> {
    let membership = root.read(&format!("/proc/{pid}/cgroup")).unwrap_or_default();
    if membership.lines().any(is_of_kubelet) {
        return Err(ApplyError::OfKubelet(service.to_owned()));
    }
    Ok(())
}

/// Refuses CPUs that Slurm has not given to a step.
///
/// # Errors
/// [`ApplyError::BeyondStep`], or the group cannot be read.
pub fn check_step(root: &Root, planned: &PlannedService, folder: &str) -> Result<(), ApplyError> {
    let files = ["cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"];
    let own = files.iter().find_map(|file| root.read(&format!("{folder}/{file}")).ok());
    let own = own.as_deref().and_then(CpuSet::of_list).unwrap_or_default();
    let beyond = planned.cpu_set().without(&own);
    if beyond.is_empty() {
        return Ok(());
    }
    Err(ApplyError::BeyondStep { service: planned.service.name.clone(), own, beyond })
}

/// Refuses process 1 and threads of the kernel.
///
/// # Errors
/// [`ApplyError::Vital`].
pub fn check_processes<'a>(
    service: &str,
    pids: impl IntoIterator<Item = &'a Tid>,
) -> Result<(), ApplyError> {
    let vital = pids.into_iter().find_map(|pid| Some((*pid, task::vital(*pid)?)));
    vital.map_or(Ok(()), |(pid, kind)| {
        Err(ApplyError::Vital { service: service.to_owned(), pid, kind })
    })
}

/// Refuses changes that an undo would refuse.
///
/// # Errors
/// [`ApplyError::NotASetting`].
pub fn check_changes(
    root: &Root,
    service: &str,
    changes: &[SettingChange],
) -> Result<(), ApplyError> {
    let layout = CpusetMounts::read(root);
    match changes.iter().find(|change| !setting::may_be(change, &layout)) {
        None => Ok(()),
        Some(change) => {
            Err(ApplyError::NotASetting { service: service.to_owned(), path: change.path.clone() })
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{self, CgroupDriver, SourceFile};

    #[test]
    fn pods_of_both_drivers_are_refused() {
        let text = "{\"policyName\":\"static\",\"defaultCpuSet\":\"0\",\
                    \"entries\":{\"235148fe-393f\":{\"api\":\"1\"}},\"checksum\":1}";
        let file = SourceFile { name: "cpu_manager_state", text, is_from_folder: false };
        for driver in [CgroupDriver::Systemd, CgroupDriver::Cgroupfs] {
            let seats = import::read(&[file], Vec::new(), None, driver).unwrap();
            let told = check(&seats.seats[0].service).unwrap_err().to_string();
            assert!(told.contains("belongs to kubelet"), "{told}");
        }
        for (path, is_pod) in [
            ("/sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice/kubepods-pod1.slice", true),
            ("/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod1.slice", true),
            ("1:cpuset:/kubepods/besteffort/pod1/0a1b", true),
            ("/system.slice/kubelet.service", false),
            ("/kubepodsman", false),
            ("/", false),
        ] {
            assert_eq!(is_of_kubelet(path), is_pod, "{path}");
        }
    }

    #[test]
    fn container_of_kubelet_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        for (pid, group) in [(7, "0::/kubepods/pod1/0a"), (8, "0::/machine.slice/web.scope")] {
            let path = root.path(&format!("/proc/{pid}/cgroup"));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, group).unwrap();
        }
        assert!(check_container(&root, "web", 7).is_err());
        check_container(&root, "web", 8).unwrap();
    }
}
