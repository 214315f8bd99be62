//! The time of a round trip without other traffic, by formula; a test compares it with the
//! simulation.
//!
//! Two tasks write one word in turn (algorithm 1 of Liu et al. 2015). The writer's store makes the
//! home invalidate the other task's copy. The other task looks again, misses, and receives the line
//! through the home. On a ring, a round trip is therefore six routes between each of the two caches
//! and the home.

use crate::coherent::homes::{Climbing, Homes};
use crate::coherent::layout::CoherentLayout;

/// Routes between each of two caches and the home in a round trip, over both directions.
pub const ROUTES: u64 = 6;

/// The time from one PU's store until the other has seen it, and back.
pub fn round_trip(layout: &CoherentLayout, a: u32, b: u32, line: u32) -> Option<u64> {
    let from = layout.cache_of(a)?;
    let to = layout.cache_of(b)?;
    if a == b || layout.is_uncached {
        return None;
    }
    if from == to {
        // Threads of one core: the line stays in its cache; each turn is a look and a hit.
        return Some(2 * (layout.looks[from as usize] + layout.timing.hit));
    }
    let home = home(layout, from, to, line);
    Some(one_way(layout, from, to, home) + one_way(layout, to, from, home))
}

fn route(layout: &CoherentLayout, cache: u16, node: u16) -> u64 {
    layout.fabric.cycles(layout.node_of_cache[cache as usize], node) + layout.extra(cache, node)
}

fn home(layout: &CoherentLayout, a: u16, b: u16, line: u32) -> u16 {
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

fn climbing(layout: &CoherentLayout, from: u16, home: u16) -> u64 {
    let Homes::Climbing(Climbing { parent, first_top, .. }) = &layout.homes else { return 0 };
    let from = layout.node_of_cache[from as usize];
    let lookups = std::iter::successors(Some(from), |node| Some(parent[*node as usize]))
        .skip(1)
        .take_while(|up| *up != home && up < first_top)
        .count();
    lookups as u64 * layout.timing.directory
}

fn one_way(layout: &CoherentLayout, writer: u16, reader: u16, home: u16) -> u64 {
    let timing = &layout.timing;
    let request = timing.miss
        + route(layout, writer, home)
        + climbing(layout, writer, home)
        + timing.directory;
    let give_up = route(layout, reader, home) + timing.cache;
    // The reader sends its acknowledgement and, after its look, its request; the home handles them
    // in turn.
    let asks = layout.looks[reader as usize] + timing.miss + climbing(layout, reader, home);
    let again = route(layout, reader, home) + asks.max(timing.directory_busy) + timing.directory;
    let forward =
        route(layout, writer, home) + timing.cache + route(layout, writer, home) + timing.directory;
    let passed = layout.passing(writer, reader) + route(layout, reader, home) + timing.hit;
    request + give_up + again + forward + passed
}

/// The part of a round trip for one PU's six routes: three in each direction.
pub fn routes(layout: &CoherentLayout, pu: u32, line: u32) -> Option<u64> {
    let cache = layout.cache_of(pu)?;
    let home = fixed_home(layout, line).filter(|_| !layout.is_uncached)?;
    Some(ROUTES * route(layout, cache, home))
}

fn fixed_home(layout: &CoherentLayout, line: u32) -> Option<u16> {
    match &layout.homes {
        Homes::Hashed { .. } => Some(layout.first_home(0, line)),
        Homes::Climbing(climbing) => Some(climbing.first_top + layout.homes.of(line)? as u16),
    }
}

pub fn nearest_pus(layout: &CoherentLayout, line: u32) -> Option<Vec<u32>> {
    let home = fixed_home(layout, line)?;
    let nearest = (0..layout.caches() as u16).map(|cache| route(layout, cache, home)).min()?;
    let pus = layout.cache_of_pu.iter().enumerate();
    Some(
        pus.filter(|(_, cache)| cache.is_some_and(|cache| route(layout, cache, home) == nearest))
            .map(|(os, _)| os as u32)
            .collect(),
    )
}
