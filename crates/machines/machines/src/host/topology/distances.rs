//! Groups of NUMA nodes that are nearer to each other than to the other nodes.
//!
//! PUs do not share these groups as a level, but they order the parts inside: if packages are
//! linked in pairs, the cores of a pair have adjacent numbers.

use super::nodes::NodeCpus;
use seatmap_os::CpuSet;

/// The CPUs of each group, the smallest groups first: nodes linked over the least distance, then
/// groups of such groups. Empty for contradictory distances.
pub fn groups(nodes: &[NodeCpus], distances: &[Vec<u64>]) -> Vec<CpuSet> {
    let mut sets: Vec<CpuSet> = nodes.iter().map(|node| node.cpus.clone()).collect();
    let mut matrix: Vec<Vec<u64>> = distances.to_vec();
    let mut found = Vec::new();
    if !is_sound(&matrix) {
        return found;
    }
    // Two groups are only the halves of the machine; hwloc stops there, too.
    while sets.len() > 2 {
        let groups = nearest(&matrix);
        if groups.is_empty() {
            break;
        }
        let union = |group: &Vec<usize>| {
            group.iter().fold(CpuSet::default(), |all, at| all.with(&sets[*at]))
        };
        sets = groups.iter().map(union).collect();
        matrix = groups
            .iter()
            .map(|from| groups.iter().map(|to| mean(&matrix, from, to)).collect())
            .collect();
        found.extend_from_slice(&sets);
    }
    found
}

/// Whether the distances are equal both ways, and each node is nearest to itself.
fn is_sound(matrix: &[Vec<u64>]) -> bool {
    (0..matrix.len())
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .all(|(i, j)| matrix[i][j] == matrix[j][i] && matrix[i][j] > matrix[i][i].max(matrix[j][j]))
}

/// The sets of nodes linked by the least distance, directly or through others; empty if one set
/// holds all nodes.
fn nearest(matrix: &[Vec<u64>]) -> Vec<Vec<usize>> {
    let all = 0..matrix.len();
    let pairs = all.clone().flat_map(|i| (0..i).map(move |j| (i, j)));
    let Some(least) = pairs.map(|(i, j)| matrix[i][j]).min() else { return Vec::new() };
    let mut taken = vec![false; matrix.len()];
    let mut groups = Vec::new();
    for start in all.clone() {
        let mut group = Vec::new();
        let mut edge = vec![start];
        while let Some(from) = edge.pop() {
            if !std::mem::replace(&mut taken[from], true) {
                group.push(from);
                edge.extend(all.clone().filter(|to| *to != from && matrix[from][*to] == least));
            }
        }
        if group.len() > 1 {
            groups.push(group);
        }
    }
    // Equally far nodes form no groups.
    let is_everything = groups.iter().any(|group| group.len() == matrix.len());
    if is_everything { Vec::new() } else { groups }
}

fn mean(matrix: &[Vec<u64>], from: &[usize], to: &[usize]) -> u64 {
    let sum =
        from.iter().flat_map(|i| to.iter().map(|j| matrix[*i][*j])).fold(0, u64::saturating_add);
    sum / (from.len() * to.len()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rows: &[&[u64]]) -> Vec<Vec<u32>> {
        let nodes: Vec<NodeCpus> =
            (0..rows.len() as u32).map(|os| NodeCpus { os, cpus: CpuSet::single(os) }).collect();
        let matrix: Vec<Vec<u64>> = rows.iter().map(|row| row.to_vec()).collect();
        groups(&nodes, &matrix).iter().map(|set| set.iter().collect()).collect()
    }

    #[test]
    fn distance_groups_nest_in_pairs() {
        let pairs: [&[u64]; 4] =
            [&[10, 30, 20, 30], &[30, 10, 30, 20], &[20, 30, 10, 30], &[30, 20, 30, 10]];
        assert_eq!(found(&pairs), [vec![0, 2], vec![1, 3]]);
        let row = |at: u64| {
            (0..8)
                .map(|to| if at == to { 10 } else { 11 + (at ^ to).ilog2() as u64 * 10 })
                .collect()
        };
        let eight: Vec<Vec<u64>> = (0..8).map(row).collect();
        let rows: Vec<&[u64]> = eight.iter().map(Vec::as_slice).collect();
        let expected =
            [vec![0, 1], vec![2, 3], vec![4, 5], vec![6, 7], vec![0, 1, 2, 3], vec![4, 5, 6, 7]];
        assert_eq!(found(&rows), expected);
    }

    #[test]
    fn equal_or_asymmetric_distances_form_no_groups() {
        assert!(found(&[&[10, 20, 20], &[20, 10, 20], &[20, 20, 10]]).is_empty());
        assert!(found(&[&[10, 20, 30], &[21, 10, 30], &[30, 30, 10]]).is_empty());
        assert!(found(&[&[10, 10], &[10, 10]]).is_empty());
    }
}
