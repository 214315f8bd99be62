//! Experiments with many workers on models, which simulate each word of a copy.

use super::experiment::{check, once};
use super::{Rooms, StatsError, StatsOptions, StatsResult};
use seatmap_cell_sim::channels::Bed;

/// The fewest and the most operations of each of many workers, in the shorter of two runs.
const ENOUGH: [u64; 2] = [2, 8];
/// Bytes that each worker moves in that run, within these limits.
const ENOUGH_BYTES: u64 = 16384;
/// The share of a run below which a start is negligible: two runs of competing workers differ as
/// much by chance.
const LITTLE: f64 = 0.25;

/// Runs an experiment with many workers on a deterministic machine, a few operations each; the
/// figure is a mean over all of them.
///
/// Workers start one after the other with cold caches, so a run of few operations on many workers
/// may be mostly start. A run twice as long has the same start, which cancels in their difference.
/// If the difference is small, competing workers make the ends of runs random, and the mean of the
/// longer run is better.
///
/// # Errors
/// As [`measure`].
pub fn measure_many<B: Bed>(
    bed: &mut B,
    rooms: &Rooms,
    options: &StatsOptions,
) -> Result<StatsResult, StatsError<B::Error>> {
    check(rooms, options)?;
    let operations = operations(options);
    // No warm-up: the longer run shows the start's cost.
    let shorter = once(bed, rooms, options, 0, operations)?;
    let longer = once(bed, rooms, options, 0, 2 * operations)?;
    let beginning = beginning(shorter.latency_ns, longer.latency_ns);
    if beginning < LITTLE {
        return Ok(longer);
    }
    let bandwidth_gbps = longer.bandwidth_gbps.map(|gbps| gbps / (1.0 - beginning));
    Ok(StatsResult { latency_ns: longer.latency_ns * (1.0 - beginning), bandwidth_gbps, ..longer })
}

fn beginning(shorter_ns: f64, longer_ns: f64) -> f64 {
    // Per operation: (b + n t) / n over (b + 2 n t) / 2 n, less 1, is b / (b + 2 n t).
    shorter_ns / longer_ns - 1.0
}

/// Each worker's operations: fewer if each moves many bytes.
fn operations(options: &StatsOptions) -> u64 {
    let elements = if options.function.has_list() { options.elements as u64 } else { 1 };
    let [fewest, most] = ENOUGH;
    let enough = ENOUGH_BYTES / (u64::from(options.size_bytes) * elements).max(1);
    enough.clamp(fewest, most).min(options.iterations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell_stats::CellStatsPrimitive;

    #[test]
    fn startup_cost_cancels_out() {
        // A start of 900 ns, and then 10 ns per operation.
        let [shorter, longer] = [8.0, 16.0].map(|operations| 900.0 / operations + 10.0);
        assert!((longer * (1.0 - beginning(shorter, longer)) - 10.0).abs() < 1e-9);
        assert!(beginning(10.0, 10.0) < LITTLE);
    }

    #[test]
    fn large_transfers_use_fewer_operations() {
        let of = |size_bytes, elements, function| {
            operations(&StatsOptions { size_bytes, elements, ..StatsOptions::new(function) })
        };
        let copies = [8, 4096, 16384].map(|size| of(size, 1, CellStatsPrimitive::DmaGet));
        assert_eq!((copies, of(16, 1024, CellStatsPrimitive::DmaListGet)), ([8, 4, 2], 2));
        assert_eq!(
            operations(&StatsOptions {
                iterations: 1,
                ..StatsOptions::new(CellStatsPrimitive::FetchAdd)
            }),
            1
        );
    }
}
