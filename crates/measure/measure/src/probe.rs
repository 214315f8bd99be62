//! Sources of round trips: they send a cache line back and forth between PUs.

/// One visit to one or more disjoint pairs at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The pairs; no PU and no line stands in two of them.
    pub pairs: Vec<PairAt>,
    /// Timed batches wanted of each.
    pub batches: u32,
    /// Round trips in a batch.
    pub round_trips: u32,
}

/// Two PUs and the line between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PairAt {
    /// One PU, by OS index.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// Which candidate line; their homes are unknown until grouped.
    pub line: u32,
}

/// The result of one visit to one pair: nanoseconds a round trip, one value a batch, in time order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VisitBatches {
    /// Batches kept.
    pub round_trip_ns: Vec<f64>,
    /// Batches thrown away, by reason.
    pub discards: Discards,
}

/// Batches thrown away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discards {
    /// Interrupted: far longer than the others of the visit.
    pub gap: u64,
    /// A thread was taken off its PU.
    pub switched: u64,
    /// A thread was seen on another PU.
    pub moved: u64,
}

impl std::ops::AddAssign for Discards {
    fn add_assign(&mut self, more: Discards) {
        self.gap += more.gap;
        self.switched += more.switched;
        self.moved += more.moved;
    }
}

/// A source of round trips: the host, a simulator, a recorded or synthetic machine. All protocols
/// are written over it.
pub trait Probe {
    /// Why a visit failed.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Visits pairs together and returns the batches of each, in the order asked.
    ///
    /// # Errors
    /// The machine's own.
    fn visit(&mut self, visit: &Visit) -> Result<Vec<VisitBatches>, Self::Error>;

    /// Learns of a visit that an earlier run made in its place. Sources that draw noise draw that
    /// of later visits as if they had made this one.
    fn passed_over(&mut self, _pair: PairAt) {}

    /// Whether a hypervisor may run two of the PUs on one CPU of its own. A model has no
    /// hypervisor.
    fn has_hosts(&self) -> bool {
        false
    }

    /// The smallest step of the clock behind the figures, in nanoseconds.
    fn clock_step_ns(&self) -> f64;

    /// The number of candidate lines that can be asked for.
    fn lines(&self) -> u32;

    /// This many candidate lines, spread over all possible homes.
    fn spread(&self, count: u32) -> Vec<u32> {
        (0..count).collect()
    }
}
