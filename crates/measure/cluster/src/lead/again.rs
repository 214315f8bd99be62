//! Pairs that look bad are looked at again, beside like pairs in the same moments.
//!
//! A busy moment makes a way look slow, and nothing makes it look faster than it is: the better figures count. A
//! computer that stays busy makes all of them slow: a pair is bad if it is worse than its like, look after look. A
//! bad one stays bad.

use super::Lead;
use crate::cluster::{Beside, Cluster, Pair};
use crate::judge::beside::Look;
use crate::judge::{self, Fault};
use crate::measure::Progress;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Looks at a pair that looks bad: at least so many, and so many more where these do not show it.
const FEWEST_LOOKS: usize = 3;
const MOST_LOOKS: usize = 12;

/// Like pairs that are measured beside those of the same groups.
const LIKE: usize = 3;

/// A node that looks bad is judged by so many pairs of its group.
const NEAR: usize = 3;

/// The time for the trips of one size in a look; as long as for others, if that is shorter.
const TRIPS: Duration = Duration::from_millis(20);

impl Lead<'_> {
    /// Looks at the pairs that look bad until they are well, or have had all their looks.
    pub(super) fn look_again(&mut self, progress: &mut dyn FnMut(Progress)) {
        let mut looks = BTreeMap::<[usize; 2], Vec<Look>>::new();
        let mut tries = BTreeMap::<[usize; 2], usize>::new();
        let mut rng = fastrand::Rng::with_seed(17);
        loop {
            self.look_near(&judge::faults(&self.cluster));
            let suspects = self.suspects(&tries);
            if suspects.is_empty() {
                return;
            }
            suspects.iter().for_each(|pair| *tries.entry(*pair).or_default() += 1);
            let like = like(&self.cluster, &suspects, &mut rng);
            let mut order: Vec<[usize; 2]> = suspects.iter().chain(like.values().flatten()).copied().collect();
            order.sort_unstable();
            order.dedup();
            rng.shuffle(&mut order);
            let seen = self.look(&order, progress);
            for pair in &suspects {
                let beside: Vec<&Pair> = like[pair].iter().filter_map(|like| seen.get(like)).collect();
                let look = seen.get(pair).and_then(|own| Look::new(own, &beside));
                let all = looks.entry(*pair).or_default();
                all.extend(look);
                if let Some(own) = self.cluster.pairs.iter_mut().find(|known| known.nodes == *pair) {
                    own.beside = Beside::of(all);
                }
            }
        }
    }

    /// The pairs to look at once more: better figures of some make others look worse, which then get as many looks.
    fn suspects(&self, tries: &BTreeMap<[usize; 2], usize>) -> BTreeSet<[usize; 2]> {
        let tried = |pair: &[usize; 2]| tries.get(pair).copied().unwrap_or(0);
        let is_open = |pair: &&Pair| pair.beside.is_some_and(|beside| beside.is_open());
        let open = self.cluster.pairs.iter().filter(is_open).map(|pair| pair.nodes);
        let open = open.filter(|pair| tried(pair) < MOST_LOOKS);
        let bad = judge::suspects(&self.cluster).into_iter().filter(|pair| tried(pair) < FEWEST_LOOKS);
        open.chain(bad).collect()
    }

    /// Measures these pairs once more; the cluster keeps the better figures, and those of now are returned.
    fn look(&mut self, pairs: &[[usize; 2]], progress: &mut dyn FnMut(Progress)) -> BTreeMap<[usize; 2], Pair> {
        let mut seen = BTreeMap::new();
        for (at, pair) in pairs.iter().enumerate() {
            let first = self.cluster.pairs.iter().position(|known| known.nodes == *pair);
            let first = first.map(|at| self.cluster.pairs.remove(at));
            self.measure_round(&[*pair], self.options.trips.min(TRIPS));
            let now = self.cluster.pairs.iter_mut().find(|known| known.nodes == *pair);
            match (first, now) {
                (Some(first), Some(now)) => {
                    seen.insert(*pair, now.clone());
                    now.keep_better(first);
                }
                (Some(first), None) => self.cluster.pairs.push(first),
                _ => {}
            }
            progress(Progress::Again(at + 1, pairs.len()));
        }
        self.cluster.pairs.sort_by_key(|pair| pair.nodes);
        seen
    }

    /// Measures more pairs of the nodes that look bad with others of their groups: by one slow way a node cannot be
    /// told from the other.
    fn look_near(&mut self, faults: &[Fault]) {
        let groups = self.cluster.groups.clone();
        for node in faults.iter().filter(|fault| fault.nodes.len() <= 2).flat_map(|fault| &fault.nodes) {
            let Some(node) = self.cluster.nodes.iter().position(|known| known.name == *node) else { continue };
            let near = groups.iter().find(|group| group.contains(&node)).into_iter().flatten();
            let pair = |other: &usize| [node.min(*other), node.max(*other)];
            let is_known = |pair: &[usize; 2]| self.cluster.pairs.iter().any(|known| known.nodes == *pair);
            let (known, open): (Vec<[usize; 2]>, Vec<[usize; 2]>) =
                near.filter(|other| **other != node).map(pair).partition(is_known);
            for pair in open.into_iter().take(NEAR.saturating_sub(known.len())) {
                self.measure_round(&[pair], self.options.trips);
            }
        }
        self.cluster.pairs.sort_by_key(|pair| pair.nodes);
    }
}

/// Pairs to look at beside each suspect: a few of the same groups, drawn anew for each look.
fn like(
    cluster: &Cluster,
    suspects: &BTreeSet<[usize; 2]>,
    rng: &mut fastrand::Rng,
) -> BTreeMap<[usize; 2], Vec<[usize; 2]>> {
    let mut drawn = BTreeMap::new();
    let of_suspect = |pair: &[usize; 2]| {
        let (block, mut like) = judge::like(cluster, *pair, suspects);
        let own = drawn.entry(block).or_insert_with(|| {
            rng.shuffle(&mut like);
            like.truncate(LIKE);
            like
        });
        (*pair, own.clone())
    };
    suspects.iter().map(of_suspect).collect()
}
