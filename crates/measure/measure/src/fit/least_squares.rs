//! Sparse linear least squares, by conjugate gradients on the normal equations.
//!
//! The fits here have a few hundred to a few ten thousand unknowns and rows with three to five
//! entries each. Conjugate gradients (Hestenes and Stiefel 1952; Björck 1996, section 7.4) need no
//! more memory than the rows and take a few dozen iterations. Started from zero, they find the
//! smallest of several solutions, so that a shift that the data leave open stays small.

/// Iterations at most; the fits here end long before.
const MOST_ITERATIONS: usize = 2000;
/// The gradient is small enough when it has fallen by this factor.
const ENOUGH: f64 = 1e-11;

/// One equation: the sum of coefficient times unknown should be `value`.
#[derive(Clone, Debug)]
pub struct Equation {
    /// Unknowns by number, with their coefficients.
    pub terms: Vec<(usize, f64)>,
    /// The value that the sum should have.
    pub value: f64,
    /// The weight of this equation.
    pub weight: f64,
}

impl Equation {
    fn sum(&self, unknowns: &[f64]) -> f64 {
        self.terms.iter().map(|(at, coefficient)| coefficient * unknowns[*at]).sum()
    }

    /// The residual of this equation for these unknowns.
    #[must_use]
    pub fn left(&self, unknowns: &[f64]) -> f64 {
        self.value - self.sum(unknowns)
    }
}

/// The unknowns that leave the least weighted squares. `ridge` is added to the square of each
/// unknown: zero leaves it free, one ties it to zero as firmly as one equation of weight one would.
#[must_use]
pub fn solve(rows: &[Equation], ridge: &[f64]) -> Vec<f64> {
    let mut unknowns = vec![0.0; ridge.len()];
    let mut gradient = vec![0.0; ridge.len()];
    // At the start all unknowns are zero, so that the residual of each row is its value.
    for row in rows {
        add(row, row.weight * row.value, &mut gradient);
    }
    let mut direction = gradient.clone();
    let mut size = dot(&gradient, &gradient);
    let enough = size * ENOUGH * ENOUGH;
    for _ in 0..MOST_ITERATIONS {
        if size <= enough || size == 0.0 {
            break;
        }
        let image = normal_matrix(rows, ridge, &direction);
        // A direction that no row sees has no length to go.
        let step = size / dot(&direction, &image);
        if !step.is_finite() {
            break;
        }
        for at in 0..unknowns.len() {
            unknowns[at] += step * direction[at];
            gradient[at] -= step * image[at];
        }
        let before = std::mem::replace(&mut size, dot(&gradient, &gradient));
        // The next direction is conjugate to all before it, so that none is searched twice.
        for (along, downhill) in direction.iter_mut().zip(&gradient) {
            *along = downhill + size / before * *along;
        }
    }
    unknowns
}

/// The normal equations' matrix times a vector.
fn normal_matrix(rows: &[Equation], ridge: &[f64], vector: &[f64]) -> Vec<f64> {
    let mut image: Vec<f64> =
        ridge.iter().zip(vector).map(|(ridge, value)| ridge * value).collect();
    for row in rows {
        add(row, row.weight * row.sum(vector), &mut image);
    }
    image
}

fn add(row: &Equation, amount: f64, to: &mut [f64]) {
    for (at, coefficient) in &row.terms {
        to[*at] += coefficient * amount;
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(terms: &[(usize, f64)], value: f64) -> Equation {
        Equation { terms: terms.to_vec(), value, weight: 1.0 }
    }

    #[test]
    fn solves_what_has_a_solution() {
        let rows = [row(&[(0, 2.0), (1, 1.0)], 5.0), row(&[(0, 1.0), (1, -1.0)], 1.0)];
        let solution = solve(&rows, &[0.0; 2]);
        assert!(
            (solution[0] - 2.0).abs() < 1e-9 && (solution[1] - 1.0).abs() < 1e-9,
            "{solution:?}"
        );
    }

    #[test]
    fn takes_the_smallest_of_many_and_shrinks_by_the_ridge() {
        let solution = solve(&[row(&[(0, 1.0), (1, 1.0)], 4.0)], &[0.0, 0.0, 0.0]);
        assert!(
            solution.iter().zip([2.0, 2.0, 0.0]).all(|(got, wanted)| (got - wanted).abs() < 1e-9),
            "{solution:?}"
        );
        assert!((solve(&[row(&[(0, 1.0)], 4.0)], &[1.0])[0] - 2.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_to_solve_is_zero() {
        assert_eq!(solve(&[], &[0.0, 1.0]), [0.0, 0.0]);
        assert_eq!(solve(&[row(&[(0, 1.0)], 0.0)], &[0.0]), [0.0]);
    }
}
