//! Measures bad-looking pairs again. A busy moment makes a connection look slow, and nothing makes
//! it look too fast, so the better figures count.

use crate::choice::{self, CHOSEN_BY};
use crate::cluster::Cluster;
use crate::judge::{ClusterFault, ClusterJudgement};
use std::collections::{BTreeMap, BTreeSet};

/// A computer that spoils four figures in ten spoils those of all these looks in one pair of 600.
const LOOKS: usize = 6;

/// A bad-looking node is judged by at least this many pairs of its group.
const NEAR: usize = 3;

pub trait Again {
    fn cluster(&mut self) -> &mut Cluster;

    fn measure(&mut self, pair: [usize; 2]);

    /// Whether time is left after `done` of `of` pairs.
    fn may_go_on(&mut self, done: usize, of: usize) -> bool;
}

pub fn look_again(again: &mut dyn Again) {
    let mut looks = BTreeMap::<[usize; 2], usize>::new();
    loop {
        regroup(again.cluster());
        let mut judgement = ClusterJudgement::of(again.cluster());
        if look_near(again, &judgement.faults) {
            judgement = ClusterJudgement::of(again.cluster());
        }
        let mut witnesses = judgement.witnesses(again.cluster());
        witnesses.retain(|pair| looks.get(pair).is_none_or(|looks| *looks < LOOKS));
        for (at, pair) in witnesses.iter().enumerate() {
            if !again.may_go_on(at, witnesses.len()) {
                return;
            }
            *looks.entry(*pair).or_default() += 1;
            look(again, *pair);
        }
        if witnesses.is_empty() {
            return;
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

/// The cluster keeps the better figures.
fn look(again: &mut dyn Again, pair: [usize; 2]) {
    let before = again.cluster().pairs.len();
    again.measure(pair);
    let pairs = &mut again.cluster().pairs;
    // A failed measurement adds none.
    for now in pairs.split_off(before) {
        let known = pairs.iter_mut().find(|known| known.nodes == pair);
        known.into_iter().for_each(|known| known.keep_better(now.clone()));
    }
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
