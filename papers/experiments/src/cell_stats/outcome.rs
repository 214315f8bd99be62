//! The outcome of an experiment.

use serde::Serialize;

/// Latency and bandwidth of one experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatsResult {
    /// `-f`: the function's name.
    pub function: &'static str,
    /// A round trip for mailboxes and signals, otherwise one operation: the time until all workers
    /// were done, over the operations of one.
    pub latency_ns: f64,
    /// All workers' bytes over time; null if only a word moves.
    pub bandwidth_gbps: Option<f64>,
    /// Each worker's figures.
    pub per_spe: Vec<PerTask>,
    /// Operations of the run: fewer than requested on a deterministic machine, more if the workers
    /// of shorter runs did not overlap.
    pub iterations: u64,
    /// The spread of batches; null on a deterministic machine.
    pub spread: Option<LatencySpread>,
    /// The smallest share of a worker's batch during which all workers worked, at least 0.9: a
    /// figure with less is refused. Null on a model, where no worker is late by chance.
    pub overlap: Option<f64>,
}

/// The spread of a latency over batches, besides their median.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatencySpread {
    /// Batches.
    pub batches: usize,
    /// Their tenth percentile.
    pub p10_ns: f64,
    /// Their median absolute deviation.
    pub mad_ns: f64,
    /// Lower end of the median's 95 % bootstrap interval.
    pub ci95_low_ns: f64,
    /// Upper end of the same interval.
    pub ci95_high_ns: f64,
}

/// The figures of one worker.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PerTask {
    /// Its PU.
    pub pu: u32,
    /// The latency of one operation.
    pub latency_ns: f64,
    /// Its own bytes' bandwidth.
    pub bandwidth_gbps: Option<f64>,
    /// The ticks that its decrementer counted over all operations.
    pub ticks: u32,
}
