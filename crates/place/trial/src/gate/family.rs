//! The confidence of each claim if several comparisons are judged together.
//!
//! At 95 % for each, 1 of 20 equal benchmarks would be called different. So the confidence is for
//! all claims of a session together, by the steps of Holm 1979 (Scandinavian Journal of Statistics
//! 6): each of `n` undecided comparisons is judged at 1/n of the allowed error, and the step
//! repeats without those that show their claim. Benchmarks may depend on each other.

use seatmap_data::statistics::trial::each;
use std::collections::BTreeSet;

/// The confidence (0 to 1) of each comparison, so that all claims together have the given one.
/// `is_shown` returns whether a comparison shows its claim at a confidence.
pub fn confidences(
    count: usize,
    confidence: f64,
    is_shown: &dyn Fn(usize, f64) -> bool,
) -> Vec<f64> {
    let mut open: BTreeSet<usize> = (0..count).collect();
    let mut judged_at = vec![each(confidence, count); count];
    while !open.is_empty() {
        let own = each(confidence, open.len());
        open.iter().for_each(|at| judged_at[*at] = own);
        let shown: BTreeSet<usize> = open.iter().copied().filter(|at| is_shown(*at, own)).collect();
        if shown.is_empty() {
            break;
        }
        open = &open - &shown;
    }
    judged_at
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::statistics::{normal, signed_rank};

    /// At 5 %, only the p-value 0.01 is shown: 0.02 is above 0.05 / 3.
    #[test]
    fn confidence_levels_step_down_by_p_value() {
        let shown = |p_values: &[f64]| {
            let is_shown = |at: usize, confidence: f64| p_values[at] <= 1.0 - confidence + 1e-12;
            let judged_at = confidences(p_values.len(), 0.95, &is_shown);
            (0..p_values.len()).filter(|at| is_shown(*at, judged_at[*at])).collect::<Vec<_>>()
        };
        assert_eq!(shown(&[0.01, 0.02, 0.02, 0.4]), [0]);
        assert_eq!(shown(&[0.4, 0.02, 0.016, 0.01]), [1, 2, 3]);
        assert_eq!(shown(&[0.04]), [0]);
        assert_eq!(shown(&[]), [0; 0]);
    }

    #[test]
    fn many_equal_benchmarks_rarely_show_difference() {
        let mut chance = fastrand::Rng::with_seed(5);
        let sessions = 300;
        let [mut together, mut alone] = [0, 0];
        for _ in 0..sessions {
            let series: Vec<Vec<f64>> =
                (0..20).map(|_| (0..15).map(|_| normal(&mut chance)).collect()).collect();
            let is_shown = |at: usize, confidence: f64| {
                let shift = signed_rank::shift(&series[at], confidence);
                shift.is_some_and(|shift| shift.low > 0.0 || shift.high < 0.0)
            };
            let judged_at = confidences(20, 0.95, &is_shown);
            together += usize::from((0..20).any(|at| is_shown(at, judged_at[at])));
            alone += usize::from((0..20).any(|at| is_shown(at, 0.95)));
        }
        // 5 % of 300 are 15; three standard deviations above are 26.
        assert!(together <= 26, "{together} of {sessions}");
        assert!(alone > sessions / 3, "{alone}: one by one many are claimed");
    }
}
