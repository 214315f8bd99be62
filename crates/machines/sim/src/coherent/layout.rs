//! A model as the hot paths need it.

use crate::coherent::fabric::Fabric;
use crate::coherent::homes::{Homes, hashed};

/// Whole ticks, and counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// A cache's answering its own core.
    pub hit: u64,
    /// From a core's asking its cache to the request's leaving it.
    pub miss: u64,
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
    /// From a change of a line to the next look of a task of each cache that waits for it.
    pub looks: Vec<u64>,
    /// What passing a line on takes in addition, by the cache that sent it and the one that gets it: what whole ticks a hop
    /// leave of a described distance. Empty where it takes nothing.
    pub passing: Vec<u32>,
    /// What a way between each cache (row) and each home at the top takes in addition; empty where it takes nothing.
    pub extra: Vec<u32>,
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
            Homes::Climbing(climbing) => climbing.up(node, line),
        }
    }

    /// What passing a line from one cache to another takes in addition.
    #[inline]
    pub fn passing(&self, from: u16, to: u16) -> u64 {
        if self.passing.is_empty() {
            return 0;
        }
        self.passing[from as usize * self.caches() + to as usize].into()
    }

    /// What a way between a cache and a node takes beyond its links.
    #[inline]
    pub fn extra(&self, cache: u16, node: u16) -> u64 {
        let Homes::Climbing(climbing) = &self.homes else { return 0 };
        match node.checked_sub(climbing.first_top) {
            Some(top) if !self.extra.is_empty() && (top as usize) < climbing.tops() => {
                self.extra[cache as usize * climbing.tops() + top as usize].into()
            }
            _ => 0,
        }
    }
}
