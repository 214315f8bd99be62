//! Sizes of the arrays: well beyond the caches, and within the free memory.

use seatmap_data::machine::{BandwidthGroup, Pu, Topology};
use std::collections::{BTreeMap, HashMap};

/// An array is this many times the last-level caches that its threads use (STREAM's rule).
const ARRAY_OVER_CACHE: f64 = 4.0;

/// With smaller arrays, the rates would be the cache's.
const LEAST_OVER_CACHE: f64 = 1.0;

/// The arrays use at most this share of the free memory: other programs keep the rest.
const MOST_OF_FREE: f64 = 0.5;

/// Instead of an unknown size: that of most L3 caches of servers.
const UNKNOWN_CACHE_BYTES: u64 = 32 << 20;

/// Arrays of one visit.
const ARRAYS: f64 = 3.0;

/// The share of each thread in the arrays.
///
/// Threads of one last-level cache share it, so each of n needs only the nth part of the arrays.
/// The kth thread that a group adds to a cache has k - 1 others, so it needs at most the kth part:
/// this saves memory with hundreds of CPUs.
#[derive(Debug)]
pub struct StreamArrays {
    caches: HashMap<u32, LastCache>,
    over_cache: f64,
    most_bytes: Vec<(u32, usize)>,
}

/// A last-level cache: its level and number, and its size.
#[derive(Clone, Copy, Debug)]
struct LastCache {
    id: (u8, u32),
    bytes: u64,
}

/// The free memory is smaller than the arrays.
#[derive(Debug, thiserror::Error)]
#[error(
    "memory bandwidth needs {} MiB of free memory, because arrays must be larger than the \
     last-level caches; {} MiB are free here (MemAvailable, and limits of control groups)",
    .needed_bytes >> 20,
    .free_bytes >> 20
)]
pub struct TooLittleMemory {
    needed_bytes: u64,
    free_bytes: u64,
}

impl StreamArrays {
    /// Arrays for these groups, or smaller ones if less memory is free.
    ///
    /// # Errors
    /// [`TooLittleMemory`].
    pub fn new<'a>(
        topology: &Topology,
        groups: impl Iterator<Item = &'a BandwidthGroup>,
        free_bytes: Option<u64>,
    ) -> Result<Self, TooLittleMemory> {
        let mut ranked: BTreeMap<u32, (LastCache, usize)> = BTreeMap::new();
        for group in groups {
            let mut threads: HashMap<(u8, u32), usize> = HashMap::new();
            for pu in group.pus.iter().filter_map(|os| topology.pu(*os)) {
                let cache = LastCache::of(pu);
                let rank = threads.entry(cache.id).or_default();
                *rank += 1;
                let (_, least) = ranked.entry(pu.os).or_insert((cache, *rank));
                *least = (*rank).min(*least);
            }
        }
        let wanted_bytes: Vec<(u32, f64)> = ranked
            .iter()
            .map(|(os, (cache, rank))| (*os, cache.share_bytes(ARRAY_OVER_CACHE, *rank)))
            .collect();
        let all_bytes: f64 = wanted_bytes.iter().map(|(_, bytes)| bytes).sum();
        let room_bytes = free_bytes.map_or(f64::INFINITY, |free| MOST_OF_FREE * free as f64);
        let scale = (room_bytes / all_bytes.max(1.0)).min(1.0);
        let over_cache = scale * ARRAY_OVER_CACHE;
        if over_cache < LEAST_OVER_CACHE {
            let least_bytes = all_bytes * LEAST_OVER_CACHE / ARRAY_OVER_CACHE;
            return Err(TooLittleMemory {
                needed_bytes: (least_bytes / MOST_OF_FREE) as u64,
                free_bytes: free_bytes.unwrap_or_default(),
            });
        }
        let most_bytes =
            wanted_bytes.into_iter().map(|(os, bytes)| (os, (scale * bytes) as usize)).collect();
        let caches = ranked.into_iter().map(|(os, (cache, _))| (os, cache)).collect();
        Ok(StreamArrays { caches, over_cache, most_bytes })
    }

    /// The size of one array, relative to the last-level caches of its threads.
    pub fn over_cache(&self) -> f64 {
        self.over_cache
    }

    /// Whether caches may keep a part of the arrays.
    pub fn are_small(&self) -> bool {
        self.over_cache < ARRAY_OVER_CACHE
    }

    /// Each CPU with the bytes that its thread needs at most.
    pub fn most_bytes(&self) -> &[(u32, usize)] {
        &self.most_bytes
    }

    /// Each of these CPUs with its thread's bytes, if only these have threads.
    pub fn bytes_of(&self, pus: &[u32]) -> Vec<(u32, usize)> {
        let caches = pus.iter().filter_map(|os| Some((*os, *self.caches.get(os)?)));
        let caches: Vec<(u32, LastCache)> = caches.collect();
        let mut threads: HashMap<(u8, u32), usize> = HashMap::new();
        for (_, cache) in &caches {
            *threads.entry(cache.id).or_default() += 1;
        }
        let bytes = caches.iter().map(|(os, cache)| {
            let share = cache.share_bytes(self.over_cache, threads[&cache.id]);
            (*os, share as usize)
        });
        bytes.collect()
    }
}

impl LastCache {
    /// A processor without an L3 cache has an L2 cache of a core or of a cluster.
    fn of(pu: &Pu) -> Self {
        let l3 = pu.l3.map(|l3| ((3, l3), pu.l3_bytes));
        let l2 = pu.l2.map(|l2| ((2, l2), pu.l2_bytes));
        let (id, bytes) = l3.or(l2).unwrap_or(((0, 0), None));
        LastCache { id, bytes: bytes.unwrap_or(UNKNOWN_CACHE_BYTES) }
    }

    /// The bytes of each of the threads that use it, in all arrays.
    fn share_bytes(self, over_cache: f64, threads: usize) -> f64 {
        ARRAYS * over_cache * self.bytes as f64 / threads.max(1) as f64
    }
}
