//! Sparse linear least squares by conjugate gradients.
//!
//! These fits have about 10,000 unknowns, three to five of them in each row. Conjugate gradients
//! (Hestenes and Stiefel 1952; Björck 1996, section 7.4) need only the rows and a few dozen
//! iterations. Started from zero, they find the smallest of several solutions, so an undetermined
//! shift stays small.

/// These fits end long before.
const MOST_ITERATIONS: usize = 2000;
/// The iteration ends when the gradient has fallen by this factor.
const ENOUGH: f64 = 1e-11;

/// One equation: a sum of coefficients times unknowns equals `value`.
#[derive(Clone)]
pub struct Equation {
    /// Indices of unknowns with their coefficients.
    pub terms: Vec<(usize, f64)>,
    /// Right-hand side.
    pub value: f64,
    /// Weight of this equation.
    pub weight: f64,
}

impl Equation {
    fn sum(&self, unknowns: &[f64]) -> f64 {
        self.terms.iter().map(|(at, coefficient)| coefficient * unknowns[*at]).sum()
    }

    /// The residual for these unknowns.
    pub fn left(&self, unknowns: &[f64]) -> f64 {
        self.value - self.sum(unknowns)
    }
}

/// Minimises the weighted squares. `ridge` adds a multiple of each unknown's square: zero leaves it
/// free, one ties it to zero like an equation of weight one.
pub fn solve(rows: &[Equation], ridge: &[f64]) -> Vec<f64> {
    let mut unknowns = vec![0.0; ridge.len()];
    let mut gradient = vec![0.0; ridge.len()];
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
        let step = size / dot(&direction, &image);
        if !step.is_finite() {
            break;
        }
        for at in 0..unknowns.len() {
            unknowns[at] += step * direction[at];
            gradient[at] -= step * image[at];
        }
        let before = std::mem::replace(&mut size, dot(&gradient, &gradient));
        for (along, downhill) in direction.iter_mut().zip(&gradient) {
            *along = downhill + size / before * *along;
        }
    }
    unknowns
}

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

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(terms: &[(usize, f64)], value: f64) -> Equation {
        Equation { terms: terms.to_vec(), value, weight: 1.0 }
    }

    #[test]
    fn solvable_system_is_solved() {
        let rows = [row(&[(0, 2.0), (1, 1.0)], 5.0), row(&[(0, 1.0), (1, -1.0)], 1.0)];
        let solution = solve(&rows, &[0.0; 2]);
        assert!(
            (solution[0] - 2.0).abs() < 1e-9 && (solution[1] - 1.0).abs() < 1e-9,
            "{solution:?}"
        );
    }

    #[test]
    fn smallest_solution_is_chosen_and_ridge_shrinks_it() {
        let solution = solve(&[row(&[(0, 1.0), (1, 1.0)], 4.0)], &[0.0, 0.0, 0.0]);
        assert!(
            solution.iter().zip([2.0, 2.0, 0.0]).all(|(got, wanted)| (got - wanted).abs() < 1e-9),
            "{solution:?}"
        );
        assert!((solve(&[row(&[(0, 1.0)], 4.0)], &[1.0])[0] - 2.0).abs() < 1e-9);
    }

    #[test]
    fn empty_system_has_solution_zero() {
        assert_eq!(solve(&[], &[0.0, 1.0]), [0.0, 0.0]);
        assert_eq!(solve(&[row(&[(0, 1.0)], 0.0)], &[0.0]), [0.0]);
    }
}
