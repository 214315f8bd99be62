//! Counts in logarithmic bins.

use serde::Serialize;

/// Each octave has equally many equal bins. A bin's relative width is at most 2^-sub_bits. Like
/// HdrHistogram (Tene), but over all of `u64` and without later allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    sub_bits: u32,
    counts: Vec<u64>,
    /// Values.
    pub count: u64,
    min: u64,
    /// Largest value, exact; 0 without values.
    pub max: u64,
}

/// One bin: values from `from_ns` to below `to_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bin {
    /// The smallest value of the bin.
    pub from_ns: u64,
    /// The smallest value above the bin.
    pub to_ns: u64,
    /// The number of values.
    pub count: u64,
}

impl Histogram {
    /// An empty histogram with 2^`sub_bits` bins per octave; at most 2^16.
    pub fn new(sub_bits: u32) -> Self {
        let sub_bits = sub_bits.min(16);
        let mut counts = vec![1; index(sub_bits, u64::MAX) + 1];
        // Written memory is mapped; zeroed memory may not be.
        counts.fill(0);
        Histogram { sub_bits, counts, count: 0, min: u64::MAX, max: 0 }
    }

    /// Counts a value.
    pub fn record(&mut self, value: u64) {
        self.counts[index(self.sub_bits, value)] += 1;
        self.count += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// The smallest value, exact; 0 without values.
    pub fn min(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min }
    }

    /// The quantile by nearest rank: the upper end of its bin, at most the largest value. 0 without
    /// values.
    pub fn quantile(&self, share: f64) -> u64 {
        let rank = ((share * self.count as f64).ceil() as u64).max(1);
        let mut below = 0;
        let at = self.counts.iter().position(|count| {
            below += count;
            below >= rank
        });
        at.map_or(self.max, |at| (self.end(at) - 1).min(self.max))
    }

    /// The nonempty bins, ascending.
    pub fn bins(&self) -> Vec<Bin> {
        self.counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(at, count)| Bin {
                from_ns: start(self.sub_bits, at),
                to_ns: self.end(at),
                count: *count,
            })
            .collect()
    }

    fn end(&self, at: usize) -> u64 {
        if at + 1 < self.counts.len() { start(self.sub_bits, at + 1) } else { u64::MAX }
    }
}

fn index(sub_bits: u32, value: u64) -> usize {
    let subs = 1u64 << sub_bits;
    if value < subs {
        return value as usize;
    }
    let octave = value.ilog2() - sub_bits;
    ((u64::from(octave) << sub_bits) + (value >> octave)) as usize
}

fn start(sub_bits: u32, at: usize) -> u64 {
    let at = at as u64;
    let subs = 1u64 << sub_bits;
    match at >> sub_bits {
        0 => at,
        octave => (subs + (at & (subs - 1))) << (octave - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values() -> impl Strategy<Value = Vec<u64>> {
        proptest::collection::vec(
            (0u32..64, any::<u64>()).prop_map(|(shift, value)| value >> shift),
            1..200,
        )
    }

    proptest! {
        #[test]
        fn every_value_is_in_exactly_one_bin(values in values(), sub_bits in 0u32..12) {
            let mut histogram = Histogram::new(sub_bits);
            values.iter().for_each(|value| histogram.record(*value));
            let bins = histogram.bins();
            prop_assert!(bins.windows(2).all(|pair| pair[0].to_ns <= pair[1].from_ns));
            for bin in &bins {
                let inside = |value: &&u64| **value >= bin.from_ns && (**value < bin.to_ns || bin.to_ns == u64::MAX);
                prop_assert_eq!(values.iter().filter(inside).count() as u64, bin.count);
                prop_assert!((bin.to_ns - bin.from_ns) as f64 <= 1.0 + bin.from_ns as f64 / f64::from(1 << sub_bits));
            }
            prop_assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), values.len() as u64);
        }

        #[test]
        fn quantiles_match_sorted_values_within_a_bin(mut values in values(), share in 0.0f64..=1.0) {
            let mut histogram = Histogram::new(10);
            values.iter().for_each(|value| histogram.record(*value));
            values.sort_unstable();
            let exact = values[((share * values.len() as f64).ceil() as usize).max(1) - 1];
            let found = histogram.quantile(share);
            prop_assert!(found >= exact && (found - exact) as f64 <= exact as f64 / 1024.0, "{} for {}", found, exact);
            prop_assert_eq!((histogram.min(), histogram.max), (values[0], values[values.len() - 1]));
        }
    }

    #[test]
    fn empty_histogram_has_no_values() {
        let empty = Histogram::new(2);
        assert_eq!((empty.count, empty.min(), empty.max, empty.quantile(0.5)), (0, 0, 0, 0));
        assert!(empty.bins().is_empty());
    }

    #[test]
    fn two_bit_bins_quarter_their_octave() {
        let mut histogram = Histogram::new(2);
        [3, 4, 9, 100, u64::MAX].into_iter().for_each(|value| histogram.record(value));
        let ends: Vec<_> = histogram.bins().iter().map(|bin| (bin.from_ns, bin.to_ns)).collect();
        assert_eq!(ends, [(3, 4), (4, 5), (8, 10), (96, 112), (7 << 61, u64::MAX)]);
    }
}
