//! A pair's visit to a line.

use seatmap_data::statistics::{mad, median};
use seatmap_machines::workload::PingPongTimes;

/// For normal batches: 1.4826 to the standard deviation, 1.2533 to the median's error.
const MAD_TO_ERROR: f64 = 1.4826 * 1.2533;

/// A core distance over one line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistanceReading {
    /// Median of the batches, in nanoseconds per round trip.
    pub ns: f64,
    /// Standard error, from the differences between the batches.
    pub error_ns: f64,
}

impl DistanceReading {
    /// The median of batches, in nanoseconds per round trip; `None` without any.
    pub fn of_batches(batches_ns: &[f64]) -> Option<DistanceReading> {
        let ns = median(batches_ns)?;
        Some(DistanceReading {
            ns,
            error_ns: MAD_TO_ERROR * mad(batches_ns)? / (batches_ns.len() as f64).sqrt(),
        })
    }

    /// Uses the clock of the later starter, without its first batch, which fills the caches (Liu et
    /// al. 2015, section III.A).
    pub(super) fn of_traces(
        traces: (&PingPongTimes, &PingPongTimes),
        round_trips: u32,
        ns_per_tick: f64,
    ) -> Option<DistanceReading> {
        let [first, second] =
            [traces.0, traces.1].map(|trace| trace.stamps.first().map(|stamp| stamp.ticks));
        let later = if first >= second { traces.0 } else { traces.1 };
        let timed = later.stamps.get(1..)?.windows(2);
        let batches: Vec<f64> = timed
            .map(|two| two[1].ticks.saturating_sub(two[0].ticks) as f64)
            .map(|ticks| ticks * ns_per_tick / f64::from(round_trips))
            .collect();
        DistanceReading::of_batches(&batches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::port::Stamp;

    fn trace(ticks: &[u64]) -> PingPongTimes {
        PingPongTimes {
            stamps: ticks.iter().map(|ticks| Stamp { ticks: *ticks, pu: 0 }).collect(),
            interruptions: 0,
        }
    }

    #[test]
    fn later_clock_counts_without_its_first_batch() {
        let early = trace(&[0, 900, 1000, 1100]);
        let late = trace(&[500, 905, 1005, 1125, 1225]);
        let read = DistanceReading::of_traces((&early, &late), 10, 0.5).unwrap();
        assert_eq!(read, DistanceReading { ns: 5.0, error_ns: 0.0 });
        assert_eq!(DistanceReading::of_traces((&late, &early), 10, 0.5).unwrap(), read);
    }

    #[test]
    fn differing_batches_are_less_certain() {
        let read =
            DistanceReading::of_traces((&trace(&[0, 0, 10, 22, 36, 52]), &trace(&[])), 1, 1.0)
                .unwrap();
        assert!(read.ns == 13.0 && (read.error_ns - MAD_TO_ERROR).abs() < 1e-9, "{read:?}");
        assert!(DistanceReading::of_traces((&trace(&[1]), &trace(&[0])), 1, 1.0).is_none());
    }
}
