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
        let kind = |item: &Item| {
            (item.figure, item.figure.has_distance() && group[item.from] != group[item.to])
        };
        let mut like = BTreeMap::<(Figure, bool), Vec<f64>>::new();
        for item in items {
            like.entry(kind(item)).or_default().push(share_of(item));
        }
        let usual_of = |(kind, values): (&(Figure, bool), &Vec<f64>)| {
            let usual = quantile(values, share)?;
            Some((*kind, if kind.0 == Figure::Lost { usual.max(LEAST_LOST) } else { usual }))
        };
        let by_kind: BTreeMap<(Figure, bool), f64> = like.iter().filter_map(usual_of).collect();
        let usual: Vec<f64> =
            items.iter().map(|item| by_kind.get(&kind(item)).copied().unwrap_or(1.0)).collect();
        let beside = |item: &Item, usual: f64, of: fn(&crate::Shown) -> f64| {
            item.beside.map_or(item.value, |shown| {
                item.value.min(of(&shown) * shown.like.unwrap_or(usual))
            })
        };
        let each = |of: fn(&crate::Shown) -> f64| {
            items
                .iter()
                .zip(&usual)
                .map(|(item, usual)| beside(item, *usual, of))
                .collect::<Vec<f64>>()
        };
        let value = each(|shown| shown.factor);
        let shown = each(|shown| shown.at_least.min(shown.factor));
        let ratios = |figure: Figure| {
            let all = items
                .iter()
                .zip(value.iter().zip(&usual))
                .filter(|(item, _)| item.figure == figure);
            sorted(&all.map(|(_, (value, usual))| value / usual).collect::<Vec<f64>>())
        };
        let sigmas = Figure::ALL
            .map(|figure| (figure, sigma(figure, &centred(ratios(figure)))))
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

/// The figure of an item; of losses the share.
fn share_of(item: &Item) -> f64 {
    if item.figure == Figure::Lost { item.value / item.segments } else { item.value }
}

/// Ratios over their median, so that their logarithms are those of the scatter.
fn centred(ascending: Vec<f64>) -> Vec<f64> {
    let middle = quantile_sorted(&ascending, 0.5).unwrap_or(1.0).max(f64::MIN_POSITIVE);
    ascending.into_iter().map(|ratio| (ratio / middle).max(1e-9)).collect()
}
