//! Counts of a memory controller.

/// Counts of a memory controller, or of one of its channels, as its PMU would report them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MicCounters {
    /// Lines read.
    pub reads: u64,
    /// Lines written, in whole or in part.
    pub writes: u64,
    /// Lines among these that were read first, because less than a quadword was written.
    pub modifies: u64,
    /// Turns between reads and writes.
    pub turns: u64,
    /// Rows, or sets of rows, that were refreshed.
    pub refreshes: u64,
    /// Core cycles for which lines occupied the pins, all channels together.
    pub busy_cycles: u64,
    /// Commands refused because the queue was full.
    pub retries: u64,
}

impl MicCounters {
    /// The counts of both together.
    pub fn with(&self, other: &Self) -> Self {
        MicCounters {
            reads: self.reads + other.reads,
            writes: self.writes + other.writes,
            modifies: self.modifies + other.modifies,
            turns: self.turns + other.turns,
            refreshes: self.refreshes + other.refreshes,
            busy_cycles: self.busy_cycles + other.busy_cycles,
            retries: self.retries + other.retries,
        }
    }
}
