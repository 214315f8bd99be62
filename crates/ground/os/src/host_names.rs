//! Short and long host names, `n0` and `n0.cluster.example.org`.

/// Finds a computer among nodes by name: an exact match, or else a name that differs only by a
/// domain, if no other node matches.
///
/// ```
/// use seatmap_os::host_names::node_of;
/// assert_eq!(node_of("n0", &["n1.example.org", "n0.example.org"]), Some(1));
/// assert_eq!(node_of("n0.example.org", &["n0", "n1"]), Some(0));
/// assert_eq!(node_of("worker", &["worker.0.example.net", "worker.1.example.net"]), None);
/// assert_eq!(node_of("n0.example.net", &["n0.example.org"]), None);
/// ```
pub fn node_of(name: &str, nodes: &[impl AsRef<str>]) -> Option<usize> {
    let exact = nodes.iter().position(|node| node.as_ref() == name);
    exact.or_else(|| {
        nodes.iter().map(AsRef::as_ref).position(|node| {
            is_short_for(name, node) && stands_for_one(name, nodes)
                || is_short_for(node, name) && stands_for_one(node, nodes)
        })
    })
}

/// Whether exactly one node has this name, with or without a domain.
pub fn stands_for_one(name: &str, nodes: &[impl AsRef<str>]) -> bool {
    let alike = nodes.iter().map(AsRef::as_ref);
    alike.filter(|node| *node == name || is_short_for(name, node)).count() == 1
}

/// Whether one name is the other without its domain, or without a part of it.
fn is_short_for(short: &str, long: &str) -> bool {
    !short.is_empty() && long.strip_prefix(short).is_some_and(|domain| domain.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_name_of_two_nodes_matches_neither() {
        assert_eq!(node_of("n0", &["n0.a.org", "n0.b.org"]), None);
        assert_eq!(node_of("n0.b.org", &["n0", "n0.a.org"]), None);
        assert_eq!(node_of("n0.a.org", &["n0", "n0.a.org"]), Some(1), "the whole name goes first");
        assert_eq!(node_of("worker.0", &["worker.0.net", "worker.1.net"]), Some(0));
        assert_eq!(node_of("n1", &["n10.a.org", "n0.a.org"]), None);
        assert_eq!(node_of("", &[".a"]), None);
    }
}
