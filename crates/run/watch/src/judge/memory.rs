//! `memory-local`: memory on the nodes of the threads that use it.

use super::facts::{Facts, Sitter, union};
use crate::finding::Finding;
use crate::seating::{Memory, OnNode, Process};
use std::collections::{BTreeMap, BTreeSet};

/// The memory elsewhere that is not worth a word: libraries lie where another program has loaded them.
const FAR_BYTES: u64 = 16 << 20;
const FAR_PERCENT: f64 = 5.0;

/// Processes that are bound to some nodes and have memory on others.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    facts.programs().filter_map(|(process, sitters)| of_program(facts, process, &sitters)).collect()
}

fn of_program(facts: &Facts, process: &Process, sitters: &[&Sitter]) -> Option<Finding> {
    let near = facts.parts(&union(sitters), |pu| pu.numa)?;
    let all = facts.topology.count(|pu| pu.numa);
    let memory = process.memory.as_ref().filter(|_| all > 1 && !near.is_empty() && near.len() < all)?;
    let total: u64 = own(memory).iter().map(|on| on.bytes).sum();
    let far = far_bytes(memory, &near);
    let bytes: u64 = far.values().sum();
    let percent = 100.0 * bytes as f64 / total.max(1) as f64;
    if bytes <= FAR_BYTES || percent <= FAR_PERCENT {
        return None;
    }
    let from = list(far.keys().copied());
    let to = list(near.iter().copied());
    let what = format!(
        "{percent:.0} % of the memory of {} ({} MiB) lies on {}, and its threads sit on {}",
        super::named_process(process),
        bytes >> 20,
        nodes(&from),
        nodes(&to)
    );
    let finding = Finding::wrong("memory-local", what).of(process.pid).on(&union(sitters)).since(process.age_s);
    let finding = finding.measured(percent, "percent of the memory");
    Some(finding.mended_by(format!("migratepages {} {from} {to}", process.pid)))
}

/// The memory that the process has brought itself. Pages of files lie where any process read them first.
fn own(memory: &Memory) -> &[OnNode] {
    if memory.own.is_empty() { &memory.nodes } else { &memory.own }
}

/// The bytes on each node elsewhere, without those of mappings that ask for it.
fn far_bytes(memory: &Memory, near: &BTreeSet<u32>) -> BTreeMap<u32, u64> {
    let is_far = |on: &&OnNode| !near.contains(&on.node);
    let mut far: BTreeMap<u32, u64> = own(memory).iter().filter(is_far).map(|on| (on.node, on.bytes)).collect();
    let asked = memory.mappings.iter().filter(|mapping| !["", "default"].contains(&mapping.policy.as_str()));
    for on in asked.flat_map(|mapping| &mapping.nodes).filter(is_far) {
        far.entry(on.node).and_modify(|bytes| *bytes = bytes.saturating_sub(on.bytes));
    }
    far.retain(|_, bytes| *bytes > 0);
    far
}

fn list(nodes: impl Iterator<Item = u32>) -> String {
    nodes.map(|node| node.to_string()).collect::<Vec<_>>().join(",")
}

fn nodes(list: &str) -> String {
    if list.contains(',') { format!("nodes {list}") } else { format!("node {list}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;
    use crate::seating::Mapping;

    fn two_nodes(mask: &str, mib: &[u64]) -> Made {
        Made::new(8).parts(1, 4, 4).thread(7, 7, mask).memory(mib)
    }

    #[test]
    fn pages_on_the_other_node_are_found() {
        let found = judge(&two_nodes("0-3", &[780, 220]).facts());
        let what = "22 % of the memory of program (7) (220 MiB) lies on node 1, and its threads sit on node 0";
        assert_eq!((found.len(), found[0].what.as_str()), (1, what));
        assert_eq!(found[0].remedy.as_deref(), Some("migratepages 7 1 0"));
        assert_eq!(judge(&two_nodes("5", &[100, 100]).facts())[0].remedy.as_deref(), Some("migratepages 7 0 1"));
    }

    #[test]
    fn near_little_and_unbound_memory_is_healthy() {
        assert_eq!(judge(&two_nodes("0-3", &[1000, 0]).facts()), []);
        assert_eq!(judge(&two_nodes("0-3", &[20, 16]).facts()), [], "libraries");
        assert_eq!(judge(&two_nodes("0-3", &[2000, 60]).facts()), [], "3 %");
        assert_eq!(judge(&two_nodes("0-7", &[100, 900]).facts()), []);
        assert_eq!(judge(&Made::new(8).thread(7, 7, "0").memory(&[100, 100]).facts()), [], "one node");
    }

    #[test]
    fn pages_of_files_are_left_out() {
        let mut made = two_nodes("0-3", &[500, 500]);
        let own = vec![OnNode { node: 0, bytes: 500 << 20 }];
        made.seating.processes[0].memory.iter_mut().for_each(|memory| memory.own = own.clone());
        assert_eq!(judge(&made.facts()), []);
    }

    #[test]
    fn memory_that_a_policy_put_there_is_asked_for() {
        let mut made = two_nodes("0-3", &[500, 500]);
        let nodes = vec![OnNode { node: 1, bytes: 490 << 20 }];
        let mapping = Mapping { policy: "interleave:0-1".to_owned(), nodes, ..Mapping::default() };
        made.seating.processes[0].memory.iter_mut().for_each(|memory| memory.mappings.push(mapping.clone()));
        assert_eq!(judge(&made.facts()), []);
        made.seating.processes[0].memory.iter_mut().for_each(|memory| memory.mappings[0].policy = "default".to_owned());
        assert_eq!(judge(&made.facts()).len(), 1);
    }
}
