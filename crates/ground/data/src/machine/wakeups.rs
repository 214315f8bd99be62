//! The cost of waking a sleeping thread on the waker's own CPU and on another one.

use crate::machine::nanoseconds::MAX_ROUND_TRIP_NS;
use crate::machine::{Level, Matrix, Topology};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Round trips of two threads that take turns and sleep in between: each waits in futex(2) until
/// the other wakes it.
///
/// Spinning threads pay a core distance. Sleeping threads also pay the kernel's wakeup, which needs
/// no interrupt on the waker's own CPU. The other CPUs are idle meanwhile, so a wakeup on another
/// CPU includes its exit from an idle state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wakeups {
    /// Visits to each pair; each visits all pairs in a new random order.
    pub passes: u32,
    /// Round trips per batch.
    pub round_trips: u32,
    /// The measured pairs: a CPU with itself, and some pairs for each level that two CPUs can
    /// share.
    pub pairs: Vec<WakeupPair>,
}

/// The wakeups of one pair of CPUs, in round-trip nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WakeupPair {
    /// The CPUs of the two threads, by OS index; equal if they share one.
    pub pus: [u32; 2],
    /// The median of the batches: the figure to quote.
    pub median_ns: f64,
    /// The tenth percentile of the batches.
    pub p10_ns: f64,
    /// The median absolute deviation from the median, unscaled.
    pub mad_ns: f64,
    /// Lower end of the 95 % bootstrap interval of the median.
    pub ci95_low_ns: f64,
    /// Upper end of that interval.
    pub ci95_high_ns: f64,
    /// The number of batches.
    pub batches: u64,
}

/// Measured pairs of equal nearness.
#[derive(Debug)]
pub struct WakeupClass<'a> {
    /// Part of the hardware that both CPUs share.
    pub sharing: Nearness,
    /// Pairs.
    pub pairs: Vec<&'a WakeupPair>,
}

/// The nearness of two CPUs, the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nearness {
    /// They are one CPU.
    SameCpu,
    /// They share this level, an index of [`Level::ALL`], and no inner one.
    Level(usize),
    /// They share no known level.
    Machine,
}

/// For each of [`Level::ALL`].
const SHARED: [&str; Level::ALL.len()] = [
    "SMT siblings",
    "same L2",
    "same cluster",
    "same L3",
    "same die",
    "same NUMA node",
    "same package",
    "same book",
    "same drawer",
];

impl Nearness {
    /// The nearness of two CPUs by the topology.
    pub fn of(topology: &Topology, [a, b]: [u32; 2]) -> Self {
        if a == b {
            return Nearness::SameCpu;
        }
        let (Some(a), Some(b)) = (topology.pu(a), topology.pu(b)) else { return Nearness::Machine };
        Level::ALL
            .iter()
            .position(|level| level.of(a).is_some() && level.of(a) == level.of(b))
            // Levels are ordered from the inside: the first common one is the nearest.
            .map_or(Nearness::Machine, Nearness::Level)
    }

    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Nearness::SameCpu => "same CPU",
            Nearness::Level(at) if at < SHARED.len() => SHARED[at],
            _ => "same machine",
        }
    }
}

impl Wakeups {
    /// Whether there are figures for one CPU and for two: neither can replace the other.
    pub fn tell_one_from_two(&self) -> bool {
        self.pairs.iter().any(is_one) && !self.pairs.iter().all(is_one)
    }

    /// The round trips between these CPUs in nanoseconds, on the diagonal those of two threads on
    /// one CPU; `None` unless [`tell_one_from_two`](Self::tell_one_from_two).
    ///
    /// An unmeasured pair has the median of equally near pairs, else that of the next farther ones,
    /// else that of the farthest.
    pub fn round_trips_ns(&self, topology: &Topology, pus: &[u32]) -> Option<Matrix> {
        if !self.tell_one_from_two() {
            return None;
        }
        let classes: Vec<(Nearness, f64)> =
            self.classes(topology).iter().map(|class| (class.sharing, class.median_ns())).collect();
        let own: HashMap<[u32; 2], f64> =
            self.pairs.iter().map(|pair| (ordered(pair.pus), pair.median_ns)).collect();
        Some(Matrix::from_fn(pus.len(), |i, j| {
            let pair = ordered([pus[i], pus[j]]);
            own.get(&pair)
                .copied()
                .unwrap_or_else(|| nearest_ns(&classes, Nearness::of(topology, pair)))
        }))
    }

    /// The measured pairs by nearness, the nearest first.
    pub fn classes(&self, topology: &Topology) -> Vec<WakeupClass<'_>> {
        let mut found: Vec<WakeupClass> = Vec::new();
        for pair in &self.pairs {
            let sharing = Nearness::of(topology, pair.pus);
            match found.iter_mut().find(|class| class.sharing == sharing) {
                Some(class) => class.pairs.push(pair),
                None => found.push(WakeupClass { sharing, pairs: vec![pair] }),
            }
        }
        found.sort_by_key(|class| class.sharing);
        found
    }

    pub(crate) fn problem(&self, topology: &Topology) -> Option<String> {
        for (at, pair) in self.pairs.iter().enumerate() {
            if let Some(os) = pair.pus.iter().find(|os| topology.pu(**os).is_none()) {
                return Some(format!("pairs[{at}].pus: PU {os} is not in topology.pus"));
            }
            let figures = [
                ("median_ns", pair.median_ns),
                ("p10_ns", pair.p10_ns),
                ("mad_ns", pair.mad_ns),
                ("ci95_low_ns", pair.ci95_low_ns),
                ("ci95_high_ns", pair.ci95_high_ns),
            ];
            if let Some((name, ns)) =
                figures.into_iter().find(|(_, ns)| !(0.0..=MAX_ROUND_TRIP_NS).contains(ns))
            {
                return Some(format!(
                    "pairs[{at}].{name} is {ns}; a wakeup takes 0 to {MAX_ROUND_TRIP_NS:e} ns"
                ));
            }
        }
        None
    }
}

fn is_one(pair: &WakeupPair) -> bool {
    pair.pus[0] == pair.pus[1]
}

fn nearest_ns(classes: &[(Nearness, f64)], class: Nearness) -> f64 {
    let exact = classes.iter().find(|(sharing, _)| *sharing == class);
    exact
        // No pair of this class was measured: take the next farther one, or else the farthest.
        .or_else(|| classes.iter().find(|(sharing, _)| *sharing > class))
        .or(classes.last())
        .map_or(f64::NAN, |(_, ns)| *ns)
}

fn ordered([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

impl WakeupClass<'_> {
    /// The median of the pairs' medians, in nanoseconds.
    pub fn median_ns(&self) -> f64 {
        let mut medians: Vec<f64> = self.pairs.iter().map(|pair| pair.median_ns).collect();
        medians.sort_by(f64::total_cmp);
        // With an odd number, both are the middle.
        let below = medians[(medians.len() - 1) / 2];
        let above = medians[medians.len() / 2];
        f64::midpoint(below, above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(pus: [u32; 2], median_ns: f64) -> WakeupPair {
        WakeupPair { pus, median_ns, ..WakeupPair::default() }
    }

    fn topology() -> Topology {
        let mut topology = Topology::unknown(0..5);
        topology.pus.iter_mut().filter(|pu| pu.os < 4).for_each(|pu| {
            (pu.core, pu.l3, pu.package) = (Some(pu.os), Some(pu.os / 2), Some(0));
        });
        topology
    }

    #[test]
    fn unmeasured_pairs_take_figures_of_similar_pairs() {
        let pairs = vec![
            pair([0, 2], 9000.0),
            pair([0, 0], 2000.0),
            pair([0, 1], 5000.0),
            pair([3, 3], 3000.0),
        ];
        let wakeups = Wakeups { pairs, ..Wakeups::default() };
        let topology = topology();
        let all = wakeups.round_trips_ns(&topology, &[0, 1, 2, 3, 4]).unwrap();
        let ns = |a: usize, b: usize| all[(a, b)];
        assert_eq!([ns(0, 0), ns(3, 3), ns(1, 1)], [2000.0, 3000.0, 2500.0]);
        assert_eq!([ns(1, 0), ns(2, 3), ns(1, 3), ns(4, 0)], [5000.0, 5000.0, 9000.0, 9000.0]);
        let names: Vec<&str> =
            wakeups.classes(&topology).iter().map(|class| class.sharing.name()).collect();
        assert_eq!(names, ["same CPU", "same L3", "same package"]);
    }

    #[test]
    fn same_cpu_and_cross_cpu_wakeups_are_not_interchangeable() {
        let topology = topology();
        let only = |pus| Wakeups { pairs: vec![pair(pus, 1.0)], ..Wakeups::default() };
        assert_eq!(only([0, 0]).round_trips_ns(&topology, &[0, 1]), None);
        assert_eq!(only([0, 1]).round_trips_ns(&topology, &[0]), None);
    }

    #[test]
    fn impossible_wakeup_times_are_refused() {
        let wakeups = |pus, ns| Wakeups { pairs: vec![pair(pus, ns)], ..Wakeups::default() };
        assert_eq!(wakeups([0, 1], 5.0).problem(&topology()), None);
        assert_eq!(
            wakeups([0, 9], 5.0).problem(&topology()).unwrap(),
            "pairs[0].pus: PU 9 is not in topology.pus"
        );
        let text = wakeups([0, 1], f64::NAN).problem(&topology()).unwrap();
        assert!(text.starts_with("pairs[0].median_ns is NaN; a wakeup takes 0 to "), "{text}");
    }
}
