//! The time of a round trip without other traffic, by formula; a test compares it with the
//! simulation.
//!
//! Two tasks write one word in turn (algorithm 1 of Liu et al. 2015). The writer shares the line
//! with the other task, so its store makes the home tell the other cache to give the line up. The
//! other task looks again, misses, and receives the line through the home. On a ring, a round trip
//! is therefore six routes between each of the two caches and the home.

use crate::coherent::homes::{Climbing, Homes};
use crate::coherent::layout::Layout;

/// Routes between each of two caches and the home in a round trip, over both directions.
pub const ROUTES: u64 = 6;

/// The time from one PU's store until the other has seen it, and back.
pub fn round_trip(layout: &Layout, a: u32, b: u32, line: u32) -> Option<u64> {
    let cache = |pu: u32| layout.cache_of_pu.get(pu as usize).copied().flatten();
    let from = cache(a)?;
    let to = cache(b)?;
    if a == b || layout.is_uncached {
        return None;
    }
    if from == to {
        return Some(2 * (layout.looks[from as usize] + layout.timing.hit));
    }
    let home = home(layout, from, to, line);
    Some(one_way(layout, from, to, home) + one_way(layout, to, from, home))
}

/// The time of a message between a cache and a node.
fn route(layout: &Layout, cache: u16, node: u16) -> u64 {
    layout.fabric.cycles(layout.node_of_cache[cache as usize], node) + layout.extra(cache, node)
}

/// The node that serves the requests of both.
fn home(layout: &Layout, a: u16, b: u16, line: u32) -> u16 {
    match &layout.homes {
        Homes::Hashed { .. } => layout.first_home(0, line),
        Homes::Climbing(climbing) => {
            let mut a = layout.node_of_cache[a as usize];
            let mut b = layout.node_of_cache[b as usize];
            // A parent has a larger number than its child.
            while a != b {
                if a < b { a = climbing.up(a, line) } else { b = climbing.up(b, line) }
            }
            a
        }
    }
}

/// The time that a request spends in directories below the home.
fn climbing(layout: &Layout, from: u16, home: u16) -> u64 {
    let Homes::Climbing(Climbing { parent, first_top, .. }) = &layout.homes else { return 0 };
    let above =
        |node: &u16| Some(parent[*node as usize]).filter(|up| *up != home && up < first_top);
    let from = layout.node_of_cache[from as usize];
    let lookups = std::iter::successors(above(&from), |node| above(node)).count();
    lookups as u64 * layout.timing.directory
}

fn one_way(layout: &Layout, writer: u16, reader: u16, home: u16) -> u64 {
    let timing = &layout.timing;
    let route = |cache: u16, node: u16| route(layout, cache, node);
    let request =
        timing.miss + route(writer, home) + climbing(layout, writer, home) + timing.directory;
    let give_up = route(reader, home) + timing.cache;
    // The reader sends its acknowledgement and, after its look, its request: the home takes one
    // after the other.
    let asks = layout.looks[reader as usize] + timing.miss + climbing(layout, reader, home);
    let again = route(reader, home) + asks.max(timing.directory_busy) + timing.directory;
    let forward = route(writer, home) + timing.cache + route(writer, home) + timing.directory;
    let passed = layout.passing(writer, reader) + route(reader, home) + timing.hit;
    request + give_up + again + forward + passed
}

/// The part of a round trip that one PU's six routes take: three in each direction.
pub fn routes(layout: &Layout, pu: u32, line: u32) -> Option<u64> {
    let cache = layout.cache_of_pu.get(pu as usize).copied().flatten()?;
    let home = fixed_home(layout, line).filter(|_| !layout.is_uncached)?;
    Some(ROUTES * route(layout, cache, home))
}

/// The node of a line's home, if lines have homes of their own.
fn fixed_home(layout: &Layout, line: u32) -> Option<u16> {
    match &layout.homes {
        Homes::Hashed { .. } => Some(layout.first_home(0, line)),
        Homes::Climbing(climbing) => Some(climbing.first_top + layout.homes.of(line)? as u16),
    }
}

/// The PUs whose caches are nearest to the home of a line.
pub fn nearest_pus(layout: &Layout, line: u32) -> Option<Vec<u32>> {
    let home = fixed_home(layout, line)?;
    let away = |cache: u16| route(layout, cache, home);
    let nearest = (0..layout.caches() as u16).map(away).min()?;
    let pus = layout.cache_of_pu.iter().enumerate();
    let is_nearest = |cache: &Option<u16>| cache.is_some_and(|cache| away(cache) == nearest);
    Some(pus.filter(|(_, cache)| is_nearest(cache)).map(|(os, _)| os as u32).collect())
}
