//! NUMA nodes without memory, and the node used in place of each.

use super::scan::NumaNode;

/// The node with memory that is nearest to a node without; `None` if the node has memory, or if the
/// file has no sizes of memory.
///
/// hwloc omits the attribute for a node without memory. Nodes of the same package are near; the
/// first of equals is used.
pub fn instead(nodes: &[NumaNode], own: u32) -> Option<u32> {
    let own = nodes.iter().find(|node| node.os == own)?;
    if has_memory(&own) {
        return None;
    }
    let with_memory = nodes.iter().filter(has_memory);
    let nearest = with_memory
        .min_by_key(|node| (node.package != own.package, node.os.abs_diff(own.os), node.os));
    nearest.map(|node| node.os)
}

fn has_memory(node: &&NumaNode) -> bool {
    node.memory_bytes.is_some_and(|bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(bytes: &[Option<u64>]) -> Vec<NumaNode> {
        let node = |(os, memory_bytes): (usize, &Option<u64>)| NumaNode {
            os: os as u32,
            cpuset: Default::default(),
            memory_bytes: *memory_bytes,
            package: Some(os as u32 / 2),
        };
        bytes.iter().enumerate().map(node).collect()
    }

    #[test]
    fn nearest_node_with_memory_replaces_an_empty_one() {
        let some = nodes(&[None, Some(8), Some(8), Some(0)]);
        let instead_of: Vec<_> = (0..4).map(|own| instead(&some, own)).collect();
        assert_eq!(instead_of, [Some(1), None, None, Some(2)]);
        assert_eq!(instead(&nodes(&[None, None]), 0), None, "the file says nothing of memory");
    }
}
