//! The homes of lines: the nodes that keep them coherent.

use crate::engine::mixed;

/// The rule by which a request finds its line's home.
#[derive(Debug, PartialEq)]
pub enum Homes {
    /// A node by the line's number alone, as with tag directories and message buffers.
    Hashed {
        /// Node of each home.
        nodes: Vec<u16>,
        /// Seed of the hash.
        seed: u64,
    },
    /// The first node above the cache with all sharers below it, as with inclusive caches, level by
    /// level.
    Climbing(Climbing),
}

/// Nodes above nodes, and the homes at the top.
#[derive(Debug, PartialEq)]
pub struct Climbing {
    /// Node above each node; for a node just below the tops, the first top.
    pub parent: Vec<u16>,
    /// The caches below each node, from the first to before the second. It has an entry for each
    /// node, tops included.
    pub below: Vec<(u16, u16)>,
    /// The first of the homes at the top, the last nodes; lines are distributed over them by
    /// number.
    pub first_top: u16,
    /// Seed of the hash.
    pub seed: u64,
}

impl Climbing {
    /// Counts homes at the top.
    pub fn tops(&self) -> usize {
        self.parent.len() - self.first_top as usize
    }

    /// The node to which a request for a line climbs from a node; for a node at the top, the node
    /// itself.
    #[inline]
    pub fn up(&self, node: u16, line: u32) -> u16 {
        match (node >= self.first_top, self.parent[node as usize]) {
            (true, _) => node,
            // Below the top a line has one way up; at the top its hash decides.
            (false, up) if up >= self.first_top && self.tops() > 1 => {
                self.first_top + hashed(line, self.seed, self.tops()) as u16
            }
            (false, up) => up,
        }
    }
}

impl Homes {
    /// Counts homes over which lines are distributed by number; 0 if the home depends on the
    /// sharers.
    pub fn count(&self) -> usize {
        match self {
            Homes::Hashed { nodes, .. } => nodes.len(),
            Homes::Climbing(climbing) => {
                // With one top, lines settle where their sharers meet.
                Some(climbing.tops()).filter(|tops| *tops > 1).unwrap_or(0)
            }
        }
    }

    /// The home of a line by number.
    pub fn of(&self, line: u32) -> Option<u32> {
        match self {
            Homes::Hashed { nodes, seed } => Some(hashed(line, *seed, nodes.len()) as u32),
            Homes::Climbing(climbing) => {
                (climbing.tops() > 1).then(|| hashed(line, climbing.seed, climbing.tops()) as u32)
            }
        }
    }
}

/// The home of a line among this many homes: SplitMix64's mix (Steele, Lea & Flood 2014) of the
/// line's number, scaled to the homes (Lemire 2019). The true hashes are unpublished.
pub fn hashed(line: u32, seed: u64, homes: usize) -> usize {
    let mix = mixed(u64::from(line) ^ mixed(seed));
    // The upper half of the product: as even as a remainder, without a division.
    ((u128::from(mix) * homes as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_home_has_its_share() {
        let mut lines = [0; 64];
        (0..64_000).for_each(|line| lines[hashed(line, 1, 64)] += 1);
        assert!(lines.iter().all(|lines| (850..1150).contains(lines)), "{lines:?}");
    }
}
