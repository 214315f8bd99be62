//! Chooses the measured pairs, at most four per node, as values arrive.
//!
//! 1. Each node with its successor in natural order (`n2` before `n10`) and with the first node,
//!    which sees near and far nodes.
//! 2. Runs of near nodes are compared until each has found its group or met all groups.
//! 3. One pair for any two groups without one.
//! 4. Random pairs, predicted before they are measured: the errors show how well the other pairs
//!    are known.
//!
//! No method needs fewer pairs for unrelated names: a node finds its group by a pair with a member,
//! and meets half of the groups on the way.

use crate::cluster::HeldBack;
use crate::fit::{PairModel, SymmetricMetric};
use seatmap_data::statistics::{Ordered, mean, median, sorted};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The message size that separates near nodes from far ones, in bytes: it shows both latency and
/// rate.
pub const SIZE_BYTES: u32 = 64 << 10;

pub(crate) const CHOSEN_BY: SymmetricMetric = SymmetricMetric::Trip(SIZE_BYTES);

/// The budget of pairs per node.
pub const PAIRS_A_NODE: usize = 4;

/// Far pairs take at least this many times as long as near ones; otherwise there is one group.
const APART: f64 = 1.4;

/// Pairs that could not be measured are absent.
pub type PairValues = BTreeMap<[usize; 2], f64>;

/// Returns a value for each pair, or `None` if it failed.
pub type PairProbe<'a> = dyn FnMut(&[[usize; 2]]) -> Vec<Option<f64>> + 'a;

/// The groups found and the test on held-back pairs.
#[derive(Clone, Debug)]
pub struct ChosenGroups {
    /// Groups, as ascending node indices.
    pub groups: Vec<Vec<usize>>,
    /// Prediction errors.
    pub held_back: Option<HeldBack>,
}

/// Chooses pairs and measures those missing in `known` with `probe`; `known` receives their values.
pub fn choose(
    names: &[String],
    all: bool,
    known: &mut PairValues,
    probe: &mut PairProbe<'_>,
) -> ChosenGroups {
    let mut chooser =
        Chooser { nodes: names.len(), budget: PAIRS_A_NODE * names.len(), known, probe };
    let every: Vec<[usize; 2]> = pairs(names.len()).collect();
    if all || every.len() <= chooser.budget {
        chooser.measure(&every);
        let groups = chooser.divided_components();
        return ChosenGroups { groups, held_back: None };
    }
    chooser.begin(&natural_order(names));
    chooser.join_runs();
    chooser.fill_blocks();
    // Last, because they test a model of all other pairs.
    let held_back = chooser.hold_back();
    ChosenGroups { groups: chooser.components(), held_back }
}

fn pairs(nodes: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..nodes).flat_map(move |a| (a + 1..nodes).map(move |b| [a, b]))
}

/// The values with each key, in their order.
pub(crate) fn grouped<K: Ord, V>(pairs: impl Iterator<Item = (K, V)>) -> BTreeMap<K, Vec<V>> {
    let mut groups = BTreeMap::<K, Vec<V>>::new();
    pairs.for_each(|(key, value)| groups.entry(key).or_default().push(value));
    groups
}

pub(crate) fn pair(a: usize, b: usize) -> [usize; 2] {
    [a.min(b), a.max(b)]
}

pub(crate) fn groups(nodes: usize, known: &mut PairValues) -> Option<Vec<Vec<usize>>> {
    let is_whole = pairs(nodes).all(|pair| known.contains_key(&pair));
    let chooser = Chooser { nodes, budget: 0, known, probe: &mut |_| Vec::new() };
    is_whole.then(|| chooser.divided_components())
}

struct Chooser<'a> {
    nodes: usize,
    budget: usize,
    known: &'a mut PairValues,
    probe: &'a mut PairProbe<'a>,
}

impl Chooser<'_> {
    fn measure(&mut self, pairs: &[[usize; 2]]) {
        let mut wanted: Vec<[usize; 2]> =
            pairs.iter().filter(|pair| !self.known.contains_key(*pair)).copied().collect();
        wanted.sort_unstable();
        wanted.dedup();
        let values = (self.probe)(&wanted);
        let found = wanted.into_iter().zip(values).filter_map(|(pair, value)| Some((pair, value?)));
        self.known.extend(found);
    }

    fn left(&self) -> usize {
        self.budget.saturating_sub(self.known.len())
    }

    fn begin(&mut self, order: &[usize]) {
        let next = order.windows(2).map(|two| pair(two[0], two[1]));
        let first = order[1..].iter().map(|node| pair(order[0], *node));
        let wanted: Vec<[usize; 2]> = next.chain(first).collect();
        self.measure(&wanted);
    }

    /// The threshold between near and far. A node far from all others, such as one behind a very
    /// slow cable, hides their differences, so the search ignores it, and far pairs that separate
    /// no nodes, as in a busy moment.
    fn limit(&self) -> Option<f64> {
        let mut within: Vec<usize> = (0..self.nodes).collect();
        let mut found = None;
        let mut most = f64::INFINITY;
        loop {
            let known: Vec<([usize; 2], f64)> = self
                .known
                .iter()
                .filter(|([a, b], value)| {
                    within.contains(a) && within.contains(b) && **value < most
                })
                .map(|(pair, value)| (*pair, *value))
                .collect();
            let Some(next) = limit(&known.iter().map(|(_, value)| *value).collect::<Vec<_>>())
            else {
                return found;
            };
            found = Some(next);
            let near: Vec<usize> = within
                .iter()
                .copied()
                .filter(|node| {
                    known.iter().any(|(pair, value)| pair.contains(node) && *value < next)
                })
                .collect();
            let lone = within.len() - near.len();
            let parts = self
                .parts(next)
                .into_iter()
                .filter(|part| part.iter().any(|node| within.contains(node)));
            match parts.count() {
                // These far pairs separate nothing: search below them.
                1 => most = next,
                // More than a quarter of the nodes is a group, not a few outliers.
                _ if lone == 0 || 4 * lone > within.len() => return found,
                _ => within = near,
            }
        }
    }

    /// The parts connected by near pairs, the largest first.
    fn components(&self) -> Vec<Vec<usize>> {
        self.parts(self.limit().unwrap_or(f64::INFINITY))
    }

    fn divided_components(&self) -> Vec<Vec<usize>> {
        self.components().into_iter().flat_map(|part| self.divided(part)).collect()
    }

    /// Splits a group with all pairs known if some are as far apart as groups are: a very slow
    /// connection hides smaller differences. A single node stays, because a bad cable looks the
    /// same.
    fn divided(&self, group: Vec<usize>) -> Vec<Vec<usize>> {
        let inside: Vec<f64> = pairs(group.len())
            .filter_map(|[a, b]| self.known.get(&pair(group[a], group[b])).copied())
            .collect();
        let is_whole = inside.len() == group.len() * group.len().saturating_sub(1) / 2;
        let Some(limit) = limit(&inside).filter(|_| is_whole) else { return vec![group] };
        let parts: Vec<Vec<usize>> = self
            .parts(limit)
            .into_iter()
            .filter(|part| part.iter().all(|node| group.contains(node)))
            .collect();
        let is_divided =
            parts.len() > 1 && parts.iter().map(Vec::len).sum::<usize>() == group.len();
        if !is_divided || parts.iter().any(|part| part.len() < 2) {
            return vec![group];
        }
        parts.into_iter().flat_map(|part| self.divided(part)).collect()
    }

    fn parts(&self, limit: f64) -> Vec<Vec<usize>> {
        let mut part: Vec<usize> = (0..self.nodes).collect();
        for ([a, b], _) in self.known.iter().filter(|(_, value)| **value < limit) {
            let from = part[*b];
            let to = part[*a];
            part.iter_mut().filter(|part| **part == from).for_each(|part| *part = to);
        }
        let parts = grouped(part.iter().enumerate().map(|(node, part)| (*part, node)));
        let mut parts: Vec<Vec<usize>> = parts.into_values().collect();
        // The lowest node breaks ties, so equal values give equal numbers.
        parts.sort_by_key(|part| (std::cmp::Reverse(part.len()), part[0]));
        parts
    }

    fn join_runs(&mut self) {
        loop {
            let parts = self.components();
            let next = (1..parts.len()).find_map(|at| {
                let other = parts[..at].iter().find(|other| !self.have_met(other, &parts[at]))?;
                Some(pair(middle(other), middle(&parts[at])))
            });
            // Half a pair per node is reserved for held-back pairs.
            let Some(next) = next.filter(|_| self.left() > self.nodes / 2) else { return };
            self.measure(&[next]);
            if !self.known.contains_key(&next) {
                return;
            }
        }
    }

    fn have_met(&self, a: &[usize], b: &[usize]) -> bool {
        a.iter().any(|x| b.iter().any(|y| self.known.contains_key(&pair(*x, *y))))
    }

    fn fill_blocks(&mut self) {
        let parts = self.components();
        let group = numbered(&parts, self.nodes);
        let mut met: Vec<[usize; 2]> =
            self.known.keys().map(|[a, b]| pair(group[*a], group[*b])).collect();
        met.sort_unstable();
        let unmet = pairs(parts.len()).filter(|block| met.binary_search(block).is_err());
        let room = self.left().saturating_sub(self.nodes / 2);
        let wanted: Vec<[usize; 2]> =
            unmet.map(|[g, h]| pair(middle(&parts[g]), middle(&parts[h]))).take(room).collect();
        self.measure(&wanted);
    }

    fn hold_back(&mut self) -> Option<HeldBack> {
        let group = numbered(&self.components(), self.nodes);
        let fit = PairModel::of(group, self.known.clone())?;
        let mut rest: Vec<[usize; 2]> =
            pairs(self.nodes).filter(|pair| !self.known.contains_key(pair)).collect();
        // The same cluster is measured the same way twice.
        fastrand::Rng::with_seed(17).shuffle(&mut rest);
        rest.truncate(self.left());
        self.measure(&rest);
        let errors: Vec<f64> = rest
            .iter()
            .filter_map(|[a, b]| {
                let value = self.known.get(&[*a, *b])?;
                Some(100.0 * (fit.predicted(*a, *b) / value - 1.0).abs())
            })
            .collect();
        Some(HeldBack { pairs: errors.len(), error_percent: median(&errors)? })
    }
}

fn middle(part: &[usize]) -> usize {
    part[part.len() / 2]
}

fn numbered(parts: &[Vec<usize>], nodes: usize) -> Vec<usize> {
    let mut number = vec![0; nodes];
    for (at, part) in parts.iter().enumerate() {
        part.iter().for_each(|node| number[*node] = at);
    }
    number
}

/// The cut of the logarithms with the least variance inside both parts (Otsu 1979); `None` if the
/// parts are not clearly apart.
fn limit(values: &[f64]) -> Option<f64> {
    // A step from 10 to 20 us equals one from 100 to 200 us.
    let logarithms = sorted(values.iter().map(|value| value.ln()));
    let cut = (1..logarithms.len()).min_by_key(|it| Ordered(inside(&logarithms, *it)))?;
    let apart = median(&logarithms[cut..])? - median(&logarithms[..cut])?;
    (apart >= APART.ln()).then(|| logarithms[cut - 1].midpoint(logarithms[cut]).exp())
}

fn inside(ascending: &[f64], cut: usize) -> f64 {
    deviations(&ascending[..cut]) + deviations(&ascending[cut..])
}

fn deviations(part: &[f64]) -> f64 {
    let mean = mean(part);
    part.iter().map(|value| (value - mean) * (value - mean)).sum()
}

/// Numbers compare as numbers.
fn natural_order(names: &[String]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|a, b| natural(&names[*a], &names[*b]).then(a.cmp(b)));
    order
}

fn natural(a: &str, b: &str) -> Ordering {
    let [a, b] = [a, b].map(pieces);
    let by_piece = a.iter().zip(&b).map(|(a, b)| match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(a), Ok(b)) => a.cmp(&b),
        _ => a.cmp(b),
    });
    // `n1` before `n1a`.
    by_piece.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
}

fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for each in text.chars() {
        match pieces.last_mut() {
            Some(last)
                if last.ends_with(|end: char| end.is_ascii_digit() == each.is_ascii_digit()) =>
            {
                last.push(each)
            }
            _ => pieces.push(each.to_string()),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tree(nodes: usize, on_a_switch: usize, seed: u64) -> impl Fn([usize; 2]) -> f64 {
        move |[a, b]| {
            let mut rng = fastrand::Rng::with_seed(seed ^ (a * 1009 + b) as u64);
            let base = if a / on_a_switch == b / on_a_switch { 1e5 } else { 4e6 };
            assert!(b < nodes);
            base * (0.97 + 0.06 * rng.f64())
        }
    }

    fn chosen(names: &[String], value: impl Fn([usize; 2]) -> f64) -> (ChosenGroups, usize) {
        let mut known = PairValues::new();
        let mut count = 0;
        let chosen = choose(names, false, &mut known, &mut |pairs| {
            count += pairs.len();
            pairs.iter().map(|pair| Some(value(*pair))).collect()
        });
        (chosen, count)
    }

    fn names(nodes: usize) -> Vec<String> {
        (0..nodes).map(|node| format!("n{node}")).collect()
    }

    #[test]
    fn four_pairs_per_node_find_switches_of_64_nodes() {
        for on_a_switch in [4, 8, 16, 32] {
            let (chosen, count) = chosen(&names(64), tree(64, on_a_switch, 3));
            assert!(count <= 4 * 64, "{count}");
            let mut groups = chosen.groups.clone();
            groups.sort();
            let right: Vec<Vec<usize>> = (0..64 / on_a_switch)
                .map(|at| (at * on_a_switch..(at + 1) * on_a_switch).collect())
                .collect();
            assert_eq!(groups, right);
            let held_back = chosen.held_back.unwrap();
            assert!(held_back.error_percent < 5.0 && held_back.pairs >= 8, "{held_back:?}");
        }
    }

    #[test]
    fn shuffled_names_find_the_switches_with_few_errors() {
        let mut shuffled: Vec<usize> = (0..64).collect();
        fastrand::Rng::with_seed(5).shuffle(&mut shuffled);
        let value = tree(64, 16, 3);
        let (chosen, count) = chosen(&names(64), |[a, b]| value(pair(shuffled[a], shuffled[b])));
        assert!(count <= 4 * 64, "{count}");
        assert_eq!(chosen.groups.iter().map(Vec::len).collect::<Vec<_>>(), [16; 4]);
        let right = chosen
            .groups
            .iter()
            .all(|group| group.iter().all(|node| shuffled[*node] / 16 == shuffled[group[0]] / 16));
        assert!(right && chosen.held_back.unwrap().error_percent < 5.0);
    }

    #[test]
    fn small_clusters_are_measured_whole_and_flat_ones_ungrouped() {
        let (whole, count) = chosen(&names(8), tree(8, 4, 1));
        assert_eq!((whole.groups, count), (vec![vec![0, 1, 2, 3], vec![4, 5, 6, 7]], 28));
        let (flat, count) = chosen(&names(20), tree(20, 20, 1));
        assert_eq!((flat.groups.len(), count), (1, 80));
    }

    /// A pair measured at a busy moment differs more from the rest than far pairs do from near
    /// ones.
    #[test]
    fn busy_moments_hide_no_switch() {
        let noise = tree(8, 8, 1);
        let (two_switches, _) = chosen(&names(8), |pair| match pair {
            [0, 3] | [2, 6] => 4e7,
            [a, b] => noise(pair) * if a / 4 == b / 4 { 14.0 } else { 27.0 },
        });
        assert_eq!(two_switches.groups, [[0, 1, 2, 3], [4, 5, 6, 7]]);
        let (flat, _) = chosen(&names(8), |pair| match pair {
            [0, 3] | [2, 6] => 4e7,
            _ => 14.0 * noise(pair),
        });
        assert_eq!(flat.groups.len(), 1);
    }

    #[test]
    fn numbers_in_names_sort_numerically() {
        let names = ["rack2-n10", "rack2-n9", "rack10-n1", "a", "rack2"].map(str::to_owned);
        assert_eq!(natural_order(&names), [3, 4, 1, 0, 2]);
    }

    proptest! {
        #[test]
        fn any_values_give_groups_within_the_budget(nodes in 1..40usize, seed: u64) {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut known = PairValues::new();
            let mut count = 0;
            let chosen = choose(&names(nodes), false, &mut known, &mut |pairs| {
                count += pairs.len();
                pairs.iter().map(|_| (rng.f64() < 0.9).then(|| 1.0 + 1e6 * rng.f64())).collect()
            });
            let mut all: Vec<usize> = chosen.groups.concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..nodes).collect::<Vec<_>>());
            prop_assert!(known.len() <= (PAIRS_A_NODE * nodes).max(nodes * (nodes - 1) / 2) && count < 3000);
        }
    }
}
