//! Whether pairs differ by more than their measurement error.

use seatmap_data::machine::CoreDistance;
use seatmap_data::statistics::median;

/// The distance of a pair with its uncertainty, in round-trip nanoseconds.
#[derive(Clone, Copy)]
pub struct PairInterval {
    /// Median.
    pub median_ns: f64,
    /// Lower end of the 95 % interval; the median without intervals.
    pub low_ns: f64,
    /// Upper end of the interval.
    pub high_ns: f64,
}

impl PairInterval {
    /// The interval of the PUs in these rows.
    pub fn of(distance: &CoreDistance, i: usize, j: usize) -> Self {
        let median_ns = distance.median_ns[(i, j)];
        let [low_ns, high_ns] = [&distance.ci95_low_ns, &distance.ci95_high_ns].map(|ends| {
            let end = ends.as_ref().map(|ends| ends[(i, j)]);
            end.filter(|end| end.is_finite()).unwrap_or(median_ns)
        });
        PairInterval { median_ns, low_ns, high_ns }
    }
}

/// Whether the median upper end of their intervals is below the others' median lower end. False if
/// either list is empty.
pub fn are_apart(near: &[PairInterval], far: &[PairInterval]) -> bool {
    let high_ns = median(near.iter().map(|pair| pair.high_ns));
    let low_ns = median(far.iter().map(|pair| pair.low_ns));
    high_ns.zip(low_ns).is_some_and(|(high_ns, low_ns)| high_ns < low_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_differ_if_their_intervals_do() {
        let pair = |median_ns: f64, off: f64| PairInterval {
            median_ns,
            low_ns: median_ns - off,
            high_ns: median_ns + off,
        };
        assert!(are_apart(&[pair(80.0, 5.0)], &[pair(100.0, 5.0)]));
        assert!(!are_apart(&[pair(80.0, 12.0)], &[pair(100.0, 12.0)]), "they overlap");
        assert!(!are_apart(&[pair(80.0, 0.0)], &[pair(80.0, 0.0)]), "a pair and itself");
        assert!(!are_apart(&[pair(80.0, 0.0)], &[]) && !are_apart(&[], &[]));
    }
}
