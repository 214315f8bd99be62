//! Pairs that look bad are looked at again, beside like pairs in the same moments.
//!
//! A busy moment makes a way look slow, and nothing makes it look faster than it is: the better
//! figures count. A computer that stays busy makes all of them slow: a pair is bad if it is worse
//! than its like, look after look. A bad one stays bad.

use crate::choice::{self, PairValues, SIZE_BYTES};
use crate::cluster::{Beside, Cluster, NodePair};
use crate::judge::beside::PairComparison;
use crate::judge::{ClusterFault, ClusterJudgement};
use std::collections::{BTreeMap, BTreeSet};

/// Looks at a pair that looks bad: at least so many, and so many more where these do not show it.
const FEWEST_LOOKS: usize = 3;
const MOST_LOOKS: usize = 12;

/// Rounds that are made whatever time they take: by less than two looks nothing can be said.
const FEWEST_ROUNDS: usize = 2;

/// Like pairs that are measured beside those of the same groups.
const LIKE: usize = 3;

/// A node that looks bad is judged by so many pairs of its group.
const NEAR: usize = 3;

/// A cluster whose pairs can be measured again.
pub(crate) trait Again {
    fn cluster(&mut self) -> &mut Cluster;

    /// Measures a pair once more, and adds it to the cluster; nothing where it cannot be measured.
    fn measure(&mut self, pair: [usize; 2]);

    /// Whether there is time for another look, after so many of so many pairs of a round.
    fn may_go_on(&mut self, done: usize, of: usize) -> bool;
}

/// Looks at the pairs that look bad until they are well, or have had all their looks, or the time
/// is over.
pub(crate) fn look_again(again: &mut dyn Again) {
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
        // A pair that is in doubt itself is not one to compare others with.
        bad.extend(&suspects);
        let like = like(again.cluster(), &judgement, [&suspects, &bad], &mut rng);
        let mut order: Vec<[usize; 2]> =
            suspects.iter().chain(like.values().flatten()).copied().collect();
        order.sort_unstable();
        order.dedup();
        // A busy moment then hits suspects and their like by chance.
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

/// Finds the groups anew by the figures that count now: a busy moment may have hidden one.
fn regroup(cluster: &mut Cluster) {
    let mut known: PairValues = cluster
        .pairs
        .iter()
        .filter_map(|pair| Some((pair.nodes, pair.trip(SIZE_BYTES)?.median_ns)))
        .collect();
    if let Some(groups) = choice::groups(cluster.nodes.len(), &mut known) {
        cluster.groups = groups;
    }
}

/// The pairs to look at once more: better figures of some make others look worse, which then get as
/// many looks.
fn suspects(
    cluster: &Cluster,
    judgement: &ClusterJudgement,
    tries: &BTreeMap<[usize; 2], usize>,
) -> BTreeSet<[usize; 2]> {
    let open = cluster
        .pairs
        .iter()
        .filter(|pair| pair.beside.is_some_and(|beside| beside.is_open()))
        .map(|pair| pair.nodes);
    let open = open.filter(|pair| tries.get(pair).is_none_or(|tries| *tries < MOST_LOOKS));
    let bad = judgement
        .witnesses(cluster)
        .into_iter()
        .filter(|pair| tries.get(pair).is_none_or(|tries| *tries < FEWEST_LOOKS));
    open.chain(bad).collect()
}

/// Measures these pairs once more; the cluster keeps the better figures, and those of now are
/// returned; `None` where the time ends before all are measured.
fn look(
    again: &mut dyn Again,
    pairs: &[[usize; 2]],
    is_limited: bool,
) -> Option<BTreeMap<[usize; 2], NodePair>> {
    let mut seen = BTreeMap::new();
    for (at, pair) in pairs.iter().enumerate() {
        // It shows the progress as well, so that it is called in rounds without a limit, too.
        if !again.may_go_on(at, pairs.len()) && is_limited {
            return None;
        }
        let known = &mut again.cluster().pairs;
        // The old figures are taken out, as the measurement adds the new ones.
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

/// Measures more pairs of the nodes that look bad with others of their groups: by one slow way a
/// node cannot be told from the other. Whether some were measured.
fn look_near(again: &mut dyn Again, faults: &[ClusterFault]) -> bool {
    let before = again.cluster().pairs.len();
    let groups = again.cluster().groups.clone();
    // A fault with more nodes is a switch's, which their other pairs show.
    for name in faults.iter().filter(|fault| fault.nodes.len() <= 2).flat_map(|fault| &fault.nodes)
    {
        let Some(node) = again.cluster().nodes.iter().position(|known| known.name == *name) else {
            continue;
        };
        let near = groups.iter().find(|group| group.contains(&node)).into_iter().flatten();
        let pairs: BTreeSet<[usize; 2]> =
            again.cluster().pairs.iter().map(|known| known.nodes).collect();
        let (known, open): (Vec<[usize; 2]>, Vec<[usize; 2]>) = near
            .filter(|other| **other != node)
            .map(|other| [node.min(*other), node.max(*other)])
            .partition(|pair| pairs.contains(pair));
        for pair in open.into_iter().take(NEAR.saturating_sub(known.len())) {
            again.measure(pair);
        }
    }
    again.cluster().pairs.sort_by_key(|pair| pair.nodes);
    again.cluster().pairs.len() > before
}

/// Pairs to look at beside each suspect: a few of the same groups that are not bad, drawn anew for
/// each look.
pub(crate) fn like(
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
            // All suspects of a block share the like pairs, so that these are measured once.
            let all = drawn.entry(block).or_insert_with(|| {
                rng.shuffle(&mut like);
                like
            });
            // Where all are suspect, the pair is one of them: beside itself it would look well.
            let others = all.iter().filter(|like| *like != pair);
            (*pair, others.take(LIKE).copied().collect())
        })
        .collect()
}
