//! The order of visits to pairs.

use std::collections::HashSet;

/// All unordered pairs of n PUs, as indices.
pub fn all_pairs(n: usize) -> Vec<(usize, usize)> {
    (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect()
}

/// The rounds of one pass in random order: each pair once, and simultaneous pairs share no group.
///
/// `group_of[i]` is the traffic group of PU i, for example its cache group. If `together` is 1, or
/// with a single group, each round has one pair. First-fit packing into the latest rounds keeps
/// memory and time linear.
pub fn rounds(
    pairs: &[(usize, usize)],
    group_of: &[usize],
    together: usize,
    seed: u64,
) -> Vec<Vec<(usize, usize)>> {
    let mut order = pairs.to_vec();
    fastrand::Rng::with_seed(seed).shuffle(&mut order);
    if together <= 1 {
        return order.into_iter().map(|pair| vec![pair]).collect();
    }
    let mut rounds: Vec<Round> = Vec::new();
    for pair in order {
        let groups = [group_of[pair.0], group_of[pair.1]];
        let recent = rounds.len().saturating_sub(OPEN_ROUNDS);
        match rounds[recent..].iter_mut().find(|round| round.takes(groups, together)) {
            Some(round) => round.add(pair, groups),
            None => rounds.push(Round { pairs: vec![pair], groups: groups.into() }),
        }
    }
    rounds.into_iter().map(|round| round.pairs).collect()
}

/// The number of latest rounds considered.
const OPEN_ROUNDS: usize = 64;

struct Round {
    pairs: Vec<(usize, usize)>,
    groups: HashSet<usize>,
}

impl Round {
    fn takes(&self, groups: [usize; 2], together: usize) -> bool {
        self.pairs.len() < together && groups.iter().all(|group| !self.groups.contains(group))
    }

    fn add(&mut self, pair: (usize, usize), groups: [usize; 2]) {
        self.pairs.push(pair);
        self.groups.extend(groups);
    }
}

/// `pairs` random disjoint pairs of n PUs.
pub fn random_pairing(n: usize, pairs: usize, rng: &mut fastrand::Rng) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..n).collect();
    rng.shuffle(&mut order);
    order.chunks_exact(2).take(pairs).map(|two| (two[0], two[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rounds_visit_each_pair_once_with_disjoint_groups(n in 2usize..24, groups in 1usize..6, together in 1usize..8, seed: u64) {
            let group_of: Vec<usize> = (0..n).map(|pu| pu % groups).collect();
            let rounds = rounds(&all_pairs(n), &group_of, together, seed);
            let mut seen: Vec<_> = rounds.iter().flatten().copied().collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, all_pairs(n));
            for round in &rounds {
                prop_assert!(round.len() <= together);
                let mut used = HashSet::new();
                for (i, j) in round {
                    let touched: HashSet<usize> = [group_of[*i], group_of[*j]].into();
                    prop_assert!(touched.iter().all(|group| used.insert(*group)));
                }
            }
        }

        #[test]
        fn random_pairing_is_disjoint(n in 2usize..40, seed: u64) {
            let drawn = random_pairing(n, n / 2, &mut fastrand::Rng::with_seed(seed));
            prop_assert_eq!(drawn.len(), n / 2);
            let used: HashSet<usize> = drawn.iter().flat_map(|(a, b)| [*a, *b]).collect();
            prop_assert_eq!(used.len(), 2 * drawn.len());
        }
    }

    #[test]
    fn order_of_pairs_depends_on_the_seed() {
        let pairs = all_pairs(8);
        assert_ne!(rounds(&pairs, &[0; 8], 1, 1), rounds(&pairs, &[0; 8], 1, 2));
        assert_eq!(rounds(&pairs, &[0; 8], 1, 1), rounds(&pairs, &[0; 8], 1, 1));
    }
}
