//! Linear fits to a quantile instead of the mean.
//!
//! Other load only lengthens round trips, so a fit with few values below it approximates undelayed
//! ones (Koenker and Bassett 1978). Iterated least squares find it, with weights that turn squares
//! into absolute values (Schlossmacher 1973).

use super::least_squares::{Equation, solve};

/// Iterations: these fits converge after a dozen.
const REPETITIONS: usize = 20;
/// The first iterations weigh residuals coarsely, so a few accidental fits do not decide.
const COARSE: usize = 4;
/// Smaller residuals count as zero, in ns, in coarse and other iterations.
const LEAST_LEFT: [f64; 2] = [30.0, 1.0];
/// Ties undetermined unknowns to zero, relative to a row at [`LEAST_LEFT`].
const HOLD: f64 = 1e-5;

/// The unknowns for which this share of the rows' values is below the sum of their terms. The first
/// `free` unknowns are free; undetermined others stay small.
pub fn fit(rows: &[Equation], unknowns: usize, free: usize, quantile: f64) -> Vec<f64> {
    let ridge: Vec<f64> = (0..unknowns).map(|at| if at < free { 0.0 } else { HOLD }).collect();
    let mut rows = rows.to_vec();
    let mut found = solve(&rows, &ridge);
    for repetition in 0..REPETITIONS {
        let least = LEAST_LEFT[usize::from(repetition >= COARSE)];
        for row in &mut rows {
            let left = row.left(&found);
            // Division by the residual turns squares into absolute values.
            let side = if left > 0.0 { quantile } else { 1.0 - quantile };
            row.weight = side * least / left.abs().max(least);
        }
        found = solve(&rows, &ridge);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_to_most_rows_do_not_count() {
        let mut rng = fastrand::Rng::with_seed(1);
        let truth = [100.0, -20.0, 5.0, 30.0, -15.0];
        let mut row = || {
            let pair = rng.choose_multiple(1..5, 2);
            let added = if rng.f64() < 0.3 { 0.0 } else { 200.0 * rng.f64() };
            let value = truth[0] + pair.iter().map(|at| truth[*at]).sum::<f64>() + added;
            let terms =
                [(0, 1.0)].into_iter().chain(pair.into_iter().map(|at| (at, 1.0))).collect();
            Equation { terms, value, weight: 1.0 }
        };
        let rows: Vec<Equation> = (0..400).map(|_| row()).collect();
        let found = fit(&rows, 5, 1, 0.1);
        assert!(
            found.iter().zip(truth).all(|(got, wanted)| (got - wanted).abs() < 1.5),
            "{found:?}"
        );
        let mean = solve(&rows, &[0.0; 5]);
        assert!(
            (mean[0] + 2.0 * mean[1] - truth[0] - 2.0 * truth[1]).abs() > 30.0,
            "the mean is far off: {mean:?}"
        );
    }

    #[test]
    fn empty_fit_is_zero() {
        assert_eq!(fit(&[], 3, 1, 0.1), [0.0; 3]);
    }
}
