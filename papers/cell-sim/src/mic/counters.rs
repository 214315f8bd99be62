//! Counts of a memory controller.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MicCounters {
    pub reads: u64,
    pub writes: u64,
    /// Lines read before they were written, because the write was smaller than a quadword.
    pub modifies: u64,
    pub turns: u64,
    pub refreshes: u64,
    pub busy_cycles: u64,
    pub retries: u64,
}

impl MicCounters {
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
