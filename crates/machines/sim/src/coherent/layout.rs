//! The part of a model that a run needs: whole ticks, nodes, and routes.

use crate::coherent::fabric::Fabric;
use crate::coherent::homes::{Homes, hashed};

/// The figures of a model (`CoherentFigures`) in whole ticks, and the length of its queues.
#[derive(Debug)]
pub struct CoherentTiming {
    pub hit: u64,
    pub miss: u64,
    pub cache: u64,
    pub directory: u64,
    pub directory_busy: u64,
    pub directory_queue: u32,
    pub memory: u64,
    pub atomic: u64,
    pub start_skew: u64,
}

/// Caches, homes, the fabric between them, and all times.
#[derive(Debug)]
pub struct CoherentLayout {
    pub fabric: Fabric,
    pub homes: Homes,
    /// Whether lines stay at their homes, and caches read and write them there.
    pub is_uncached: bool,
    pub cache_of_pu: Vec<Option<u16>>,
    /// Most threads that share a cache.
    pub threads: usize,
    pub node_of_cache: Vec<u16>,
    /// Ticks from a change of a line until a waiting thread looks again, by cache.
    pub looks: Vec<u64>,
    /// Additional ticks for passing a line on, by the sending and the receiving cache: the part of
    /// a described distance that whole ticks of links leave. May be empty.
    pub passing: Vec<u32>,
    /// Additional ticks of a route between each cache (row) and each home at the top; empty if
    /// none.
    pub extra: Vec<u32>,
    pub timing: CoherentTiming,
}

impl CoherentLayout {
    pub fn caches(&self) -> usize {
        self.node_of_cache.len()
    }

    pub fn cache_of(&self, pu: u32) -> Option<u16> {
        self.cache_of_pu.get(pu as usize).copied().flatten()
    }

    /// The node to which a request for a line goes first.
    pub fn first_home(&self, node: u16, line: u32) -> u16 {
        match &self.homes {
            Homes::Hashed { nodes, seed } => nodes[hashed(line, *seed, nodes.len())],
            Homes::Climbing(climbing) => climbing.up(node, line),
        }
    }

    #[inline]
    pub fn passing(&self, from: u16, to: u16) -> u64 {
        if self.passing.is_empty() {
            return 0;
        }
        self.passing[from as usize * self.caches() + to as usize].into()
    }

    /// Ticks of a route between a cache and a node beyond its links.
    #[inline]
    pub fn extra(&self, cache: u16, node: u16) -> u64 {
        match &self.homes {
            Homes::Climbing(climbing) if !self.extra.is_empty() => {
                // Only routes to homes at the top differ by home; nodes below it are shared.
                match node.checked_sub(climbing.first_top) {
                    Some(top) if (top as usize) < climbing.tops() => {
                        self.extra[cache as usize * climbing.tops() + top as usize].into()
                    }
                    _ => 0,
                }
            }
            _ => 0,
        }
    }
}
