//! The choice of mappings of a study.

use super::error::SetupError;
use super::{TaskMapping, named::named};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Nine tasks have 40,320 mappings; ten have 362,880, which take too long.
pub const MOST_EXHAUSTIVE_TASKS: usize = 9;
/// Mappings of the largest sample.
pub const LARGEST_SAMPLE: u64 = 1_000_000;

/// The mappings to run: all, or some.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MappingChoice {
    /// Only this many: the named ones first, the others at random.
    #[cfg_attr(feature = "schema", schemars(default, range(min = 1)))]
    pub sample: Option<u64>,
    /// Only one of each two mirror images.
    pub is_reduced_by_symmetry: bool,
}

impl MappingChoice {
    /// The mappings' indices in lexicographic order, ascending. `seed` draws the sample.
    ///
    /// # Errors
    /// [`SetupError`]: too many to run them all, or none.
    pub fn indices(self, tasks: usize, seed: u64) -> Result<Vec<u64>, SetupError> {
        let Some(count) = TaskMapping::count(tasks).filter(|_| tasks >= 2) else {
            return Err(SetupError::Tasks(tasks));
        };
        // From three tasks on, no mapping of the reduced ring is its own mirror image.
        let distinct = if self.is_reduced_by_symmetry && tasks > 2 { count / 2 } else { count };
        match self.sample {
            Some(0) => Err(SetupError::EmptySample),
            Some(sample) if sample > LARGEST_SAMPLE => Err(SetupError::LargeSample(sample)),
            Some(sample) if sample < distinct => Ok(self.drawn(tasks, count, sample, seed)),
            _ if tasks > MOST_EXHAUSTIVE_TASKS => {
                Err(SetupError::Exhaustive { tasks, mappings: count })
            }
            _ => Ok((0..count).filter(|index| self.canonical(tasks, *index) == *index).collect()),
        }
    }

    fn canonical(self, tasks: usize, index: u64) -> u64 {
        if self.is_reduced_by_symmetry {
            index.min(
                TaskMapping::nth(tasks, index).map_or(index, |mapping| mapping.mirrored().index()),
            )
        } else {
            index
        }
    }

    /// The named ones, then others by rejection, which ends because a sample is incomplete.
    fn drawn(self, tasks: usize, count: u64, sample: u64, seed: u64) -> Vec<u64> {
        let mut rng = fastrand::Rng::with_seed(seed);
        // For comparison, every sample includes the named mappings.
        let named = named(tasks).into_iter().map(|(_, mapping)| mapping.index());
        let mut candidates = named.chain(std::iter::repeat_with(|| rng.u64(..count)));
        let mut drawn = BTreeSet::new();
        while (drawn.len() as u64) < sample {
            drawn.extend(candidates.next().map(|index| self.canonical(tasks, index)));
        }
        // `Times` bisects them.
        drawn.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const REDUCED: MappingChoice = MappingChoice { sample: None, is_reduced_by_symmetry: true };

    #[test]
    fn symmetry_halves_all_mappings() {
        assert_eq!(MappingChoice::default().indices(6, 1).unwrap(), (0..120).collect::<Vec<_>>());
        let half = REDUCED.indices(6, 1).unwrap();
        let mirrored = |index: &u64| TaskMapping::nth(6, *index).unwrap().mirrored().index();
        let mut both: Vec<u64> = half.iter().copied().chain(half.iter().map(mirrored)).collect();
        both.sort_unstable();
        assert_eq!(both, (0..120).collect::<Vec<_>>());
        assert_eq!(REDUCED.indices(2, 1).unwrap(), [0]);
    }

    #[test]
    fn impossible_choices_are_refused() {
        let refused =
            |choice: MappingChoice, tasks| choice.indices(tasks, 1).unwrap_err().to_string();
        insta::assert_snapshot!(refused(MappingChoice::default(), 10), @"10 tasks have 362880 mappings, too many to run them all; --sample 1000 runs that many");
        insta::assert_snapshot!(refused(MappingChoice::default(), 1), @"1 tasks cannot be ranked: a ring has 2 to 21");
        insta::assert_snapshot!(refused(MappingChoice { sample: Some(0), ..REDUCED }, 6), @"a sample of no mappings has no ranks; --sample 100 draws a hundred");
        assert!(
            refused(MappingChoice { sample: Some(u64::MAX), ..REDUCED }, 20).contains("1000000")
        );
    }

    proptest! {
        #[test]
        fn sample_has_named_mappings_without_duplicates(tasks in 3usize..14, sample in 1u64..400, reduced: bool, seed: u64) {
            let choice = MappingChoice { sample: Some(sample), is_reduced_by_symmetry: reduced };
            let drawn = choice.indices(tasks, seed).unwrap();
            prop_assert!(drawn.is_sorted_by(|a, b| a < b));
            prop_assert_eq!(drawn.len() as u64, sample.min(TaskMapping::count(tasks).unwrap() / if reduced { 2 } else { 1 }));
            prop_assert!(drawn.iter().all(|index| choice.canonical(tasks, *index) == *index));
            prop_assert_eq!(drawn[0], 0, "the identity");
            prop_assert_eq!(choice.indices(tasks, seed).unwrap(), drawn);
        }
    }
}
