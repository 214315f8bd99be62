//! Order statistics of all pairs of values, without making the pairs.
//!
//! A hundred thousand values have five thousand million pairs. The figure of a pair is monotonic in
//! both values, so one walk along both lists counts the pairs up to a limit. The nth pair is found
//! by bisecting the limit over the bits of a floating-point number, and each walk narrows the
//! search to the pairs next to its limit: about twelve walks for 2,000 pairs, at most 64, and the
//! same result to the last bit as from a sorted list. (Johnson and Mizoguchi 1978 select without
//! bisection, which is not faster for these lists.)

/// All pairs of two ascending lists, each with its figure.
pub struct ValuePairs<'a> {
    kind: Kind,
    first: &'a [f64],
    second: &'a [f64],
}

#[derive(Clone, Copy)]
enum Kind {
    /// The mean of two values of one list, each pair once, including each value with itself (Walsh
    /// averages).
    Mean,
    Difference,
}

impl<'a> ValuePairs<'a> {
    /// The means of all pairs of these values, including each with itself. The values are finite
    /// and ascend.
    pub fn means(values: &'a [f64]) -> Self {
        ValuePairs { kind: Kind::Mean, first: values, second: values }
    }

    /// The differences of each value of the second list from each of the first. Both lists are
    /// finite and ascend.
    pub fn differences(first: &'a [f64], second: &'a [f64]) -> Self {
        ValuePairs { kind: Kind::Difference, first, second }
    }

    pub fn count(&self) -> usize {
        match self.kind {
            Kind::Mean => self.first.len() * (self.first.len() + 1) / 2,
            Kind::Difference => self.first.len() * self.second.len(),
        }
    }

    /// The median; `None` without pairs.
    pub fn median(&self) -> Option<f64> {
        let last = self.count().checked_sub(1)?;
        let below = self.nth(last / 2)?;
        let is_odd = last.is_multiple_of(2);
        let above = if is_odd { below } else { self.nth(last / 2 + 1)? };
        let share = if is_odd { 0.0 } else { 0.5 };
        Some(below + (above - below) * share)
    }

    /// The pair with this many pairs before it in ascending order.
    pub fn nth(&self, before: usize) -> Option<f64> {
        if before >= self.count() {
            return None;
        }
        let mut low = key(self.least()?);
        let mut high = key(self.greatest()?);
        while low < high {
            let middle = low + (high - low) / 2;
            let split = self.split(value(middle));
            if split.fitting > before {
                high = middle.min(key(split.below));
            } else {
                low = (middle + 1).max(key(split.above));
            }
        }
        // Bisection finds -0.0 for 0.0, because they are equal as limits.
        Some(value(low) + 0.0)
    }

    fn figure(&self, first: f64, second: f64) -> f64 {
        #[cfg(test)]
        tests::FIGURES.set(tests::FIGURES.get() + 1);
        match self.kind {
            Kind::Mean => 0.5 * (first + second),
            Kind::Difference => second - first,
        }
    }

    fn least(&self) -> Option<f64> {
        match self.kind {
            Kind::Mean => self.first.first().copied(),
            Kind::Difference => Some(self.figure(*self.first.last()?, *self.second.first()?)),
        }
    }

    fn greatest(&self) -> Option<f64> {
        match self.kind {
            Kind::Mean => self.first.last().copied(),
            Kind::Difference => Some(self.figure(*self.first.first()?, *self.second.last()?)),
        }
    }

    fn split(&self, limit: f64) -> Split {
        match self.kind {
            Kind::Mean => self.split_means(limit),
            Kind::Difference => self.split_differences(limit),
        }
    }

    /// The larger the first value, the fewer partners fit. Partners before the value were counted
    /// with the earlier one.
    fn split_means(&self, limit: f64) -> Split {
        let mut split = Split::default();
        let mut fitting = self.second.len();
        for (at, first) in self.first.iter().enumerate() {
            while fitting > at && self.figure(*first, self.second[fitting - 1]) > limit {
                fitting -= 1;
            }
            self.add_row(&mut split, *first, [at, fitting.max(at)]);
            if fitting <= at {
                break;
            }
        }
        split
    }

    fn split_differences(&self, limit: f64) -> Split {
        let mut split = Split::default();
        let mut fitting = 0;
        for first in self.first {
            while fitting < self.second.len() && self.figure(*first, self.second[fitting]) <= limit
            {
                fitting += 1;
            }
            self.add_row(&mut split, *first, [0, fitting]);
        }
        split
    }

    /// Counts the partners of one first value, from `start` up to the first that does not fit.
    fn add_row(&self, split: &mut Split, first: f64, [start, end]: [usize; 2]) {
        split.fitting += end - start;
        if end > start {
            split.below = split.below.max(self.figure(first, self.second[end - 1]));
        }
        if let Some(second) = self.second.get(end) {
            split.above = split.above.min(self.figure(first, *second));
        }
    }
}

/// The pairs on both sides of a limit.
struct Split {
    /// Pairs up to the limit.
    fitting: usize,
    /// The greatest figure up to the limit.
    below: f64,
    /// The least figure above it.
    above: f64,
}

impl Default for Split {
    fn default() -> Self {
        Split { fitting: 0, below: f64::NEG_INFINITY, above: f64::INFINITY }
    }
}

/// An integer with the order of the value among finite values (IEEE 754's total order).
fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

fn value(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{quantile_sorted, sorted};
    use proptest::prelude::*;

    thread_local! {
        pub static FIGURES: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    }

    /// The work is counted, not timed: it must grow with the number of values, not with the number
    /// of pairs, which is 16 times as large here.
    #[test]
    fn work_grows_linearly_with_values() {
        let work = |count: u32| {
            let values: Vec<f64> =
                (0..count).map(|at| f64::from(at * 7919 % 10_007).ln_1p()).collect();
            let values = sorted(&values);
            let before = FIGURES.get();
            assert!(
                ValuePairs::means(&values).median().is_some()
                    && ValuePairs::differences(&values, &values).nth(9).is_some()
            );
            FIGURES.get() - before
        };
        let few = work(1000);
        let many = work(4000);
        assert!(many < 5 * few && few < 200_000, "{few} for 1,000 values, {many} for 4,000");
    }

    fn all_means(values: &[f64]) -> Vec<f64> {
        let from = |at: usize| values[at..].iter().map(move |other| 0.5 * (values[at] + other));
        sorted((0..values.len()).flat_map(from))
    }

    #[test]
    fn empty_input_has_no_pairs() {
        assert_eq!((ValuePairs::means(&[]).median(), ValuePairs::means(&[]).nth(0)), (None, None));
        assert_eq!(ValuePairs::differences(&[], &[1.0]).median(), None);
        assert_eq!(ValuePairs::means(&[3.0]).nth(1), None);
    }

    #[test]
    fn zero_has_no_sign() {
        let means = ValuePairs::means(&[-1.0, 0.0, 1.0]);
        assert_eq!(means.nth(2).map(f64::to_bits), Some(0));
        let differences = ValuePairs::differences(&[1.0, 2.0], &[1.0, 2.0]);
        assert_eq!(differences.nth(1).map(f64::to_bits), Some(0));
    }

    #[test]
    fn large_inputs_are_fast() {
        let values: Vec<f64> = (0..100_001).map(f64::from).collect();
        assert_eq!(ValuePairs::means(&values).median(), Some(50_000.0));
        assert_eq!(ValuePairs::differences(&values, &values).median(), Some(0.0));
    }

    proptest! {
        #[test]
        fn selected_pairs_match_a_sorted_list(
            values in prop::collection::vec(prop_oneof![-1e3f64..1e3, Just(0.0), Just(1.5)], 1..40),
            others in prop::collection::vec(-1e3f64..1e3, 1..30),
        ) {
            let values = sorted(&values);
            let others = sorted(&others);
            let means = ValuePairs::means(&values);
            let listed = all_means(&values);
            prop_assert_eq!(means.count(), listed.len());
            for (at, wanted) in listed.iter().enumerate() {
                prop_assert_eq!(means.nth(at), Some(*wanted));
            }
            prop_assert_eq!(means.median(), quantile_sorted(&listed, 0.5));
            let differences = ValuePairs::differences(&values, &others);
            let listed = values.iter().flat_map(|low| others.iter().map(move |high| high - low)).collect::<Vec<_>>();
            let listed = sorted(&listed);
            for (at, wanted) in listed.iter().enumerate() {
                prop_assert_eq!(differences.nth(at), Some(*wanted));
            }
            prop_assert_eq!(differences.median(), quantile_sorted(&listed, 0.5));
        }
    }
}
