//! Whether two lists of figures agree on the order.

use crate::statistics::Ordered;

/// The rank of each value, the smallest being 1; equal values share the mean of theirs.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|it| Ordered(values[*it]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for tied in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let shared = first as f64 + (tied.len() as f64 + 1.0) / 2.0;
        tied.iter().for_each(|at| ranks[*at] = shared);
        first += tied.len();
    }
    ranks
}

/// Spearman's rank correlation (1904): Pearson's, of the ranks. `None` if all values of a list are
/// equal.
///
/// ```
/// # use seatmap_data::statistics::correlation::spearman;
/// assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 400.0, 90.0]), Some(0.5));
/// ```
pub fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    let a = ranks(a);
    let b = ranks(b);
    let middle = (a.len() as f64 + 1.0) / 2.0;
    let scale = (products(middle, &a, &a) * products(middle, &b, &b)).sqrt();
    (a.len() == b.len() && scale > 0.0).then(|| products(middle, &a, &b) / scale)
}

fn products(middle: f64, a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn brute_ranks(values: &[f64]) -> Vec<f64> {
        let count =
            |keep: &dyn Fn(&f64) -> bool| values.iter().filter(|value| keep(value)).count() as f64;
        values
            .iter()
            .map(|at| count(&|value| value < at) + (count(&|value| value == at) + 1.0) / 2.0)
            .collect()
    }

    #[test]
    fn spearman_distinguishes_equal_and_reversed_order() {
        let up = [1.0, 2.0, 3.0, 4.0];
        let down = [4.0, 3.0, 2.0, 1.0];
        assert_eq!((spearman(&up, &up), spearman(&up, &down)), (Some(1.0), Some(-1.0)));
        assert_eq!(spearman(&up, &[7.0; 4]), None);
        assert_eq!((spearman(&[], &[]), spearman(&up, &[1.0])), (None, None));
        assert_eq!(ranks(&[5.0, 1.0, 5.0]), [2.5, 1.0, 2.5]);
    }

    proptest! {
        #[test]
        fn ranks_match_brute_force(values in prop::collection::vec((0u8..12).prop_map(f64::from), 0..40)) {
            prop_assert_eq!(ranks(&values), brute_ranks(&values));
        }

        #[test]
        fn spearman_without_ties_matches_difference_formula(order in Just((0..20u8).map(f64::from).collect::<Vec<_>>()).prop_shuffle()) {
            let straight: Vec<f64> = (0..20u8).map(f64::from).collect();
            let squares: f64 = straight.iter().zip(&order).map(|(a, b)| (a - b).powi(2)).sum();
            let formula = 1.0 - 6.0 * squares / (20.0 * 399.0);
            prop_assert!((spearman(&straight, &order).unwrap() - formula).abs() < 1e-12);
        }
    }
}
