//! Measures bad-looking pairs again, with like pairs.
//!
//! A busy moment makes a connection look slow, and nothing makes it look too fast, so the better
//! figures count. A busy computer slows all connections: a pair is bad only if it is worse than
//! like pairs, look after look.

use crate::choice::{self, CHOSEN_BY};
use crate::cluster::{Beside, Cluster, NodePair};
use crate::judge::beside::PairComparison;
use crate::judge::{ClusterFault, ClusterJudgement};
use std::collections::{BTreeMap, BTreeSet};

/// Minimum and maximum looks per pair.
const FEWEST_LOOKS: usize = 3;
const MOST_LOOKS: usize = 12;

/// Without the time limit: a verdict needs at least two looks.
const FEWEST_ROUNDS: usize = 2;

const LIKE: usize = 3;

/// A bad-looking node is judged by at least this many pairs of its group.
const NEAR: usize = 3;

pub trait Again {
    fn cluster(&mut self) -> &mut Cluster;

    fn measure(&mut self, pair: [usize; 2]);

    /// Whether time is left after `done` of `of` pairs.
    fn may_go_on(&mut self, done: usize, of: usize) -> bool;
}

pub fn look_again(again: &mut dyn Again) {
    let mut looks = BTreeMap::<[usize; 2], Vec<PairComparison>>::new();
    let mut tries = BTreeMap::<[usize; 2], usize>::new();
    let mut rng = fastrand::Rng::with_seed(17);
    for round in 0.. {
        regroup(again.cluster());
        let mut judgement = ClusterJudgement::of(again.cluster());
        if look_near(again, &judgement.faults) {
            judgement = ClusterJudgement::of(again.cluster());
        }
        let suspects = suspects(again.cluster(), &judgement, &tries);
        if suspects.is_empty() {
            return;
        }
        suspects.iter().for_each(|pair| *tries.entry(*pair).or_default() += 1);
        let mut bad = judgement.suspects(again.cluster());
        bad.extend(&suspects);
        let like = like(again.cluster(), &judgement, [&suspects, &bad], &mut rng);
        let mut order: Vec<[usize; 2]> =
            suspects.iter().chain(like.values().flatten()).copied().collect();
        order.sort_unstable();
        order.dedup();
        // Shuffled, so that a busy moment hits suspects and like pairs by chance.
        rng.shuffle(&mut order);
        let is_limited = round >= FEWEST_ROUNDS;
        let Some(seen) = look(again, &order, is_limited) else { return };
        for pair in &suspects {
            let beside: Vec<&NodePair> =
                like[pair].iter().filter_map(|like| seen.get(like)).collect();
            let best: Vec<&NodePair> = again
                .cluster()
                .pairs
                .iter()
                .filter(|known| like[pair].contains(&known.nodes))
                .collect();
            let look = seen.get(pair).and_then(|own| PairComparison::new(own, &beside, &best));
            let all = looks.entry(*pair).or_default();
            all.extend(look);
            if let Some(own) = again.cluster().pairs.iter_mut().find(|known| known.nodes == *pair) {
                own.beside = Beside::of(all);
            }
        }
    }
}

/// A busy moment may have hidden a group.
fn regroup(cluster: &mut Cluster) {
    let mut known = cluster.values(CHOSEN_BY);
    if let Some(groups) = choice::groups(cluster.nodes.len(), &mut known) {
        cluster.groups = groups;
    }
}

/// Better figures of some pairs make others look worse; these get as many looks.
fn suspects(
    cluster: &Cluster,
    judgement: &ClusterJudgement,
    tries: &BTreeMap<[usize; 2], usize>,
) -> BTreeSet<[usize; 2]> {
    let open = cluster.open_pairs();
    let open = open.filter(|pair| tries.get(pair).is_none_or(|tries| *tries < MOST_LOOKS));
    let bad = judgement
        .witnesses(cluster)
        .into_iter()
        .filter(|pair| tries.get(pair).is_none_or(|tries| *tries < FEWEST_LOOKS));
    open.chain(bad).collect()
}

/// The cluster keeps the better figures. `None` if the time ends first.
fn look(
    again: &mut dyn Again,
    pairs: &[[usize; 2]],
    is_limited: bool,
) -> Option<BTreeMap<[usize; 2], NodePair>> {
    let mut seen = BTreeMap::new();
    for (at, pair) in pairs.iter().enumerate() {
        // Called without a limit as well, because it also shows the progress.
        if !again.may_go_on(at, pairs.len()) && is_limited {
            return None;
        }
        let known = &mut again.cluster().pairs;
        let first = known.iter().position(|known| known.nodes == *pair).map(|at| known.remove(at));
        again.measure(*pair);
        let known = &mut again.cluster().pairs;
        let now = known.iter_mut().find(|known| known.nodes == *pair);
        match (first, now) {
            (Some(first), Some(now)) => {
                seen.insert(*pair, now.clone());
                now.keep_better(first);
            }
            (Some(first), None) => known.push(first),
            _ => {}
        }
        known.sort_by_key(|pair| pair.nodes);
    }
    Some(seen)
}

/// Measures more pairs of bad-looking nodes within their groups, because one slow connection does
/// not show which of its nodes is bad.
fn look_near(again: &mut dyn Again, faults: &[ClusterFault]) -> bool {
    let before = again.cluster().pairs.len();
    let groups = again.cluster().groups.clone();
    // A fault with more nodes concerns a switch, and their other pairs show it.
    for name in faults.iter().filter(|fault| fault.nodes.len() <= 2).flat_map(|fault| &fault.nodes)
    {
        let Some(node) = again.cluster().nodes.iter().position(|known| known.name == *name) else {
            continue;
        };
        let near = groups.iter().find(|group| group.contains(&node)).into_iter().flatten();
        let pairs: BTreeSet<[usize; 2]> = again.cluster().measured().collect();
        let (known, open): (Vec<[usize; 2]>, Vec<[usize; 2]>) = near
            .filter(|other| **other != node)
            .map(|other| choice::pair(node, *other))
            .partition(|pair| pairs.contains(pair));
        for pair in open.into_iter().take(NEAR.saturating_sub(known.len())) {
            again.measure(pair);
        }
    }
    again.cluster().pairs.sort_by_key(|pair| pair.nodes);
    again.cluster().pairs.len() > before
}

pub fn like(
    cluster: &Cluster,
    judgement: &ClusterJudgement,
    [suspects, bad]: [&BTreeSet<[usize; 2]>; 2],
    rng: &mut fastrand::Rng,
) -> BTreeMap<[usize; 2], Vec<[usize; 2]>> {
    let mut drawn = BTreeMap::new();
    suspects
        .iter()
        .map(|pair| {
            let (block, mut like) = judgement.like(cluster, *pair, bad);
            let all = drawn.entry(block).or_insert_with(|| {
                rng.shuffle(&mut like);
                like
            });
            // If all pairs are suspects, the list contains the pair itself, which would equal
            // itself.
            let others = all.iter().filter(|like| *like != pair);
            (*pair, others.take(LIKE).copied().collect())
        })
        .collect()
}
