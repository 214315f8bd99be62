//! The faster and slower cores of a processor, by the operating system's figures for each.

use crate::CoreKind;

/// How fast a PU is, as far as the operating system says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Speed {
    /// Linux's `cpu_capacity`: 1024 for the fastest PU of the machine.
    pub capacity: Option<u64>,
    /// The frequency that the PU can hold, in kHz.
    pub base_khz: Option<u64>,
    /// The highest frequency, in kHz.
    pub max_khz: Option<u64>,
}

/// Performance or efficiency core, for each of these speeds; all `None` where they are alike.
///
/// The capacity decides where it is known of all and differs, then the base frequency, then the
/// highest frequency. Speeds within 10 % of the fastest are of one kind: turbo modes let some cores
/// of a kind clock a little higher.
///
/// ```
/// # use seatmap_machine::{CoreKind, Speed, speed::kinds_of};
/// let speed = |capacity| Speed { capacity: Some(capacity), ..Speed::default() };
/// let kinds = kinds_of(&[speed(1024), speed(1009), speed(446)]);
/// assert_eq!(kinds, [CoreKind::Performance, CoreKind::Performance, CoreKind::Efficiency].map(Some));
/// ```
#[must_use]
pub fn kinds_of(speeds: &[Speed]) -> Vec<Option<CoreKind>> {
    let measures: [fn(&Speed) -> Option<u64>; 3] =
        [|speed| speed.capacity, |speed| speed.base_khz, |speed| speed.max_khz];
    let kinds = measures.into_iter().find_map(|measure| kinds_by(speeds, measure));
    kinds.unwrap_or_else(|| vec![None; speeds.len()])
}

/// `None` where the measure is not known of all, or tells no two of them apart.
fn kinds_by(speeds: &[Speed], measure: fn(&Speed) -> Option<u64>) -> Option<Vec<Option<CoreKind>>> {
    let values = speeds.iter().map(measure).collect::<Option<Vec<u64>>>()?;
    let fastest = u128::from(*values.iter().max()?);
    let differ = values.iter().any(|value| !is_fast(fastest, *value));
    differ.then(|| {
        values
            .into_iter()
            .map(|value| {
                Some(if is_fast(fastest, value) {
                    CoreKind::Performance
                } else {
                    CoreKind::Efficiency
                })
            })
            .collect()
    })
}

fn is_fast(fastest: u128, value: u64) -> bool {
    // Within a tenth of the fastest, in whole numbers.
    u128::from(value) * 110 >= fastest * 100
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const P: Option<CoreKind> = Some(CoreKind::Performance);
    const E: Option<CoreKind> = Some(CoreKind::Efficiency);

    fn clocked(base_khz: u64, max_khz: u64) -> Speed {
        Speed { capacity: None, base_khz: Some(base_khz), max_khz: Some(max_khz) }
    }

    #[test]
    fn the_first_measure_that_differs_decides() {
        assert_eq!(kinds_of(&[clocked(1900, 5000), clocked(1400, 3900)]), [P, E]);
        assert_eq!(kinds_of(&[clocked(1900, 5000), clocked(1900, 3900)]), [P, E]);
        let with = |capacity| Speed { capacity: Some(capacity), ..clocked(1900 - capacity, 5000) };
        assert_eq!(kinds_of(&[with(300), with(1000)]), [E, P]);
    }

    #[test]
    fn alike_is_no_kind() {
        assert_eq!(kinds_of(&[clocked(2000, 5200), clocked(2000, 5000)]), [None, None]);
        assert_eq!(kinds_of(&[clocked(2000, 5200), Speed::default()]), [None, None]);
        assert_eq!(kinds_of(&[]), []);
    }

    proptest! {
        #[test]
        fn some_are_fast_where_any_is_slow(values in prop::collection::vec(any::<u64>(), 0..20)) {
            let speeds: Vec<Speed> = values.iter().map(|khz| clocked(1, *khz)).collect();
            let kinds = kinds_of(&speeds);
            prop_assert_eq!(kinds.len(), speeds.len());
            prop_assert_eq!(kinds.contains(&E), kinds.contains(&P));
        }
    }
}
