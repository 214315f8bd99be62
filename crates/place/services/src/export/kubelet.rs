//! A part of kubelet's configuration: the CPUs that pods do not get.

use super::{ServicesExportError, all_cpus, container, header, one_line, outside_containers};
use crate::plan::ServicesPlan;
use seatmap_statistics::words::counted;

/// A `KubeletConfiguration` whose static policy reserves the CPUs of all services that are not
/// containers, and the housekeeping CPUs. kubelet itself chooses the CPUs of each container, by
/// the number that its pod requests.
///
/// # Errors
/// [`ServicesExportError::NothingReserved`], [`ServicesExportError::NothingLeft`].
pub fn write(plan: &ServicesPlan) -> Result<String, ServicesExportError> {
    let reserved = outside_containers(plan).with(&plan.computer.housekeeping_cpus());
    if reserved.is_empty() {
        return Err(ServicesExportError::NothingReserved);
    }
    if all_cpus(plan).is_subset(&reserved) {
        return Err(ServicesExportError::NothingLeft);
    }
    let mut text = header(plan);
    text += "# kubelet chooses the CPUs of a container itself. Pods of whole CPUs with equal \
             requests and limits\n# get CPUs of their own; all others may use the reserved CPUs \
             too, unless strict-cpu-reservation is set.\n";
    for planned in plan.services.iter().filter(|planned| container(planned).is_some()) {
        let set = planned.cpu_set();
        let name = one_line(&planned.service.name);
        let cpus = counted(set.len(), "CPU");
        text += &format!("# Left out: {name} on {set}; let its pod request {cpus}.\n");
        if let Some(device) = &planned.service.near {
            text += &format!("# Left out: {name} near {}.\n", one_line(device));
        }
    }
    text += "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
    text += &format!("reservedSystemCPUs: \"{reserved}\"\n");
    text += "cpuManagerPolicy: static\ncpuManagerPolicyOptions:\n  full-pcpus-only: \"true\"\n";
    Ok(text)
}
