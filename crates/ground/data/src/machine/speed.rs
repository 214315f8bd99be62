//! Distinguishes the stronger and weaker cores of a processor by the operating system's figures.

use crate::machine::CoreKind;
use std::collections::BTreeMap;

/// The speed of a PU according to the operating system.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Speed {
    /// Type of its core, as the processor's number: Arm's implementer and part.
    pub core_type: Option<u64>,
    /// Linux's `cpu_capacity`: 1024 for the fastest PU of the machine.
    pub capacity: Option<u64>,
    /// Sustained frequency of the PU, in kHz.
    pub base_khz: Option<u64>,
    /// Highest frequency, in kHz.
    pub max_khz: Option<u64>,
}

/// The gap between two neighbouring speeds of different kinds, in per cent of the lower one. Cores
/// of one type differ by less: by silicon, turbo modes, and the firmware's ranking, which AMD's
/// driver shows as frequencies up to 3 % apart, 21 % in all (open-mpi/hwloc#690).
const GAP_PERCENT: u128 = 10;

const fn arm_type(implementer: u64, part: u64) -> u64 {
    implementer << 24 | part << 4
}

/// Arm's small types of core, from the kernel's `arch/arm64/include/asm/cputype.h` and
/// `arch/arm/include/asm/cputype.h`.
const SMALL_TYPES: [u64; 21] = [
    // Cortex-A5, A7, A34, A35, A53, A55, A65, A65AE, A510, A520, A320, C1-Nano.
    arm_type(0x41, 0xc05),
    arm_type(0x41, 0xc07),
    arm_type(0x41, 0xd02),
    arm_type(0x41, 0xd04),
    arm_type(0x41, 0xd03),
    arm_type(0x41, 0xd05),
    arm_type(0x41, 0xd06),
    arm_type(0x41, 0xd43),
    arm_type(0x41, 0xd46),
    arm_type(0x41, 0xd80),
    arm_type(0x41, 0xd8f),
    arm_type(0x41, 0xd8a),
    // Qualcomm's Kryo 2xx, 3xx and 4xx Silver.
    arm_type(0x51, 0x801),
    arm_type(0x51, 0x803),
    arm_type(0x51, 0x805),
    // Apple's Icestorm and Blizzard.
    arm_type(0x61, 0x022),
    arm_type(0x61, 0x024),
    arm_type(0x61, 0x028),
    arm_type(0x61, 0x032),
    arm_type(0x61, 0x034),
    arm_type(0x61, 0x038),
];

/// The kind of each of these cores; all `None` if they are alike.
///
/// Cores of one type are of one kind, whatever their clocks. Several types are ordered by capacity
/// if all have one and it differs, else small types come first and the others by their clocks. If
/// types are unknown, the capacity decides, then all base frequencies, then the highest ones. A
/// kind ends at a gap of more than 10 % between two neighbouring speeds.
///
/// ```
/// # use seatmap_data::machine::{CoreKind, Speed, speed::kinds_of};
/// let speed = |capacity| Speed { capacity: Some(capacity), ..Speed::default() };
/// let kinds = kinds_of(&[speed(1024), speed(1009), speed(446)]);
/// let [fast, slow] = [CoreKind::Performance, CoreKind::Efficiency].map(Some);
/// assert_eq!(kinds, [fast, fast, slow]);
/// ```
pub fn kinds_of(speeds: &[Speed]) -> Vec<Option<CoreKind>> {
    let none = vec![None; speeds.len()];
    let types = all_of(speeds, |speed| speed.core_type);
    let Some(known) = deciding(speeds, types.as_deref()) else { return none };
    let levelled = types.map_or_else(|| known.clone(), |types| fastest_of_type(&known, &types));
    let Some(ends) = EndKinds::of(&levelled) else { return none };
    levelled.into_iter().map(|value| Some(ends.kind(value))).collect()
}

/// The figure that distinguishes these cores.
fn deciding(speeds: &[Speed], types: Option<&[u64]>) -> Option<Vec<u64>> {
    let capacities = all_of(speeds, |speed| speed.capacity);
    if capacities.as_ref().is_some_and(|capacities| EndKinds::of(capacities).is_some()) {
        return capacities;
    }
    // Equal base frequencies show that higher ones are turbo modes (open-mpi/hwloc#502).
    let clocks =
        all_of(speeds, |speed| speed.base_khz).or_else(|| all_of(speeds, |speed| speed.max_khz));
    let Some(types) = types.filter(|types| types.iter().any(is_small)) else { return clocks };
    if types.iter().all(is_small) {
        return clocks;
    }
    let clocks = clocks.unwrap_or_else(|| vec![1; types.len()]);
    let ranked = types.iter().zip(clocks);
    Some(ranked.map(|(core_type, khz)| if is_small(core_type) { 0 } else { khz }).collect())
}

fn is_small(core_type: &u64) -> bool {
    SMALL_TYPES.contains(core_type)
}

/// Whether cores with these figures are of different kinds.
pub fn are_apart(values: &[u64]) -> bool {
    EndKinds::of(values).is_some()
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

/// The strongest and the weakest kind, by their ends nearest to the others.
struct EndKinds {
    lowest_of_strongest: u64,
    highest_of_weakest: u64,
}

impl EndKinds {
    /// `None` without a gap.
    fn of(values: &[u64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let is_gap =
            |pair: &&[u64]| u128::from(pair[1]) * 100 > u128::from(pair[0]) * (100 + GAP_PERCENT);
        let first = sorted.windows(2).find(is_gap)?;
        let last = sorted.windows(2).rfind(is_gap)?;
        Some(EndKinds { lowest_of_strongest: last[1], highest_of_weakest: first[0] })
    }

    fn kind(&self, value: u64) -> CoreKind {
        if value >= self.lowest_of_strongest {
            CoreKind::Performance
        } else if value <= self.highest_of_weakest {
            CoreKind::Efficiency
        } else {
            CoreKind::Middle
        }
    }
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
    fn big_types_are_ordered_by_clock_without_capacities() {
        let core = |part, max_khz| Speed {
            core_type: Some(arm_type(0x41, part)),
            max_khz: Some(max_khz),
            ..Speed::default()
        };
        let [little, big] = [core(0xd46, 2_016_000), core(0xd4d, 2_803_200)];
        let kinds = kinds_of(&[little, big, core(0xd4e, 3_187_200)]);
        assert_eq!(kinds, [E, Some(CoreKind::Middle), P], "a Snapdragon 8 Gen 2");
        assert_eq!(kinds_of(&[little, big, core(0xd4e, 2_900_000)]), [E, P, P], "within a tenth");
        let unclocked = |part| Speed { max_khz: None, ..core(part, 0) };
        assert_eq!(kinds_of(&[0xd8a, 0xd4d, 0xd4e].map(unclocked)), [E, P, P]);
    }

    #[test]
    fn gap_between_neighbours_separates_kinds() {
        let ranked = [5352, 5517, 5677, 5837, 6001, 6161, 6321, 6482];
        assert_eq!(kinds_of(&reaching(&ranked)), [None; 8], "a Threadripper PRO 7975WX");
        let binned = reaching(&[2500, 2400, 2300, 2200, 1800]);
        assert_eq!(kinds_of(&binned), [P, P, P, P, E], "a CIX P1");
        let middle = Some(CoreKind::Middle);
        assert_eq!(kinds_of(&reaching(&[3000, 2000, 1000])), [P, middle, E]);
    }

    #[test]
    fn one_core_type_is_one_kind() {
        let of =
            |core_type, max_khz| Speed { core_type: Some(core_type), ..reaching(&[max_khz])[0] };
        assert_eq!(kinds_of(&[of(1, 4200), of(1, 3400)]), [None, None]);
        assert_eq!(kinds_of(&[of(1, 2500), of(1, 2200), of(2, 1800)]), [P, P, E]);
        assert_eq!(kinds_of(&[of(1, 2500), of(1, 2000), of(2, 2400)]), [None; 3]);
        let [a53, a73] = [arm_type(0x41, 0xd03), arm_type(0x41, 0xd09)];
        assert_eq!(kinds_of(&[of(a53, 1992), of(a73, 1908)]), [E, P], "an Odroid N2");
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
