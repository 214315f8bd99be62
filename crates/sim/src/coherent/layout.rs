//! A model as the hot paths need it.

use crate::coherent::fabric::Fabric;
use crate::coherent::homes::{Homes, hashed};

/// Whole core cycles, and counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// A cache's answering its own core.
    pub hit: u64,
    /// From a core's asking its cache to the request's leaving it.
    pub miss: u64,
    /// From a change of a line to the next look of a task that waits for it.
    pub look: u64,
    /// A cache's answering others.
    pub cache: u64,
    /// A directory's looking a line up.
    pub directory: u64,
    /// For how long that keeps the next message out.
    pub directory_busy: u64,
    /// Requests that a directory holds; further ones bounce.
    pub directory_queue: u32,
    /// Memory's answering a directory.
    pub memory: u64,
    /// What an atomic takes beyond a store.
    pub atomic: u64,
    /// Tasks start up to so much apart.
    pub start_skew: u64,
}

/// Who sits where, what is between them, and what that takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub fabric: Fabric,
    pub homes: Homes,
    /// Whether lines stay at their homes, and are read and written there.
    pub is_uncached: bool,
    /// The cache of each PU, by OS index.
    pub cache_of_pu: Vec<Option<u16>>,
    /// Threads that share a cache, at most.
    pub threads: usize,
    /// Where each cache is.
    pub node_of_cache: Vec<u16>,
    /// What a directory takes, in addition, to pass a line on; what whole cycles a hop leave of a described distance.
    pub passing: Vec<u64>,
    pub timing: Timing,
}

impl Layout {
    pub fn caches(&self) -> usize {
        self.node_of_cache.len()
    }

    /// Where a request of a node for a line goes first.
    pub fn first_home(&self, node: u16, line: u32) -> u16 {
        match &self.homes {
            Homes::Hashed { nodes, seed } => nodes[hashed(line, *seed, nodes.len())],
            Homes::Climbing { parent, .. } => parent[node as usize],
        }
    }
}
