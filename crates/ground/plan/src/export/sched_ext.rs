//! A configuration of `scx_layered`, a scheduler of sched_ext: a layer for the tasks of each NUMA
//! node.

use super::ExportError;
use crate::Plan;
use seatmap_statistics::words::counted;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a thread's name that the kernel keeps (`TASK_COMM_LEN` less the closing zero).
const NAME_BYTES: usize = 15;

/// The name of the layer for everything else, and of the layers of the plan.
const REST: &str = "rest";
const OURS: &str = "seatmap";

/// CPU use between which a layer keeps its CPUs, as scx_layered's examples have it. Layers of the
/// plan have a fixed number of CPUs, so that it changes nothing.
const USED: [f64; 2] = [0.5, 0.9];

/// A layer, as `LayerSpec` of scx_layered reads it.
#[derive(Serialize)]
struct Layer {
    name: String,
    comment: String,
    matches: Vec<Vec<Match>>,
    kind: Kind,
}

#[derive(Serialize)]
enum Match {
    CommPrefix(String),
}

#[derive(Serialize)]
enum Kind {
    Confined { cpus_range: [usize; 2], util_range: [f64; 2], nodes: Vec<u32> },
    Open {},
}

/// The layers as JSON. `scx_layered` knows threads by their names, and CPUs by their number and
/// their NUMA node: the tasks of one node are one layer, confined to as many of the node's CPUs as
/// the plan uses there. Where no nodes are known, all tasks are one layer.
///
/// # Errors
/// [`ExportError::NeedsNames`] where a task has no name.
pub fn write(plan: &Plan) -> Result<String, ExportError> {
    let names =
        (0..plan.placement.len()).map(|task| plan.names.get(task).filter(|name| !name.is_empty()));
    let Some(names) = names.collect::<Option<Vec<_>>>() else {
        return Err(ExportError::NeedsNames { tool: "scx_layered" });
    };
    let mut layers: BTreeMap<Option<u32>, (BTreeSet<u32>, BTreeSet<&str>)> = BTreeMap::new();
    for (task, name) in names.into_iter().enumerate() {
        let (pus, matched) = layers.entry(node(plan, task)).or_default();
        pus.extend(plan.seat(task));
        // The kernel keeps 15 bytes of a thread's name, and a longer prefix would match none.
        matched.insert(&name[..name.floor_char_boundary(NAME_BYTES)]);
    }
    let ours = layers.into_iter().map(|(node, (pus, names))| layer(node, pus.len(), &names));
    let rest = Layer {
        name: REST.to_owned(),
        comment: "everything else".to_owned(),
        matches: vec![Vec::new()],
        kind: Kind::Open {},
    };
    Ok(seatmap_document::written(&ours.chain([rest]).collect::<Vec<_>>()))
}

/// The NUMA node of all of a task's PUs, where they have one.
fn node(plan: &Plan, task: usize) -> Option<u32> {
    let nodes: Option<BTreeSet<u32>> =
        plan.seat(task).iter().map(|os| plan.pus.iter().find(|pu| pu.os == *os)?.numa).collect();
    // A seat over two nodes belongs to the layer of the whole machine.
    nodes.filter(|nodes| nodes.len() == 1)?.first().copied()
}

fn layer(node: Option<u32>, cpus: usize, names: &BTreeSet<&str>) -> Layer {
    let (suffix, place) = node
        .map_or_else(Default::default, |node| (format!("-node{node}"), format!(" on node {node}")));
    Layer {
        name: format!("{OURS}{suffix}"),
        comment: format!("{cpus}{place}", cpus = counted(cpus, "CPU")),
        matches: names.iter().map(|name| vec![Match::CommPrefix((*name).to_owned())]).collect(),
        kind: Kind::Confined {
            cpus_range: [cpus, cpus],
            util_range: USED,
            nodes: node.into_iter().collect(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sample;
    use seatmap_machine::Pu;

    #[test]
    fn a_layer_holds_the_tasks_of_a_node() {
        let pu = |os: u32| Pu { os, numa: Some(os / 8), ..Pu::default() };
        let plan = Plan { pus: [1, 3, 12].map(pu).to_vec(), ..sample() };
        insta::assert_snapshot!(write(&plan).unwrap(), @r#"[{"name":"seatmap-node0","comment":"2 CPUs on node 0","matches":[[{"CommPrefix":"left"}],[{"CommPrefix":"middle"}]],"kind":{"Confined":{"cpus_range":[2,2],"util_range":[0.5,0.9],"nodes":[0]}}},{"name":"seatmap-node1","comment":"1 CPU on node 1","matches":[[{"CommPrefix":"right"}]],"kind":{"Confined":{"cpus_range":[1,1],"util_range":[0.5,0.9],"nodes":[1]}}},{"name":"rest","comment":"everything else","matches":[[]],"kind":{"Open":{}}}]"#);
    }

    #[test]
    fn threads_are_known_by_their_names() {
        let told = write(&Plan::new("desk", vec![3, 1])).unwrap_err().to_string();
        assert!(
            told.starts_with(
                "scx_layered knows threads by their names, and a task of the plan has none"
            ),
            "{told}"
        );
        assert!(write(&sample()).unwrap().contains("\"nodes\":[]"), "no nodes are known");
    }
}
