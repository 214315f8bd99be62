//! The network as it would be if nothing were bad: the group of each node, and the usual figures.

use super::effect::sigma;
use super::figures::{Figure, Item};
use seatmap_statistics::{quantile, quantile_sorted, sorted};
use std::collections::BTreeMap;

/// The share of segments of round trips that healthy links send again, at least.
const LEAST_LOST: f64 = 0.0002;

/// Fewer figures than this say nothing of what is usual.
const FEWEST: usize = 3;

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
    /// The usual figure is this quantile of like ones, best first: of those between nodes that are
    /// in their groups for certain, where there are some, and else of all. So networks that differ
    /// in where the others stand are held against the same usual figures.
    pub(super) fn new(
        items: &'a [Item],
        group: Vec<usize>,
        doubtful: &[usize],
        share: f64,
    ) -> Self {
        let by_kind = usual_by_kind(items, &group, doubtful, share);
        let usual: Vec<f64> = items
            .iter()
            .map(|item| by_kind.get(&kind(item, &group)).copied().unwrap_or(1.0))
            .collect();
        let value = values(items, &usual, |shown| shown.factor);
        let shown = values(items, &usual, |shown| shown.at_least.min(shown.factor));
        let ratios: Vec<f64> =
            value.iter().zip(&usual).map(|(value, usual)| value / usual).collect();
        let sigmas = Figure::ALL
            .map(|figure| {
                let of = items.iter().zip(&ratios).filter(|(item, _)| item.figure == figure);
                let certain = of.clone().filter(|(item, _)| is_certain(item, doubtful));
                let certain: Vec<f64> = certain.map(|(_, ratio)| *ratio).collect();
                let like = if certain.len() < FEWEST {
                    of.map(|(_, ratio)| *ratio).collect()
                } else {
                    certain
                };
                (figure, sigma(figure, &centred(sorted(&like))))
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

/// The usual figure of each kind.
fn usual_by_kind(
    items: &[Item],
    group: &[usize],
    doubtful: &[usize],
    share: f64,
) -> BTreeMap<(Figure, bool), f64> {
    let mut like = BTreeMap::<(Figure, bool), Vec<f64>>::new();
    let mut certain = like.clone();
    for item in items {
        like.entry(kind(item, group)).or_default().push(share_of(item));
        if is_certain(item, doubtful) {
            certain.entry(kind(item, group)).or_default().push(share_of(item));
        }
    }
    certain.retain(|_, values| values.len() >= FEWEST);
    like.extend(certain);
    like.iter()
        .filter_map(|(kind, values)| {
            let usual = quantile(values, share)?;
            Some((*kind, if kind.0 == Figure::Lost { usual.max(LEAST_LOST) } else { usual }))
        })
        .collect()
}

/// The items that are like one another: of figures that a distance changes, inside groups and
/// between them.
fn kind(item: &Item, group: &[usize]) -> (Figure, bool) {
    (item.figure, item.figure.has_distance() && group[item.from] != group[item.to])
}

/// Whether it does not matter to a figure in which group the doubtful nodes stand.
fn is_certain(item: &Item, doubtful: &[usize]) -> bool {
    !item.figure.has_distance() || !(doubtful.contains(&item.from) || doubtful.contains(&item.to))
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
