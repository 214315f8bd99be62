//! The capabilities of machines, which verbs need.

use std::fmt;

/// A capability that a verb needs of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Capability {
    /// Core distances.
    Distances,
    /// The dependence of distances on the home of a cache line.
    Homes,
    /// Distances under load.
    Loaded,
    /// It runs programs that share cache lines.
    RunsLines,
    /// It runs programs that use mailboxes, signals and transfers.
    RunsChannels,
}

impl Capability {
    /// All capabilities, in order of listings.
    pub const ALL: [Capability; 5] = [
        Capability::Distances,
        Capability::Homes,
        Capability::Loaded,
        Capability::RunsLines,
        Capability::RunsChannels,
    ];

    /// The name of this capability in `seatmap machines`, and the words for a machine without it.
    fn words(self) -> [&'static str; 2] {
        match self {
            Capability::Distances => ["distances", "has no core distances"],
            Capability::Homes => ["homes", "has no homes of cache lines"],
            Capability::Loaded => ["loaded", "has no distances under load"],
            Capability::RunsLines => ["lines", "cannot run programs that share cache lines"],
            Capability::RunsChannels => ["channels", "cannot run programs"],
        }
    }

    /// The name of this capability in `seatmap machines`.
    pub fn word(self) -> &'static str {
        self.words()[0]
    }
}

impl fmt::Display for Capability {
    /// Names the things that a machine without this capability cannot do.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.words()[1])
    }
}

/// The error of a machine without a needed capability.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{machine} is {kind}: it {lacks}; {remedy}")]
pub struct Lacks {
    /// Machine, as the user named it.
    pub machine: String,
    /// Kind of the machine, with its article.
    pub kind: &'static str,
    /// Missing capability.
    pub lacks: Capability,
    /// Remedy, as a sentence.
    pub remedy: String,
}
