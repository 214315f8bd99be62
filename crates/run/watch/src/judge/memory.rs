//! `memory-local`: memory on the nodes of the threads that use it.

use super::facts::{SeatingFacts, Sitter, union};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use crate::seating::{MemoryUsage, OnNode, Process};
use seatmap_data::words::joined;
use seatmap_os::CpuSet;
use std::collections::{BTreeMap, BTreeSet};

const RULE: &str = "memory-local";

/// Libraries are where another program has loaded them.
const FAR_BYTES: u64 = 16 << 20;
const FAR_PERCENT: f64 = 5.0;

pub fn judge(facts: &SeatingFacts) -> Vec<Finding> {
    facts.of_programs(|process, sitters| of_program(facts, process, sitters, false))
}

/// Also reports processes on nodes from which their control group allows no memory.
pub fn named(facts: &SeatingFacts) -> Vec<Finding> {
    facts.of_programs(|process, sitters| of_program(facts, process, sitters, true))
}

fn without_node(cpus: &CpuSet) -> String {
    format!("the kernel does not report the NUMA node of {}", cpus.named())
}

fn of_program(
    facts: &SeatingFacts,
    process: &Process,
    sitters: &[&Sitter],
    is_named: bool,
) -> Option<Finding> {
    let used = union(sitters);
    // A kernel that reports cores but no nodes was built without NUMA, and has one memory.
    let untold = facts.unknown(&used, |pu| pu.numa.or(pu.core));
    if is_named && !untold.is_empty() {
        return Some(Finding::unseen(RULE, without_node(&untold)).of(process.pid));
    }
    let memory = process.memory.as_ref().filter(|_| facts.nodes() > 1)?;
    let unknown = facts.unknown(&used, |pu| pu.numa);
    if !unknown.is_empty() {
        return Some(Finding::unseen(RULE, without_node(&unknown)).of(process.pid));
    }
    let all = facts.topology.count(|pu| pu.numa);
    let parts = facts.parts(&used, |pu| pu.numa)?;
    let near: BTreeSet<u32> =
        parts.iter().copied().filter(|node| facts.has_memory(*node)).collect();
    if near.is_empty() {
        let what = format!(
            "there is no memory on {}, so none can be local there",
            nodes(&list(parts.iter().copied()))
        );
        return Some(Finding::unseen(RULE, what).of(process.pid));
    }
    let allowed = allowed(process);
    if parts.len() < all {
        return far_away(facts, process, sitters, memory, &near, &allowed);
    }
    let closed: BTreeSet<u32> =
        near.difference(allowed.as_ref().filter(|_| is_named)?).copied().collect();
    let total: u64 = own(memory).iter().map(|on| on.bytes).sum();
    (!closed.is_empty() && total > FAR_BYTES).then(|| kept_away(facts, process, sitters, &closed))
}

fn allowed(process: &Process) -> Option<BTreeSet<u32>> {
    let nodes = CpuSet::of_list(process.group.as_ref()?.nodes.as_deref()?)?;
    Some(nodes.iter().collect()).filter(|nodes: &BTreeSet<u32>| !nodes.is_empty())
}

fn far_away(
    facts: &SeatingFacts,
    process: &Process,
    sitters: &[&Sitter],
    memory: &MemoryUsage,
    near: &BTreeSet<u32>,
    allowed: &Option<BTreeSet<u32>>,
) -> Option<Finding> {
    let total: u64 = own(memory).iter().map(|on| on.bytes).sum();
    let far = far_bytes(memory, near);
    let bytes: u64 = far.values().sum();
    let percent = 100.0 * bytes as f64 / total.max(1) as f64;
    if bytes <= FAR_BYTES || percent <= FAR_PERCENT {
        return None;
    }
    let from = list(far.keys().copied());
    let what = format!(
        "{percent:.0} % of the memory of {} ({} MiB) is on {}, but its threads run on {}",
        super::named_process(process),
        bytes >> 20,
        nodes(&from),
        nodes(&list(near.iter().copied()))
    );
    let finding = Finding::wrong(RULE, what)
        .of(process.pid)
        .on(&union(sitters))
        .at_most(process.age_s)
        .measured(percent, "percent of the memory");
    let open: Vec<u32> = near
        .iter()
        .copied()
        .filter(|node| allowed.as_ref().is_none_or(|all| all.contains(node)))
        .collect();
    Some(if open.is_empty() {
        // The kernel moves no memory to such a node, so the threads must move.
        beside_memory(facts, process, finding)
    } else {
        finding.mended_by(SeatingRemedy::move_memory(process.pid, &from, &list(open.into_iter())))
    })
}

fn kept_away(
    facts: &SeatingFacts,
    process: &Process,
    sitters: &[&Sitter],
    closed: &BTreeSet<u32>,
) -> Finding {
    let group = process.group.as_ref().map_or("/", |group| group.path.as_str());
    let what = format!(
        "the threads of {} may run on {}, but its control group {group} allows no memory there",
        super::named_process(process),
        nodes(&list(closed.iter().copied()))
    );
    let finding =
        Finding::wrong(RULE, what).of(process.pid).on(&union(sitters)).at_most(process.age_s);
    beside_memory(facts, process, finding)
}

fn beside_memory(facts: &SeatingFacts, process: &Process, finding: Finding) -> Finding {
    let group = process.group.as_ref().map_or("/", |group| group.path.as_str());
    let open = allowed(process).unwrap_or_default();
    let beside = open
        .into_iter()
        .fold(CpuSet::default(), |all, node| all.with(&facts.cpus_of(|pu| pu.numa, node)));
    let beside = beside.within(&facts.allowed(process.pid)).within(&facts.usual);
    if beside.is_empty() {
        finding.advised(format!(
            "ask the owner of the control group {group} to allow the memory next to its CPUs \
             (cpuset.mems)"
        ))
    } else {
        finding.mended_by(SeatingRemedy::bind_all(&beside, process.pid))
    }
}

/// Pages of files are where any process first read them.
fn own(memory: &MemoryUsage) -> &[OnNode] {
    if memory.own.is_empty() { &memory.nodes } else { &memory.own }
}

fn far_bytes(memory: &MemoryUsage, near: &BTreeSet<u32>) -> BTreeMap<u32, u64> {
    let mut far: BTreeMap<u32, u64> = own(memory)
        .iter()
        .filter(|on| !near.contains(&on.node))
        .map(|on| (on.node, on.bytes))
        .collect();
    let chosen = memory
        .mappings
        .iter()
        .filter(|mapping| !["", "default"].contains(&mapping.policy.as_str()));
    for on in chosen.flat_map(|mapping| &mapping.nodes) {
        far.entry(on.node).and_modify(|bytes| *bytes = bytes.saturating_sub(on.bytes));
    }
    far.retain(|_, bytes| *bytes > 0);
    far
}

fn list(nodes: impl Iterator<Item = u32>) -> String {
    joined(nodes, ",")
}

fn nodes(list: &str) -> String {
    if list.contains(',') { format!("nodes {list}") } else { format!("node {list}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;
    use crate::seating::MemoryMapping;

    fn two_nodes(mask: &str, mib: &[u64]) -> Made {
        Made::new(8).parts(1, 4, 4).thread(7, 7, mask).memory(mib)
    }

    #[test]
    fn pages_on_remote_node_are_found() {
        assert_eq!(
            two_nodes("0-3", &[780, 220]).told(judge),
            "Wrong 7 [] on 0-3: 22 % of the memory of program (7) (220 MiB) is on node 1, but its threads run on node 0 -> migratepages 7 1 0"
        );
        assert_eq!(
            two_nodes("5", &[100, 100]).told(judge),
            "Wrong 7 [] on 5: 50 % of the memory of program (7) (100 MiB) is on node 0, but its threads run on node 1 -> migratepages 7 0 1"
        );
    }

    #[test]
    fn near_small_or_unbound_memory_is_healthy() {
        assert_eq!(two_nodes("0-3", &[1000, 0]).told(judge), "");
        assert_eq!(two_nodes("0-3", &[20, 16]).told(judge), "", "libraries");
        assert_eq!(two_nodes("0-3", &[2000, 60]).told(judge), "", "3 %");
        assert_eq!(two_nodes("0-7", &[100, 900]).told(judge), "");
        assert_eq!(Made::new(8).with("7/7 on 0").memory(&[100, 100]).told(judge), "", "one node");
    }

    fn with_nodes(mask: &str, mib: &[u64], nodes: &str) -> Made {
        let mut made = two_nodes(mask, mib).group(None, None, 0);
        let groups = made.seating.processes.iter_mut().filter_map(|process| process.group.as_mut());
        groups.for_each(|group| group.nodes = Some(nodes.to_owned()));
        made
    }

    #[test]
    fn threads_far_from_allowed_memory_node_are_reported() {
        let bound = with_nodes("5", &[200, 0], "0");
        assert_eq!(
            bound.told(judge),
            "Wrong 7 [] on 5: 100 % of the memory of program (7) (200 MiB) is on node 0, but its threads run on node 1 -> taskset -acp 0-3 7"
        );
        let anywhere = with_nodes("0-7", &[200, 0], "0");
        assert_eq!(
            anywhere.told(named),
            "Wrong 7 [] on 0-7: the threads of program (7) may run on node 1, but its control group /box allows no memory there -> taskset -acp 0-3 7"
        );
        assert_eq!(anywhere.told(judge), "", "nobody asked");
        assert_eq!(with_nodes("0-7", &[100, 100], "0-1").told(named), "");
        let mut closed = with_nodes("5", &[200, 0], "0");
        closed.seating.processes[0].group.as_mut().unwrap().cpus = Some("4-7".to_owned());
        assert_eq!(
            closed.told(judge),
            "Wrong 7 [] on 5: 100 % of the memory of program (7) (200 MiB) is on node 0, but its threads run on node 1 -> ask the owner of the control group /box to allow the memory next to its CPUs (cpuset.mems)"
        );
    }

    #[test]
    fn unknown_or_memoryless_node_is_unseen() {
        let mut unknown = two_nodes("5", &[200, 0]);
        unknown.topology.pus[5].numa = None;
        assert_eq!(
            unknown.told(judge),
            "Unseen 7 [] on : the kernel does not report the NUMA node of CPU 5"
        );
        let mut bare = two_nodes("5", &[200, 0]);
        bare.seating.kernel.memory_nodes = Some("0".to_owned());
        assert_eq!(
            bare.told(judge),
            "Unseen 7 [] on : there is no memory on node 1, so none can be local there"
        );
    }

    #[test]
    fn file_pages_are_ignored() {
        let mut made = two_nodes("0-3", &[500, 500]);
        let own = vec![OnNode { node: 0, bytes: 500 << 20 }];
        made.seating.processes[0].memory.iter_mut().for_each(|memory| memory.own = own.clone());
        assert_eq!(made.told(judge), "");
    }

    #[test]
    fn memory_placed_by_policy_is_healthy() {
        let mut made = two_nodes("0-3", &[500, 500]);
        let nodes = vec![OnNode { node: 1, bytes: 490 << 20 }];
        let mapping = MemoryMapping {
            policy: "interleave:0-1".to_owned(),
            nodes,
            ..MemoryMapping::default()
        };
        made.seating.processes[0]
            .memory
            .iter_mut()
            .for_each(|memory| memory.mappings.push(mapping.clone()));
        assert_eq!(made.told(judge), "");
        made.seating.processes[0]
            .memory
            .iter_mut()
            .for_each(|memory| memory.mappings[0].policy = "default".to_owned());
        assert_eq!(judge(&made.facts()).len(), 1);
    }
}
