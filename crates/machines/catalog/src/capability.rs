//! What a machine can do.

use std::fmt;

/// Something that a verb needs of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    /// It holds core distances.
    Distances,
    /// It knows how distances depend on the home of a cache line.
    Homes,
    /// It holds distances under load.
    Loaded,
    /// It runs programs that share cache lines.
    RunsLines,
    /// It runs programs that use mailboxes, signals and transfers.
    RunsChannels,
}

impl Capability {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Capability; 5] =
        [Capability::Distances, Capability::Homes, Capability::Loaded, Capability::RunsLines, Capability::RunsChannels];

    /// The word of `seatmap machines` for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Capability::Distances => "distances",
            Capability::Homes => "homes",
            Capability::Loaded => "loaded",
            Capability::RunsLines => "lines",
            Capability::RunsChannels => "channels",
        }
    }
}

impl fmt::Display for Capability {
    /// What a machine without it cannot do.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Capability::Distances => "holds no core distances",
            Capability::Homes => "does not know the homes of cache lines",
            Capability::Loaded => "holds no distances under load",
            Capability::RunsLines => "cannot run programs that share cache lines",
            Capability::RunsChannels => "cannot run programs",
        })
    }
}

/// A machine lacks what was asked of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{machine} is {kind}: it {lacks}; {remedy}")]
pub struct Lacks {
    /// The machine, as the user named it.
    pub machine: String,
    /// What it is, with its article.
    pub kind: &'static str,
    /// What it lacks.
    pub lacks: Capability,
    /// What to do instead.
    pub remedy: String,
}
