//! Ordinary machines: levels of caches, dies and packages, from the distances of a profile. A twin of a machine is one.
//!
//! Cores hang on what they share, level by level. A line's requests climb to the first level below which all are that hold
//! it, as under inclusive caches, so that two cores of a group settle a line between them; or, where lines were seen to have
//! homes of their own, to the line's home at the top, at most the innermost groups settling theirs before. Three parts make a distance: B between two groups, an offset of each
//! core (by home, where there are several), and what these leave of a pair. The nearest pair of each level decides how long
//! the ways there are; what others have beyond that is added where the line is passed on.
//!
//! | module | does |
//! |---|---|
//! | `written` | the file, as it is read and as it is written |
//! | `check` | what of it cannot be run |
//! | `parts` | a profile taken apart |
//! | `text` | a file that people can edit |
//! | `tree` | cores in groups, groups in groups, and how long ways are |
//! | `build` | the layout that runs |

mod build;
mod check;
mod parts;
mod text;
mod tree;
mod written;

pub use parts::Parts;
pub use written::{CoreWritten, Distances, Levels, LevelsHomes, Ties};

/// What profiles do not tell, each with its reason.
pub const ORDINARY: &str = include_str!("ordinary.toml");

/// The line whose distances a profile holds: the first candidate of a measurement, a page beyond the gate.
pub const MEASURED_LINE: u32 = 64;

/// The kind of fabric of a coherent model, as far as that can be seen before it is read.
#[must_use]
pub fn kind_of_fabric(text: &str) -> Option<String> {
    let table: toml::Table = toml::from_str(text).ok()?;
    table.get("fabric")?.get("kind")?.as_str().map(str::to_owned)
}
