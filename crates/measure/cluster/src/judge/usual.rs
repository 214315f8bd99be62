//! The figures of ways, beside those that are usual for such ways.

use super::{Court, FEWEST_PAIRS, SMALL_BYTES};
use crate::cluster::{Beside, Pair, Shown};
use seatmap_statistics::quantile;
use std::collections::BTreeMap;

/// The usual value of like ways is this quantile of theirs, best first: of four nodes on a switch, one bad one spoils
/// half of the pairs.
const USUAL: f64 = 0.35;

/// A figure of a way; the lower, the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    /// The time that a stream needs for a bit, in microseconds: one over its rate.
    Slowness,
    /// The median time of small messages, in nanoseconds; a round trip, so the same both ways.
    Time,
    /// Their scatter, from the tenth to the ninetieth percentile.
    Scatter,
    /// The share of segments that went twice, one more than there were: a share of nothing cannot be compared.
    Lost,
}

/// A way from one node to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub from: usize,
    pub to: usize,
    /// Its figure: the better of what was measured, and of what it is beside its like.
    pub value: f64,
    /// The part of it that the looks show; all of it where nobody looked again.
    pub shown: f64,
    /// That of its like.
    pub usual: f64,
}

impl Way {
    /// The sender, and the receiver.
    pub(super) fn ends(&self) -> [usize; 2] {
        [self.from, self.to]
    }

    /// 2 is twice as bad as usual.
    pub(crate) fn factor(&self) -> f64 {
        self.value / self.usual
    }
}

impl Figure {
    /// The figures of a pair, from its first node and from the second.
    pub(crate) fn of(self, pair: &Pair) -> Option<[f64; 2]> {
        let small = || pair.trip(SMALL_BYTES);
        match self {
            Figure::Slowness => Some(pair.rate_mbps.map(|rate| 1.0 / rate)),
            Figure::Time => Some([small()?.median_ns; 2]),
            Figure::Scatter => Some([(small()?.p90_ns - small()?.p10_ns).max(1.0); 2]),
            Figure::Lost => Some(
                [0, 1].map(|end| pair.retransmits[end].saturating_add(1) as f64 / pair.segments[end].max(1) as f64),
            ),
        }
    }

    /// The figures that are held against the usual ones. Of times it is the tenth percentile: even the fastest tenth
    /// takes longer than others usually do, so that no busy moment makes it late.
    pub(super) fn held(self, pair: &Pair) -> Option<[f64; 2]> {
        let own = match self {
            Figure::Time => [pair.trip(SMALL_BYTES)?.p10_ns; 2],
            _ => self.of(pair)?,
        };
        Some(own)
    }

    /// How a pair that was looked at again compares with its like in these moments.
    fn beside(self, beside: &Beside) -> Option<[Shown; 2]> {
        match self {
            Figure::Slowness => Some(beside.slowness),
            Figure::Time => Some([beside.time; 2]),
            Figure::Scatter => Some([beside.scatter; 2]),
            Figure::Lost => None,
        }
    }
}

/// The usual values of ways, by the groups of their ends.
struct Usual {
    blocks: BTreeMap<[usize; 2], Vec<f64>>,
    /// Those inside groups, and between them.
    kinds: [Option<f64>; 2],
}

impl Court<'_> {
    /// All ways whose pairs count, with their figures.
    pub(crate) fn ways(&self, figure: Figure, counts: impl Fn(&Pair) -> bool) -> Vec<Way> {
        let pairs: Vec<&Pair> = self.cluster.pairs.iter().filter(|pair| counts(pair)).collect();
        let usual = self.usual(figure, &pairs);
        let of_pair = |pair: &&Pair| {
            let ([a, b], held) = (pair.nodes, figure.held(pair)?);
            let beside = pair.beside.as_ref().and_then(|beside| figure.beside(beside));
            let way = |from: usize, to: usize, end: usize| {
                let usual = self.usual_of(&usual, from, to)?;
                let again = |of: fn(&Shown) -> f64| beside.map_or(f64::INFINITY, |shown| of(&shown[end]) * usual);
                let value = held[end].min(again(|shown| shown.factor));
                Some(Way { from, to, value, shown: value.min(again(|shown| shown.at_least)), usual })
            };
            Some([way(a, b, 0)?, way(b, a, 1)?])
        };
        pairs.iter().filter_map(of_pair).flatten().collect()
    }

    fn usual(&self, figure: Figure, pairs: &[&Pair]) -> Usual {
        let mut blocks = BTreeMap::<[usize; 2], Vec<f64>>::new();
        for pair in pairs {
            let ([a, b], Some([there, back])) = (pair.nodes, figure.of(pair)) else { continue };
            blocks.entry(self.block(a, b)).or_default().push(there);
            blocks.entry(self.block(b, a)).or_default().push(back);
        }
        let of_kind = |is_inside: bool| {
            let of = blocks.iter().filter(|(block, _)| (block[0] == block[1]) == is_inside);
            quantile(&of.flat_map(|(_, values)| values).copied().collect::<Vec<_>>(), USUAL)
        };
        let kinds = [true, false].map(of_kind);
        Usual { blocks, kinds }
    }

    /// Where hardly any pair is of the same two groups, or a node is a group for itself, as one behind a slow cable may
    /// be, that is all ways inside groups, or between them.
    fn usual_of(&self, usual: &Usual, from: usize, to: usize) -> Option<f64> {
        let block = self.block(from, to);
        let is_alone = |group: &usize| self.sizes.get(group).is_none_or(|nodes| *nodes < 2);
        let is_known = |values: &&Vec<f64>| values.len() > 2 * FEWEST_PAIRS && !block.iter().any(is_alone);
        let own = usual.blocks.get(&block).filter(is_known);
        own.and_then(|values| quantile(values, USUAL)).or(usual.kinds[usize::from(block[0] != block[1])])
    }

    /// The groups of a way's ends.
    fn block(&self, from: usize, to: usize) -> [usize; 2] {
        [self.group[from], self.group[to]]
    }
}
