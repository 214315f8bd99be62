//! Distinguishes the faster and slower cores of a processor by the operating system's figures.

use crate::machine::CoreKind;
use std::collections::BTreeMap;

/// The speed of a PU according to the operating system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Speed {
    /// The type of its core, as the processor's number: Arm's implementer and part.
    pub core_type: Option<u64>,
    /// Linux's `cpu_capacity`: 1024 for the fastest PU of the machine.
    pub capacity: Option<u64>,
    /// The sustained frequency of the PU, in kHz.
    pub base_khz: Option<u64>,
    /// The highest frequency, in kHz.
    pub max_khz: Option<u64>,
}

/// The gap between two neighbouring speeds of different kinds, in per cent of the lower one. Cores
/// of one type differ by less: by silicon, turbo modes, and the firmware's ranking, which AMD's
/// driver shows as frequencies up to 3 % apart, 21 % in all (open-mpi/hwloc#690).
const GAP_PERCENT: u128 = 10;

/// Performance or efficiency core, for each of these speeds; all `None` if they are alike.
///
/// Cores of one type are of one kind, whatever their clocks. If the types differ or are unknown,
/// the capacity decides if all have one and it differs, then all base frequencies, then the highest
/// ones. The fastest kind ends at the first gap of more than 10 % between two neighbouring speeds.
///
/// ```
/// # use seatmap_data::machine::{CoreKind, Speed, speed::kinds_of};
/// let speed = |capacity| Speed { capacity: Some(capacity), ..Speed::default() };
/// let kinds = kinds_of(&[speed(1024), speed(1009), speed(446)]);
/// let [fast, slow] = [CoreKind::Performance, CoreKind::Efficiency].map(Some);
/// assert_eq!(kinds, [fast, fast, slow]);
/// ```
#[must_use]
pub fn kinds_of(speeds: &[Speed]) -> Vec<Option<CoreKind>> {
    let types = all_of(speeds, |speed| speed.core_type);
    let known = all_of(speeds, |speed| speed.capacity)
        .filter(|capacities| slowest_of_fastest(capacities).is_some())
        // Equal base frequencies show that higher ones are turbo modes (open-mpi/hwloc#502).
        .or_else(|| all_of(speeds, |speed| speed.base_khz))
        .or_else(|| all_of(speeds, |speed| speed.max_khz));
    let Some(known) = known else { return vec![None; speeds.len()] };
    let levelled = types.map_or_else(|| known.clone(), |types| fastest_of_type(&known, &types));
    let Some(least) = slowest_of_fastest(&levelled) else { return vec![None; speeds.len()] };
    let is_fast = levelled.into_iter().map(|value| value >= least);
    is_fast
        .map(|is_fast| Some(if is_fast { CoreKind::Performance } else { CoreKind::Efficiency }))
        .collect()
}

fn all_of(speeds: &[Speed], measure: fn(&Speed) -> Option<u64>) -> Option<Vec<u64>> {
    speeds.iter().map(measure).collect()
}

fn fastest_of_type(values: &[u64], types: &[u64]) -> Vec<u64> {
    let mut fastest: BTreeMap<u64, u64> = BTreeMap::new();
    for (value, core_type) in values.iter().zip(types) {
        let of_type = fastest.entry(*core_type).or_default();
        *of_type = (*of_type).max(*value);
    }
    types.iter().filter_map(|core_type| fastest.get(core_type)).copied().collect()
}

/// The lowest speed above the first gap, from the fastest down; `None` if there is no gap.
fn slowest_of_fastest(values: &[u64]) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let pairs = sorted.windows(2).rev().map(|pair| [pair[0], pair[1]]);
    let mut gaps = pairs.filter(|[lower, higher]| {
        u128::from(*higher) * 100 > u128::from(*lower) * (100 + GAP_PERCENT)
    });
    gaps.next().map(|[_, higher]| higher)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const P: Option<CoreKind> = Some(CoreKind::Performance);
    const E: Option<CoreKind> = Some(CoreKind::Efficiency);

    fn clocked(base_khz: u64, max_khz: u64) -> Speed {
        Speed { base_khz: Some(base_khz), max_khz: Some(max_khz), ..Speed::default() }
    }

    fn reaching(values: &[u64]) -> Vec<Speed> {
        values.iter().map(|khz| Speed { max_khz: Some(*khz), ..Speed::default() }).collect()
    }

    #[test]
    fn first_differing_measure_decides_core_kinds() {
        assert_eq!(kinds_of(&[clocked(1900, 5000), clocked(1400, 3900)]), [P, E]);
        assert_eq!(kinds_of(&reaching(&[5000, 3900])), [P, E]);
        let with = |capacity| Speed { capacity: Some(capacity), ..clocked(1900 - capacity, 5000) };
        assert_eq!(kinds_of(&[with(300), with(1000)]), [E, P]);
    }

    #[test]
    fn equal_speeds_have_no_kinds() {
        assert_eq!(kinds_of(&[clocked(2000, 5200), clocked(2000, 3900)]), [None, None]);
        assert_eq!(kinds_of(&[clocked(2000, 5200), Speed::default()]), [None, None]);
        assert_eq!(kinds_of(&[]), []);
    }

    #[test]
    fn gap_between_neighbours_separates_kinds() {
        let ranked = [5352, 5517, 5677, 5837, 6001, 6161, 6321, 6482];
        assert_eq!(kinds_of(&reaching(&ranked)), [None; 8], "a Threadripper PRO 7975WX");
        let binned = reaching(&[2500, 2400, 2300, 2200, 1800]);
        assert_eq!(kinds_of(&binned), [P, P, P, P, E], "a CIX P1");
        assert_eq!(kinds_of(&reaching(&[3000, 2000, 1000])), [P, E, E]);
    }

    #[test]
    fn one_core_type_is_one_kind() {
        let of =
            |core_type, max_khz| Speed { core_type: Some(core_type), ..reaching(&[max_khz])[0] };
        assert_eq!(kinds_of(&[of(1, 4200), of(1, 3400)]), [None, None]);
        assert_eq!(kinds_of(&[of(1, 2500), of(1, 2200), of(2, 1800)]), [P, P, E]);
        assert_eq!(kinds_of(&[of(1, 2500), of(1, 2000), of(2, 2400)]), [None; 3]);
    }

    proptest! {
        #[test]
        fn fast_kind_exists_exactly_with_slow_kind(values in prop::collection::vec(any::<u64>(), 0..20)) {
            let speeds: Vec<Speed> = values.iter().map(|khz| clocked(1, *khz)).collect();
            let kinds = kinds_of(&speeds);
            prop_assert_eq!(kinds.len(), speeds.len());
            prop_assert_eq!(kinds.contains(&E), kinds.contains(&P));
        }
    }
}
