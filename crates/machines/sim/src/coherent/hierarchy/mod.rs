//! Ordinary machines: levels of caches, dies and packages, from the distances of a profile. A twin of a machine is one.
//!
//! Cores hang on what they share, level by level. A request climbs to the first level below which all caches are that
//! have its line, as under inclusive caches: so two cores of a group settle a line between them. Where lines were
//! seen to have homes of their own, requests go to the line's home at the top instead; at most the innermost groups
//! settle lines before.
//!
//! A distance has three parts: B between two groups, an offset of each core (by home, where there are several), and
//! the rest of the pair. The nearest pair of each level decides how long the routes there are; the other pairs of
//! that level take longer where the line is passed on.
//!
//! | module | contents |
//! |---|---|
//! | `written` | the file's keys |
//! | `check` | the reasons for which a file cannot be run |
//! | `parts` | a profile taken apart |
//! | `text` | the file as text that people can edit |
//! | `tree` | cores in groups, groups in groups, and the lengths of routes |
//! | `build` | the layout that runs |

mod build;
mod check;
mod parts;
mod text;
mod tree;
mod written;

pub use parts::Parts;
pub use written::{CoreWritten, Distances, Hierarchy, HierarchyHomes, Ties};

/// The figures that profiles do not tell, each with its reason.
pub const ORDINARY: &str = include_str!("ordinary.toml");

/// The line whose distances a profile holds: the first candidate of a measurement, a page beyond the gate.
pub const MEASURED_LINE: u32 = 64;

/// The kind of fabric of a coherent model, as far as that can be seen before it is read.
#[must_use]
pub fn kind_of_fabric(text: &str) -> Option<String> {
    let table: toml::Table = toml::from_str(text).ok()?;
    table.get("fabric")?.get("kind")?.as_str().map(str::to_owned)
}
