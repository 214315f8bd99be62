//! A policy of Kubernetes' NRI plugin `balloons`: a balloon for each pool of containers.

use super::{
    ServicesExportError, all_cpus, container, header, left_out, one_line, outside_containers,
};
use crate::plan::{PlannedService, ServicesPlan};
use seatmap_os::CpuSet;
use std::collections::BTreeMap;

/// A `BalloonsPolicy` (nri-plugins, `config.nri_balloonspolicies.yaml`). It has the size of each
/// balloon, and the CPUs that balloons leave alone; the plugin chooses the CPUs itself.
///
/// # Errors
/// [`ServicesExportError::NoneFound`] where no service is a container.
pub fn write(plan: &ServicesPlan) -> Result<String, ServicesExportError> {
    let mut pools: BTreeMap<usize, Vec<(&PlannedService, String)>> = BTreeMap::new();
    let mut text = header(plan);
    text += "# The plugin chooses the CPUs of a balloon itself: the plan's stand in comments.\n";
    for planned in &plan.services {
        match container(planned) {
            Some(name) => pools.entry(planned.pool).or_default().push((planned, name)),
            None => text += &format!("# {}\n", left_out(planned, "NRI")),
        }
    }
    if pools.is_empty() {
        let by = "container";
        return Err(ServicesExportError::NoneFound { tool: "the plugin balloons", by });
    }
    text += "apiVersion: config.nri/v1alpha1\nkind: BalloonsPolicy\nmetadata:\n  name: default\n  \
             namespace: kube-system\nspec:\n";
    text += &resources(plan);
    text += "  pinCPU: true\n  balloonTypes:\n";
    text += &pools.iter().map(|(pool, members)| balloon(*pool, members)).collect::<String>();
    Ok(text)
}

/// The CPUs for balloons, and those for Kubernetes' own pods.
fn resources(plan: &ServicesPlan) -> String {
    let inside = plan.services.iter().filter(|planned| container(planned).is_some());
    let inside = inside.fold(CpuSet::default(), |all, planned| all.with(&planned.cpu_set()));
    let housekeeping = plan.computer.housekeeping_cpus();
    let free = all_cpus(plan).without(&outside_containers(plan)).with(&inside).with(&housekeeping);
    let reserved =
        if housekeeping.is_empty() { "1000m".to_owned() } else { format!("cpuset:{housekeeping}") };
    format!(
        "  availableResources:\n    cpu: \"cpuset:{free}\"\n  reservedResources:\n    cpu: \
         \"{reserved}\"\n"
    )
}

fn balloon(pool: usize, members: &[(&PlannedService, String)]) -> String {
    let Some((first, _)) = members.first() else { return String::new() };
    let cpus = first.cpu_set().len();
    let mut text = format!("    - name: seatmap-{pool} # CPUs {}\n", first.cpu_set());
    for (planned, _) in members {
        if let Some(device) = &planned.service.near {
            let name = one_line(&planned.service.name);
            text += &format!("      # Left out: {name} near {}.\n", one_line(device));
        }
    }
    text += "      matchExpressions:\n        - key: name\n          operator: In\n          \
             values:\n";
    text +=
        &members.iter().map(|(_, name)| format!("            - \"{name}\"\n")).collect::<String>();
    text += &format!("      minBalloons: 1\n      maxBalloons: 1\n      minCPUs: {cpus}\n");
    text += &format!("      maxCPUs: {cpus}\n      pinMemory: {}\n", !first.nodes.is_empty());
    if members.iter().any(|(planned, _)| planned.service.quiet) {
        text += "      irqMode: isolate\n";
    }
    text + "      allocatorPriority: high\n"
}
