//! Random patterns, the same on every machine and in every version of every library.

use super::{Edges, at_most, count, number};
use crate::pattern::Edge;
use crate::statistics::random::split_mix;
use crate::statistics::words::counted;
use std::collections::BTreeSet;

/// `N:DEGREE:SEED`: each of N tasks sends to DEGREE others.
pub fn random(numbers: &str) -> Result<Edges, String> {
    let parts: Vec<&str> = numbers.split(':').collect();
    let [tasks, degree, seed] = parts[..] else {
        return Err("expected three numbers".to_owned());
    };
    let tasks = count(tasks)?;
    let degree = number::<usize>(degree)?;
    let mut state = number::<u64>(seed)?;
    if degree >= tasks {
        return Err(format!(
            "with {tasks}, each has fewer than {degree}",
            degree = counted(degree, "other"),
            tasks = counted(tasks, "task")
        ));
    }
    at_most(tasks.saturating_mul(degree))?;
    let edges = (0..tasks).flat_map(|task| {
        let drawn = draw(tasks - 1, degree, &mut state);
        drawn.into_iter().map(move |other| Edge::unit(task, other + usize::from(other >= task)))
    });
    Ok((tasks, edges.collect()))
}

/// Draws `count` distinct numbers below a bound, by Floyd's method (Bentley & Floyd 1987).
fn draw(bound: usize, count: usize, state: &mut u64) -> BTreeSet<usize> {
    let mut drawn = BTreeSet::new();
    for last in bound - count..bound {
        let number = (split_mix(state) % (last as u64 + 1)) as usize;
        drawn.insert(if drawn.contains(&number) { last } else { number });
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_mix_matches_published_outputs() {
        // The first outputs of the published generator from seed 0.
        let mut state = 0;
        assert_eq!(
            [split_mix(&mut state), split_mix(&mut state)],
            [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]
        );
    }

    #[test]
    fn random_pattern_depends_only_on_seed() {
        let (_, edges) = random("5:2:1").unwrap();
        let ends: Vec<_> = edges.iter().map(|edge| (edge.from, edge.to)).collect();
        insta::assert_compact_debug_snapshot!(ends, @"[(0, 3), (0, 4), (1, 0), (1, 4), (2, 0), (2, 4), (3, 0), (3, 1), (4, 0), (4, 2)]");
    }
}
