//! Memory bandwidth by number of threads, and the number that carries nearly all of it.

use crate::machine::Topology;
use crate::statistics::Ordered;
use serde::{Deserialize, Serialize};

/// The share of the best rate that a knee carries.
pub const KNEE_SHARE: f64 = 0.95;

/// The largest rate: sums of thousands of them stay finite.
const LARGEST_GBPS: f64 = 1e12;

/// Rates of threads that stream through memory, by part of the machine.
///
/// Rates are in 10^9 bytes per second, and count the bytes that the loop itself reads and writes,
/// as STREAM does (McCalpin 1995). Many processors also read a line before they overwrite it; only
/// hardware counters show whether they do, so these reads do not count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bandwidth {
    /// Visits to each number of threads; each round visits all in a new random order.
    pub rounds: u32,
    /// The duration of a batch.
    pub batch_ns: f64,
    /// The size of one of the three arrays, relative to the last-level caches of its threads. From
    /// 4 on, caches keep nothing from one sweep to the next (STREAM's rule).
    pub array_over_cache: f64,
    /// The measured parts of the machine, L3 caches first.
    pub groups: Vec<BandwidthGroup>,
}

/// The rates in one part of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BandwidthGroup {
    /// The levels of which this is a part: `l3`, `numa`, `package`; `machine` if none is known.
    pub levels: Vec<String>,
    /// The CPUs in the order in which threads were added: in turn in each NUMA node and L3 cache,
    /// one per core, then on the cores' other hardware threads.
    pub pus: Vec<u32>,
    /// The sum of three arrays, by ascending number of threads.
    pub read: Vec<BandwidthPoint>,
    /// One value written to three arrays.
    pub write: Vec<BandwidthPoint>,
    /// a = b + s c.
    pub triad: Vec<BandwidthPoint>,
}

/// The rate of one number of threads together, in 10^9 bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BandwidthPoint {
    /// The number of threads.
    pub threads: u32,
    /// The median of the batches: the figure to quote.
    pub median_gbps: f64,
    /// The tenth percentile of the batches.
    pub p10_gbps: f64,
    /// The median absolute deviation from the median, unscaled.
    pub mad_gbps: f64,
    /// Lower end of the 95 % bootstrap interval of the median.
    pub ci95_low_gbps: f64,
    /// Upper end of that interval.
    pub ci95_high_gbps: f64,
    /// The number of batches.
    pub batches: u64,
    /// Batches that do not count, because a thread was interrupted or moved.
    pub discarded: u64,
}

/// The loop of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StreamKernel {
    /// Sums three arrays.
    Read,
    /// Writes one value to three arrays.
    Write,
    /// a = b + s c.
    Triad,
}

/// The fewest threads that carry 95 % of the best median.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// By the medians.
    pub threads: u32,
    /// The fewest whose 95 % interval reaches that rate.
    pub low: u32,
    /// The fewest whose 95 % interval does not fall below it.
    pub high: u32,
}

impl StreamKernel {
    /// All loops.
    pub const ALL: [StreamKernel; 3] =
        [StreamKernel::Read, StreamKernel::Write, StreamKernel::Triad];

    /// Its name.
    pub fn word(self) -> &'static str {
        ["read", "write", "triad"][self as usize]
    }
}

impl BandwidthGroup {
    /// The points of a loop, by ascending number of threads.
    pub fn curve(&self, kernel: StreamKernel) -> &[BandwidthPoint] {
        [&self.read, &self.write, &self.triad][kernel as usize]
    }

    /// The point with the highest median.
    pub fn best(&self, kernel: StreamKernel) -> Option<&BandwidthPoint> {
        self.curve(kernel).iter().max_by_key(|it| Ordered(it.median_gbps))
    }

    /// The knee of a loop's curve; `None` if the curve may still rise at the last point.
    pub fn knee(&self, kernel: StreamKernel) -> Option<Knee> {
        let curve = self.curve(kernel);
        let enough_gbps = KNEE_SHARE * self.best(kernel)?.median_gbps;
        let knee = Knee {
            threads: fewest(curve, enough_gbps, |point| point.median_gbps)?,
            low: fewest(curve, enough_gbps, |point| point.ci95_high_gbps)?,
            high: fewest(curve, enough_gbps, |point| point.ci95_low_gbps)?,
        };
        curve.last().is_some_and(|last| knee.high < last.threads).then_some(knee)
    }

    /// The threads that carry 95 % of the best rate of every loop; `None` if the rate of one may
    /// still rise.
    pub fn useful_threads(&self) -> Option<u32> {
        let knees: Option<Vec<u32>> =
            StreamKernel::ALL.iter().map(|kernel| Some(self.knee(*kernel)?.threads)).collect();
        knees?.into_iter().max()
    }

    fn problem(&self, topology: &Topology) -> Option<String> {
        if let Some(os) = self.pus.iter().find(|os| topology.pu(**os).is_none()) {
            return Some(format!("pus: PU {os} is not in topology.pus"));
        }
        StreamKernel::ALL.iter().find_map(|kernel| {
            let problem = problem_of(self.curve(*kernel), self.pus.len())?;
            Some(format!("{}{problem}", kernel.word()))
        })
    }
}

fn fewest(
    curve: &[BandwidthPoint],
    enough_gbps: f64,
    rate_gbps: fn(&BandwidthPoint) -> f64,
) -> Option<u32> {
    curve.iter().find(|point| rate_gbps(point) >= enough_gbps).map(|point| point.threads)
}

fn problem_of(curve: &[BandwidthPoint], pus: usize) -> Option<String> {
    let mut before = 0;
    for (at, point) in curve.iter().enumerate() {
        if point.threads <= before || point.threads as usize > pus {
            return Some(format!(
                "[{at}].threads is {}; numbers of threads ascend from 1 to that of pus, {pus}",
                point.threads
            ));
        }
        before = point.threads;
        let figures = [
            ("median_gbps", point.median_gbps),
            ("p10_gbps", point.p10_gbps),
            ("mad_gbps", point.mad_gbps),
            ("ci95_low_gbps", point.ci95_low_gbps),
            ("ci95_high_gbps", point.ci95_high_gbps),
        ];
        if let Some((name, gbps)) =
            figures.into_iter().find(|(_, gbps)| !(0.0..=LARGEST_GBPS).contains(gbps))
        {
            return Some(format!("[{at}].{name} is {gbps}; a rate is 0 to {LARGEST_GBPS:e}"));
        }
    }
    None
}

impl Bandwidth {
    /// The groups that are in no larger group.
    pub fn outermost(&self) -> impl Iterator<Item = &BandwidthGroup> {
        self.groups.iter().enumerate().filter_map(|(at, group)| {
            // Larger groups come later.
            let is_inner = self.groups[at + 1..]
                .iter()
                .any(|other| group.pus.iter().all(|os| other.pus.contains(os)));
            (!is_inner).then_some(group)
        })
    }

    pub(crate) fn problem(&self, topology: &Topology) -> Option<String> {
        let figures = [("batch_ns", self.batch_ns), ("array_over_cache", self.array_over_cache)];
        if let Some((name, value)) =
            figures.into_iter().find(|(_, value)| !(0.0..=LARGEST_GBPS).contains(value))
        {
            return Some(format!("{name} is {value}, but must be from 0 to {LARGEST_GBPS:e}"));
        }
        self.groups
            .iter()
            .enumerate()
            .find_map(|(at, group)| Some(format!("groups[{at}].{}", group.problem(topology)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point(threads: u32, median_gbps: f64, half_gbps: f64) -> BandwidthPoint {
        BandwidthPoint {
            threads,
            median_gbps,
            ci95_low_gbps: (median_gbps - half_gbps).max(0.0),
            ci95_high_gbps: median_gbps + half_gbps,
            ..BandwidthPoint::default()
        }
    }

    fn group(points: &[(u32, f64)], half_gbps: f64) -> BandwidthGroup {
        let curve: Vec<BandwidthPoint> =
            points.iter().map(|(threads, gbps)| point(*threads, *gbps, half_gbps)).collect();
        BandwidthGroup {
            pus: (0..8).collect(),
            read: curve.clone(),
            write: curve.clone(),
            triad: curve,
            ..BandwidthGroup::default()
        }
    }

    const SATURATED: [(u32, f64); 6] =
        [(1, 12.0), (2, 23.0), (3, 30.5), (4, 31.8), (6, 32.0), (8, 31.0)];

    #[test]
    fn knee_is_the_fewest_threads_near_the_best() {
        let knee = |half_gbps| group(&SATURATED, half_gbps).knee(StreamKernel::Triad);
        assert_eq!(knee(0.05), Some(Knee { threads: 3, low: 3, high: 3 }));
        assert_eq!(knee(0.5), Some(Knee { threads: 3, low: 3, high: 4 }));
        assert_eq!(knee(1.7), None, "no interval stays above 95 %");
        assert_eq!(group(&SATURATED, 0.5).useful_threads(), Some(3));
    }

    #[test]
    fn rising_curve_has_no_knee() {
        let rising = [(1, 10.0), (2, 19.0), (4, 36.0), (8, 60.0)];
        assert_eq!(group(&rising, 0.1).knee(StreamKernel::Read), None);
        assert_eq!(group(&[(1, 10.0)], 0.1).knee(StreamKernel::Read), None);
        assert_eq!(group(&[], 0.1).knee(StreamKernel::Read), None);
        let mut mixed = group(&SATURATED, 0.1);
        mixed.write = group(&rising, 0.1).write;
        assert_eq!(mixed.useful_threads(), None, "writes need all threads");
    }

    #[test]
    fn outermost_groups_contain_all_others() {
        let of = |pus: &[u32]| BandwidthGroup { pus: pus.to_vec(), ..BandwidthGroup::default() };
        let groups = vec![of(&[0, 1]), of(&[2, 3]), of(&[4, 5]), of(&[0, 2, 1, 3])];
        let bandwidth = Bandwidth { groups, ..Bandwidth::default() };
        let outer: Vec<&[u32]> = bandwidth.outermost().map(|group| &*group.pus).collect();
        assert_eq!(outer, [&[4, 5][..], &[0, 2, 1, 3]]);
    }

    #[test]
    fn impossible_curves_are_refused() {
        let problem = |points: &[(u32, f64)]| {
            let groups = vec![group(points, 0.0)];
            Bandwidth { groups, ..Bandwidth::default() }.problem(&Topology::unknown(0..8))
        };
        assert_eq!(problem(&SATURATED), None);
        assert_eq!(
            problem(&[(2, 1.0), (2, 1.0)]).unwrap(),
            "groups[0].read[1].threads is 2; numbers of threads ascend from 1 to that of pus, 8"
        );
        assert!(problem(&[(9, 1.0)]).unwrap().starts_with("groups[0].read[0].threads is 9"));
        assert!(problem(&[(1, f64::NAN)]).unwrap().contains("median_gbps is NaN"));
        let elsewhere = group(&SATURATED, 0.0).problem(&Topology::unknown(0..2)).unwrap();
        assert_eq!(elsewhere, "pus: PU 2 is not in topology.pus");
    }

    proptest! {
        #[test]
        fn knee_is_on_the_curve_and_carries_its_share(
            rates in prop::collection::vec(0.1f64..500.0, 1..20), half in 0.0f64..50.0,
        ) {
            let points: Vec<(u32, f64)> = (1..).zip(rates).collect();
            let curve = group(&points, half);
            let best = curve.best(StreamKernel::Read).unwrap().median_gbps;
            if let Some(knee) = curve.knee(StreamKernel::Read) {
                prop_assert!(knee.low <= knee.threads && knee.threads <= knee.high);
                let share = points[knee.threads as usize - 1].1 / best;
                prop_assert!(share >= KNEE_SHARE && (knee.high as usize) < points.len());
            }
        }
    }
}
