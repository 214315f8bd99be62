//! The lower limit of a round trip on any machine.

use crate::error::MeasureError;
use crate::probe::{Probe, VisitBatches};
use seatmap_data::statistics::median;

/// Two first-level cache hits, one each way: 4 cycles each (Intel and AMD optimisation manuals) at
/// 6.2 GHz, the highest clock sold. A round trip between cores cannot be faster.
pub const FLOOR_NS: f64 = 1.3;

/// A figure that no machine can deliver, in round-trip nanoseconds: a batch further below
/// [`FLOOR_NS`] than a step of the clock, or a median below it.
pub fn impossible_ns(round_trip_ns: &[f64], resolution_ns: f64) -> Option<f64> {
    let fastest = round_trip_ns.iter().copied().min_by(f64::total_cmp);
    let fastest = fastest.filter(|ns| *ns + resolution_ns < FLOOR_NS);
    fastest.or_else(|| median(round_trip_ns).filter(|ns| *ns < FLOOR_NS))
}

/// Returns an error if the probe offers fewer lines.
pub fn refuse_too_few_lines<P: Probe>(
    probe: &P,
    wanted: u32,
) -> Result<(), MeasureError<P::Error>> {
    let offered = probe.lines();
    if wanted > offered { Err(MeasureError::TooFewLines { wanted, offered }) } else { Ok(()) }
}

/// Returns an error for such a visit.
pub fn refuse_impossible<E: std::error::Error>(
    [a, b]: [u32; 2],
    batches: &VisitBatches,
    resolution_ns: f64,
) -> Result<(), MeasureError<E>> {
    match impossible_ns(&batches.round_trip_ns, resolution_ns) {
        Some(round_trip_ns) => Err(MeasureError::BelowFloor { a, b, round_trip_ns }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_fast_batch_or_median_is_impossible() {
        assert_eq!(impossible_ns(&[0.5; 64], 0.01), Some(0.5));
        assert_eq!(impossible_ns(&[80.0, 0.5, 80.0], 0.01), Some(0.5));
        assert_eq!(impossible_ns(&[80.0, 1.3, 80.0], 0.01), None);
        assert_eq!(impossible_ns(&[10.0, 0.0, 10.0], 10.0), None);
        assert_eq!(impossible_ns(&[0.0, 0.0, 10.0], 10.0), Some(0.0));
        assert_eq!(impossible_ns(&[], 0.01), None);
    }
}
