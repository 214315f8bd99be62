//! Ordinary machines, such as the twin of a measured one: levels of caches, dies and packages, from
//! the distances of a profile.
//!
//! Cores are grouped by their shared parts, level by level. A request climbs to the first level
//! with all sharers of its line below it, as with inclusive caches: two cores of a group settle a
//! line between them. If a measurement found fixed homes, requests go to the line's home at the
//! top; only the innermost groups can settle lines earlier.
//!
//! A distance has three parts: B between two groups, an offset of each core (by home, if there are
//! several), and the rest of the pair. The nearest pair of each level decides the length of the
//! routes there; for other pairs passing the line on takes longer.

mod build;
mod check;
mod parts;
mod text;
mod tree;
mod written;

pub use parts::DistanceParts;
pub use written::{CoreWritten, Hierarchy, HierarchyDistances, HierarchyHomes, Ties};

/// The figures missing from profiles, each with its reason.
pub const ORDINARY: &str = include_str!("ordinary.toml");

/// The line of a profile's distances: the first candidate of a measurement, a page beyond the gate.
pub const MEASURED_LINE: u32 = 64;

/// The kind of fabric of a coherent model, from its text before it is read.
pub fn kind_of_fabric(text: &str) -> Option<String> {
    let table: toml::Table = toml::from_str(text).ok()?;
    table.get("fabric")?.get("kind")?.as_str().map(str::to_owned)
}
