//! Changes between two measurements of one machine.

use crate::classes::PairInterval;
use crate::regimes::WIDEST_STABLE;
use seatmap_data::machine::CoreDistance;
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::words::counted;
use std::fmt;

/// Changed distances. `Display` writes one sentence without a full stop.
pub struct DistanceChange {
    /// Changed pairs.
    pub pairs: usize,
    /// Pairs in both measurements.
    pub of: usize,
    /// Pair that changed most, by OS index.
    pub widest: [u32; 2],
    /// Its median before.
    pub before_ns: f64,
    /// Its median now.
    pub now_ns: f64,
}

/// The pairs whose medians differ as much as two levels of one pair and whose 95 % intervals, if
/// known, do not overlap. `None` if none.
pub fn change(before: &CoreDistance, now: &CoreDistance) -> Option<DistanceChange> {
    let both: Vec<Both> =
        now.median_ns.pairs().filter_map(|(i, j, _)| Both::of(before, now, (i, j))).collect();
    let changed: Vec<&Both> = both.iter().filter(|pair| pair.is_large()).collect();
    let widest = changed.iter().max_by_key(|it| Ordered(it.ratio()))?;
    Some(DistanceChange {
        pairs: changed.len(),
        of: both.len(),
        widest: widest.pus,
        before_ns: widest.before.median_ns,
        now_ns: widest.now.median_ns,
    })
}

struct Both {
    pus: [u32; 2],
    before: PairInterval,
    now: PairInterval,
}

impl Both {
    fn of(before: &CoreDistance, now: &CoreDistance, (i, j): (usize, usize)) -> Option<Self> {
        let pus = [now.pus[i], now.pus[j]];
        let before = PairInterval::of(before, before.index_of(pus[0])?, before.index_of(pus[1])?);
        let now = PairInterval::of(now, i, j);
        (before.median_ns > 0.0 && now.median_ns > 0.0).then_some(Both { pus, before, now })
    }

    fn ratio(&self) -> f64 {
        let ratio = self.now.median_ns / self.before.median_ns;
        ratio.max(self.before.median_ns / self.now.median_ns)
    }

    fn is_large(&self) -> bool {
        let Both { before, now, .. } = self;
        self.ratio() > WIDEST_STABLE && (before.high_ns < now.low_ns || now.high_ns < before.low_ns)
    }
}

impl fmt::Display for DistanceChange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b] = self.widest;
        let percent = 100.0 * (WIDEST_STABLE - 1.0);
        let before = self.before_ns;
        let now = self.now_ns;
        match (self.pairs, self.of) {
            (_, 1) => write!(out, "CPUs {a} and {b} changed from {before:.1} to {now:.1} ns"),
            (pairs, of) => write!(
                out,
                "{pairs} of {of} changed by more than {percent:.0} %, most between CPUs {a} and \
                 {b}: from {before:.1} to {now:.1} ns",
                of = counted(of, "pair")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiles_for_tests;
    use seatmap_data::machine::Matrix;

    fn distance(pus: &[u32], ns: impl Fn(u32, u32) -> f64) -> CoreDistance {
        profiles_for_tests::distance(pus.iter().copied(), |i, j| {
            ns(pus[i].min(pus[j]), pus[i].max(pus[j]))
        })
    }

    fn told(before: &CoreDistance, now: &CoreDistance) -> Option<String> {
        change(before, now).map(|change| change.to_string())
    }

    #[test]
    fn most_changed_pair_is_named_with_both_figures() {
        let before = distance(&[0, 1, 2, 3], |_, _| 80.0);
        let now = distance(&[3, 1, 0, 9], |a, b| match (a, b) {
            (0, 1) => 400.0,
            (1, 3) => 120.0,
            _ => 81.0,
        });
        let sentence = "2 of 3 pairs changed by more than 20 %, most between CPUs 1 and 0: from 80.0 to 400.0 ns";
        assert_eq!(told(&before, &now).unwrap(), sentence);
        assert_eq!(
            told(&before, &distance(&[0, 1], |_, _| 40.0)).unwrap(),
            "CPUs 0 and 1 changed from 80.0 to 40.0 ns"
        );
        assert_eq!(told(&before, &distance(&[0, 1], |_, _| 95.0)), None);
        assert_eq!(told(&before, &distance(&[0, 1], |_, _| f64::NAN)), None);
        assert_eq!(told(&before, &distance(&[7, 8], |_, _| 400.0)), None);
    }

    #[test]
    fn overlapping_intervals_are_no_change() {
        let mut before = distance(&[0, 1], |_, _| 80.0);
        let now = distance(&[0, 1], |_, _| 400.0);
        before.ci95_low_ns = Some(Matrix::filled(2, 44.0));
        before.ci95_high_ns = Some(Matrix::filled(2, 424.0));
        assert_eq!(told(&before, &now), None);
        before.ci95_high_ns = Some(Matrix::filled(2, 90.0));
        assert!(told(&before, &now).is_some());
    }
}
