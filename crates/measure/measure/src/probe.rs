//! Sources of round trips.

/// One visit to disjoint pairs, simultaneously.
pub struct Visit {
    /// Pairs; no two share a PU or a line.
    pub pairs: Vec<PairAt>,
    /// Timed batches per pair.
    pub batches: u32,
    /// Round trips per batch.
    pub round_trips: u32,
}

/// Two PUs and the line between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PairAt {
    /// One PU, by OS index.
    pub a: u32,
    /// The other PU.
    pub b: u32,
    /// Candidate line; its home is unknown before grouping.
    pub line: u32,
}

/// The batches of a visit: nanoseconds per round trip, in time order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VisitBatches {
    /// Kept batches.
    pub round_trip_ns: Vec<f64>,
    /// Discarded batches, by reason.
    pub discards: Discards,
}

/// Numbers of discarded batches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Discards {
    /// Interrupted: far longer than others of the visit.
    pub gap: u64,
    /// A thread lost its PU.
    pub switched: u64,
    /// A thread was on another PU.
    pub moved: u64,
}

impl std::ops::AddAssign for Discards {
    fn add_assign(&mut self, more: Discards) {
        self.gap += more.gap;
        self.switched += more.switched;
        self.moved += more.moved;
    }
}

/// A source of round trips, used by all protocols.
pub trait Probe {
    /// Why a visit failed.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Visits pairs together and returns their batches in the same order.
    ///
    /// # Errors
    /// The machine's own.
    fn visit(&mut self, visit: &Visit) -> Result<Vec<VisitBatches>, Self::Error>;

    /// Skips a visit that an earlier run made. Later visits draw their noise as if it had been
    /// made.
    fn passed_over(&mut self, _pair: PairAt) {}

    /// Whether a hypervisor may run two of the PUs on one CPU.
    fn has_hosts(&self) -> bool {
        false
    }

    /// The smallest step of the clock, in nanoseconds.
    fn clock_step_ns(&self) -> f64;

    /// Counts available candidate lines.
    fn lines(&self) -> u32;

    /// This many candidate lines, spread over all homes.
    fn spread(&self, count: u32) -> Vec<u32> {
        (0..count).collect()
    }
}
