//! A policy of Kubernetes' NRI plugin `balloons`: a pool of CPUs as large as the plan.

use super::{comment, joined};
use crate::Plan;

/// A `BalloonsPolicy` with one balloon of the plan's size; pods name it by an annotation
/// (nri-plugins, "Balloons Policy").
///
/// The plugin chooses the CPUs itself: it packs them, or spreads them over cores where the plan has
/// no two PUs of one core. Inside, programs seat themselves or run under `seatmap run`.
#[must_use]
pub fn write(plan: &Plan) -> String {
    // The plugin takes a number of CPUs and chooses them itself.
    let cpus = plan.pus_in_use().len();
    let memory = plan.memory_in_use().is_some();
    let mut text = comment::header(plan);
    text += "# A balloon of as many CPUs; which ones the plugin decides. A pod names it in its \
             annotations:\n";
    text += "#   balloon.balloons.resource-policy.nri.io: seatmap\n";
    text += "apiVersion: config.nri/v1alpha1\nkind: BalloonsPolicy\nmetadata:\n  name: default\n  \
             namespace: kube-system\n";
    text += &format!(
        "spec:\n  reservedResources:\n    cpu: 1000m\n  pinCPU: true\n  pinMemory: {memory}\n"
    );
    text += "  balloonTypes:\n    - name: seatmap\n      minBalloons: 1\n      maxBalloons: 1\n";
    text += &format!("      minCPUs: {cpus}\n      maxCPUs: {cpus}\n");
    text += &format!(
        "      preferSpreadOnPhysicalCores: {}\n      allocatorPriority: high\n",
        is_spread(plan)
    );
    // In a comment, for people: the plugin has no key for it.
    text + &format!("# The plan's PUs: {}\n", joined(plan.pus_in_use(), " "))
}

/// Whether the plan is known to have no two PUs of one core.
fn is_spread(plan: &Plan) -> bool {
    let cores: Option<Vec<u32>> =
        plan.pus_in_use().iter().map(|os| plan.pus.iter().find(|pu| pu.os == *os)?.core).collect();
    cores.is_some_and(|cores| {
        cores.iter().collect::<std::collections::BTreeSet<_>>().len() == cores.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{hostile, near};
    use seatmap_machine::Pu;

    #[test]
    fn a_balloon_has_the_size_of_the_plan() {
        insta::assert_snapshot!(write(&near()), @"
        # Seatmap plan: 2 tasks on desk.
        # A balloon of as many CPUs; which ones the plugin decides. A pod names it in its annotations:
        #   balloon.balloons.resource-policy.nri.io: seatmap
        apiVersion: config.nri/v1alpha1
        kind: BalloonsPolicy
        metadata:
          name: default
          namespace: kube-system
        spec:
          reservedResources:
            cpu: 1000m
          pinCPU: true
          pinMemory: true
          balloonTypes:
            - name: seatmap
              minBalloons: 1
              maxBalloons: 1
              minCPUs: 3
              maxCPUs: 3
              preferSpreadOnPhysicalCores: false
              allocatorPriority: high
        # The plan's PUs: 0 1 3
        ");
        assert!(write(&hostile()).contains("pinMemory: false"));
    }

    #[test]
    fn cores_are_spread_where_the_plan_spreads_them() {
        let plan = |cores: [u32; 2]| {
            let pus = cores
                .iter()
                .zip(0..)
                .map(|(core, os)| Pu { os, core: Some(*core), ..Pu::default() })
                .collect();
            Plan { pus, ..Plan::new("desk", vec![0, 1]) }
        };
        assert!(is_spread(&plan([0, 1])) && !is_spread(&plan([0, 0])));
    }
}
