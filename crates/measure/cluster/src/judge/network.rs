//! The network as if it had no faults.

use super::figures::{Item, PairMetric};
use super::groups::lone;
use crate::choice::grouped;
use seatmap_data::statistics::quantile;
use std::collections::BTreeMap;

/// Healthy links retransmit at least this share of the segments of round trips.
const LEAST_LOST: f64 = 0.0002;

/// Fewer figures than this do not show the usual value.
const FEWEST: usize = 3;

/// The usual rate and time are this quantile, best first, because noise improves none: of three
/// nodes on a switch, a bad one spoils two of three pairs.
const BEST: f64 = 0.15;

pub struct HealthyNetwork<'a> {
    pub items: &'a [Item],
    pub group: Vec<usize>,
    /// The usual value of each item.
    pub usual: Vec<f64>,
    /// The value as measured, or by comparison with like pairs if better.
    pub value: Vec<f64>,
    /// The value as far as the looks confirm it.
    pub shown: Vec<f64>,
}

impl<'a> HealthyNetwork<'a> {
    pub fn new(items: &'a [Item], group: Vec<usize>) -> Self {
        let by_kind = usual_by_kind(items, &group);
        let usual: Vec<f64> = items
            .iter()
            .map(|item| by_kind.get(&kind(item, &group)).copied().unwrap_or(1.0))
            .collect();
        let value = values(items, &usual, |shown| shown.factor);
        let shown = values(items, &usual, |shown| shown.at_least.min(shown.factor));
        HealthyNetwork { items, group, usual, value, shown }
    }

    pub fn members(&self, group: usize) -> Vec<usize> {
        (0..self.group.len()).filter(|node| self.group[*node] == group).collect()
    }
}

/// Nodes with neighbours decide, if there are enough.
fn usual_by_kind(items: &[Item], group: &[usize]) -> BTreeMap<(PairMetric, bool), f64> {
    let alone = lone(group);
    let mut like = grouped(items.iter().map(|item| (kind(item, group), item.value)));
    let between_known =
        items.iter().filter(|item| !alone.contains(&item.from) && !alone.contains(&item.to));
    let mut certain = grouped(between_known.map(|item| (kind(item, group), item.value)));
    certain.retain(|_, values| values.len() >= FEWEST);
    like.extend(certain);
    like.iter()
        .filter_map(|(kind, values)| {
            let share = if kind.0.has_distance() { BEST } else { 0.5 };
            let usual = quantile(values, share)?;
            Some((*kind, if kind.0 == PairMetric::Lost { usual.max(LEAST_LOST) } else { usual }))
        })
        .collect()
}

/// Comparable items. Metrics that depend on distance have a kind inside groups and one between
/// them.
fn kind(item: &Item, group: &[usize]) -> (PairMetric, bool) {
    (item.figure, item.figure.has_distance() && group[item.from] != group[item.to])
}

fn values(items: &[Item], usual: &[f64], factor: fn(&crate::ExcessFactor) -> f64) -> Vec<f64> {
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
