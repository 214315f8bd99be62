//! Converts one-way figures, one for each direction of each pair, into core distances.

use super::ProfileNote;
use crate::machine::Matrix;
use crate::machine::nanoseconds::MAX_ROUND_TRIP_NS;

pub const MAX_ONE_WAY_NS: f64 = MAX_ROUND_TRIP_NS / 2.0;

/// Directions closer than this share of their sum count as equal, because figures are rounded.
const EQUAL_SHARE: f64 = 1e-6;

/// Round trips from one-way figures in the same unit; a negative or NaN figure is missing.
///
/// The two directions of a round trip add up. A missing one is as long as the other, so a lower
/// triangle becomes a whole matrix.
pub fn from_one_way(n: usize, one_way: impl Fn(usize, usize) -> f64) -> (Matrix, Vec<ProfileNote>) {
    let mut matrix = Matrix::filled(n, 0.0);
    let mut unknown = 0;
    let mut asymmetric = 0;
    let mut worst = 0.0_f64;
    for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
        let there = known(one_way(i, j));
        let back = known(one_way(j, i));
        let sum = match (there, back) {
            (Some(there), Some(back)) => there + back,
            (Some(one), None) | (None, Some(one)) => 2.0 * one,
            (None, None) => f64::NAN,
        };
        // Two figures of 0 make it NaN, which neither comparison below counts.
        let difference = there.zip(back).map_or(0.0, |(there, back)| (there - back).abs() / sum);
        unknown += usize::from(sum.is_nan());
        asymmetric += usize::from(difference > EQUAL_SHARE);
        worst = worst.max(difference);
        matrix.set_both(i, j, sum);
    }
    let unknown = (unknown > 0).then_some(ProfileNote::Unknown { pairs: unknown });
    let asymmetric =
        (asymmetric > 0).then_some(ProfileNote::Asymmetric { pairs: asymmetric, worst });
    (matrix, unknown.into_iter().chain(asymmetric).collect())
}

fn known(figure: f64) -> Option<f64> {
    (figure >= 0.0).then_some(figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_add_up_and_unknown_cells_stay() {
        let cells = [[0.0, 10.0, -1.0], [30.0, 0.0, -1.0], [f64::NAN, 7.0, 0.0]];
        let (matrix, notes) = from_one_way(3, |i, j| cells[i][j]);
        assert_eq!((matrix[(0, 1)], matrix[(1, 0)], matrix[(2, 1)]), (40.0, 40.0, 14.0));
        assert!(matrix[(2, 0)].is_nan());
        assert_eq!(
            notes,
            [ProfileNote::Unknown { pairs: 1 }, ProfileNote::Asymmetric { pairs: 1, worst: 0.5 }]
        );
    }
}
