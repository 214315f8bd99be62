//! The network as it would be if nothing were bad: the group of each node, and the usual figures.

use super::effect::sigma;
use super::figures::{Figure, Item};
use seatmap_statistics::{quantile, quantile_sorted, sorted};
use std::collections::BTreeMap;

/// The share of segments of round trips that healthy links send again, at least.
const LEAST_LOST: f64 = 0.0002;

/// A network without a fault, and all figures beside it.
pub(super) struct Network<'a> {
    pub items: &'a [Item],
    /// The group of each node.
    pub group: Vec<usize>,
    /// The usual value of each item.
    pub usual: Vec<f64>,
    /// The value of each item: the better of what was measured, and of what it is beside its like.
    pub value: Vec<f64>,
    /// The part of it that the looks show; all of it where nobody looked again.
    pub shown: Vec<f64>,
    sigmas: BTreeMap<Figure, f64>,
}

impl<'a> Network<'a> {
    /// The usual figure is this quantile of all like ones, best first.
    pub(super) fn new(items: &'a [Item], group: Vec<usize>, share: f64) -> Self {
        let mut like = BTreeMap::<(Figure, bool), Vec<f64>>::new();
        for item in items {
            like.entry(kind(item, &group)).or_default().push(share_of(item));
        }
        let by_kind: BTreeMap<(Figure, bool), f64> = like
            .iter()
            .filter_map(|(kind, values)| {
                let usual = quantile(values, share)?;
                Some((*kind, if kind.0 == Figure::Lost { usual.max(LEAST_LOST) } else { usual }))
            })
            .collect();
        let usual: Vec<f64> = items
            .iter()
            .map(|item| by_kind.get(&kind(item, &group)).copied().unwrap_or(1.0))
            .collect();
        let value = values(items, &usual, |shown| shown.factor);
        let shown = values(items, &usual, |shown| shown.at_least.min(shown.factor));
        let sigmas = Figure::ALL
            .map(|figure| {
                let all = items
                    .iter()
                    .zip(value.iter().zip(&usual))
                    .filter(|(item, _)| item.figure == figure);
                let ratios = all.map(|(_, (value, usual))| value / usual).collect::<Vec<f64>>();
                (figure, sigma(figure, &centred(sorted(&ratios))))
            })
            .into_iter()
            .collect();
        Network { items, group, usual, value, shown, sigmas }
    }

    pub(super) fn sigma(&self, figure: Figure) -> f64 {
        self.sigmas.get(&figure).copied().unwrap_or(1.0)
    }

    /// The nodes of a group.
    pub(super) fn members(&self, group: usize) -> Vec<usize> {
        (0..self.group.len()).filter(|node| self.group[*node] == group).collect()
    }
}

/// The items that are like one another: of figures that a distance changes, inside groups and
/// between them.
fn kind(item: &Item, group: &[usize]) -> (Figure, bool) {
    (item.figure, item.figure.has_distance() && group[item.from] != group[item.to])
}

/// Each item's value, or what it is beside its like where that is better.
fn values(items: &[Item], usual: &[f64], factor: fn(&crate::Shown) -> f64) -> Vec<f64> {
    items
        .iter()
        .zip(usual)
        .map(|(item, usual)| {
            item.beside.map_or(item.value, |shown| {
                item.value.min(factor(&shown) * shown.like.unwrap_or(*usual))
            })
        })
        .collect()
}

/// The figure of an item; of losses the share.
fn share_of(item: &Item) -> f64 {
    if item.figure == Figure::Lost { item.value / item.segments } else { item.value }
}

/// Ratios over their median, so that their logarithms are those of the scatter.
fn centred(ascending: Vec<f64>) -> Vec<f64> {
    // The median of losses is often 0, by which nothing can be divided; and 0 has no logarithm.
    let middle = quantile_sorted(&ascending, 0.5).unwrap_or(1.0).max(f64::MIN_POSITIVE);
    ascending.into_iter().map(|ratio| (ratio / middle).max(1e-9)).collect()
}
