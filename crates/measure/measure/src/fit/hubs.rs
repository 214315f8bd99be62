//! The PUs from which lines are measured, in place of all pairs.

use super::linkage;
use std::collections::HashSet;

/// The rows of `count` good hubs, the most helpful first. They alternate between the groups, from
/// the last: the line's home is usually in the first, so the last group's rows agree least and most
/// need a second hub. Inside a group, hubs are evenly spread over the cores; none are siblings.
pub fn choose(group: &[usize], core: &[usize], count: usize) -> Vec<usize> {
    let groups = linkage::count(group);
    let mut seen = HashSet::new();
    let mut members = vec![Vec::new(); groups];
    for (pu, (group, core)) in group.iter().zip(core).enumerate() {
        if seen.insert(core) {
            members[groups - 1 - group].push(pu);
        }
    }
    let spread: Vec<Vec<usize>> = members
        .iter()
        .enumerate()
        .map(|(at, pus)| {
            let share = count / groups + usize::from(at < count % groups);
            (0..share.min(pus.len())).map(|k| pus[(k + 1) * pus.len() / (share + 1)]).collect()
        })
        .collect();
    let rounds = spread.iter().map(Vec::len).max().unwrap_or(0);
    (0..rounds)
        .flat_map(|round| spread.iter().filter_map(move |hubs| hubs.get(round).copied()))
        .collect()
}
