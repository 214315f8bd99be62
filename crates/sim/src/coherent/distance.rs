//! What a round trip takes where nothing else happens: a formula, held against the simulation by a test.
//!
//! Two tasks write one word in turn (algorithm 1 of Liu et al. 2015). Who writes holds the line, shared with the other, so
//! its store makes the home tell the other to forget it; the other looks again, misses, and is given the line by way of
//! the home. On a ring that makes six ways of each of the two to the home a round trip.

use crate::coherent::homes::Homes;
use crate::coherent::layout::Layout;

/// From one PU's store to the other's knowing of it, and back.
pub fn round_trip(layout: &Layout, a: u32, b: u32, line: u32) -> Option<u64> {
    let cache = |pu: u32| layout.cache_of_pu.get(pu as usize).copied().flatten();
    let (from, to) = (cache(a)?, cache(b)?);
    if a == b || layout.is_uncached {
        return None;
    }
    if from == to {
        return Some(2 * (layout.timing.look + layout.timing.hit));
    }
    let [from, to] = [from, to].map(|cache| layout.node_of_cache[cache as usize]);
    let home = home(layout, from, to, line);
    Some(one_way(layout, from, to, home) + one_way(layout, to, from, home))
}

/// Where requests of both are served.
fn home(layout: &Layout, a: u16, b: u16, line: u32) -> u16 {
    match &layout.homes {
        Homes::Hashed { .. } => layout.first_home(a, line),
        Homes::Climbing { parent, .. } => {
            let (mut a, mut b) = (a, b);
            // A parent's number is the larger.
            while a != b {
                if a < b { a = parent[a as usize] } else { b = parent[b as usize] }
            }
            a
        }
    }
}

/// What directories below the home take of a request's time.
fn climbing(layout: &Layout, from: u16, home: u16) -> u64 {
    let Homes::Climbing { parent, .. } = &layout.homes else { return 0 };
    let above = |node: &u16| Some(parent[*node as usize]).filter(|up| *up != home);
    let lookups = std::iter::successors(above(&from), |node| above(node)).count();
    lookups as u64 * layout.timing.directory
}

fn one_way(layout: &Layout, writer: u16, reader: u16, home: u16) -> u64 {
    let (fabric, timing) = (&layout.fabric, &layout.timing);
    let way = |from: u16, to: u16| fabric.cycles(from, to);
    let request = timing.miss + way(writer, home) + climbing(layout, writer, home) + timing.directory;
    let forget = way(home, reader) + timing.cache;
    // The reader's acknowledgement and, once it has looked, its request: the home takes one after the other.
    let asks = timing.look + timing.miss + climbing(layout, reader, home);
    let again = way(reader, home) + asks.max(timing.directory_busy) + timing.directory;
    let fetch = way(home, writer) + timing.cache + way(writer, home) + timing.directory;
    let passed = layout.passing[home as usize] + way(home, reader) + timing.hit;
    request + forget + again + fetch + passed
}

/// Of a round trip, the part of one PU's six ways: three each direction, whoever writes.
pub fn ways(layout: &Layout, pu: u32, line: u32) -> Option<u64> {
    let cache = layout.cache_of_pu.get(pu as usize).copied().flatten()?;
    let is_fixed = matches!(layout.homes, Homes::Hashed { .. }) && !layout.is_uncached;
    let node = layout.node_of_cache[cache as usize];
    let home = is_fixed.then(|| layout.first_home(node, line))?;
    Some(3 * (layout.fabric.cycles(node, home) + layout.fabric.cycles(home, node)))
}

/// The PUs whose caches are nearest to the home of a line.
pub fn nearest_pus(layout: &Layout, line: u32) -> Option<Vec<u32>> {
    let Homes::Hashed { .. } = layout.homes else { return None };
    let home = layout.first_home(0, line);
    let away = |cache: u16| layout.fabric.cycles(layout.node_of_cache[cache as usize], home);
    let nearest = (0..layout.caches() as u16).map(away).min()?;
    let pus = layout.cache_of_pu.iter().enumerate();
    let is_nearest = |cache: &Option<u16>| cache.is_some_and(|cache| away(cache) == nearest);
    Some(pus.filter(|(_, cache)| is_nearest(cache)).map(|(os, _)| os as u32).collect())
}
