/// Counts of a memory controller or one of its channels, like those of a PMU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MicCounters {
    /// Lines read.
    pub reads: u64,
    /// Lines written, entirely or partly.
    pub writes: u64,
    /// Lines read before they were written, because the write was smaller than a quadword.
    pub modifies: u64,
    /// Turns between reads and writes.
    pub turns: u64,
    /// Refreshed rows or sets of rows.
    pub refreshes: u64,
    /// Core cycles that lines occupied the pins, over all channels.
    pub busy_cycles: u64,
    /// Commands refused because the queue was full.
    pub retries: u64,
}

impl MicCounters {
    /// The sum of two counts.
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
