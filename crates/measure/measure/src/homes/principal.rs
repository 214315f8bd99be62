//! The few directions in which lines differ by more than noise.
//!
//! A line has one offset per PU, but all follow from its home. Keeping only a few directions
//! (principal components, Pearson 1901) removes most noise: nine tenths with 64 PUs and half a
//! dozen directions.

use crate::fit::least_squares::dot;
use seatmap_data::statistics::{MAD_TO_SIGMA, median};

const MOST: usize = 16;
const ITERATIONS: usize = 200;
/// A direction counts if its variance is this many times the maximum of pure noise.
const ABOVE_NOISE: f64 = 1.3;
const CLEANINGS: usize = 8;
/// Values further than this many standard deviations from the directions are wrong.
const REACH: f64 = 2.5;

/// The coordinates of each row along the significant principal directions; empty without any.
/// `sigma` is the noise of one entry.
///
/// The largest variance of pure noise along any direction is sigma^2 (1 + sqrt(columns / rows))^2
/// (Marchenko and Pastur 1967).
pub fn coordinates(rows: &[Vec<f64>], sigma: f64) -> Vec<Vec<f64>> {
    parted(rows, sigma).0
}

/// Moves outliers near to the directions; returns the rows and the remaining noise. `sigma` is the
/// noise before.
///
/// Very wrong values would create directions, so they are repeatedly limited to a multiple of the
/// usual residual (Huber's weights for principal components; De la Torre and Black 2003).
pub fn cleaned(rows: &[Vec<f64>], sigma: f64) -> (Vec<Vec<f64>>, f64) {
    let mut clean = rows.to_vec();
    let mut noise = sigma;
    for _ in 0..CLEANINGS {
        let left = parted(&clean, noise).1;
        let off: Vec<Vec<f64>> =
            clean.iter().zip(rows).zip(&left).map(|((c, r), l)| further(c, r, l)).collect();
        let all: Vec<f64> = off.iter().flatten().map(|off| off.abs()).collect();
        let reach = REACH * MAD_TO_SIGMA * median(&all).unwrap_or(0.0);
        for ((clean, off), left) in clean.iter_mut().zip(&off).zip(&left) {
            clean
                .iter_mut()
                .zip(off)
                .zip(left)
                .for_each(|((clean, off), left)| *clean += off.clamp(-reach, reach) - left);
        }
        let squares: f64 = all.iter().map(|off| off.min(reach).powi(2)).sum();
        noise = (squares / all.len().max(1) as f64).sqrt();
    }
    (clean, noise)
}

fn further(clean: &[f64], row: &[f64], left: &[f64]) -> Vec<f64> {
    clean.iter().zip(row).zip(left).map(|((clean, row), left)| left + row - clean).collect()
}

fn parted(rows: &[Vec<f64>], sigma: f64) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let columns = rows.first().map_or(0, Vec::len);
    let mut left = centred(rows, columns);
    let edge =
        ABOVE_NOISE * (sigma * (1.0 + (columns as f64 / rows.len().max(1) as f64).sqrt())).powi(2);
    let mut coordinates = vec![Vec::new(); rows.len()];
    for _ in 0..MOST.min(columns) {
        let direction = strongest(&left, columns);
        let along: Vec<f64> = left.iter().map(|row| dot(row, &direction)).collect();
        let variance = dot(&along, &along) / rows.len() as f64;
        if variance <= edge || variance <= f64::EPSILON {
            break;
        }
        for ((row, place), coordinate) in left.iter_mut().zip(&along).zip(&mut coordinates) {
            row.iter_mut().zip(&direction).for_each(|(value, part)| *value -= place * part);
            coordinate.push(*place);
        }
    }
    (coordinates, left)
}

fn centred(rows: &[Vec<f64>], columns: usize) -> Vec<Vec<f64>> {
    let means: Vec<f64> = (0..columns)
        .map(|column| rows.iter().map(|row| row[column]).sum::<f64>() / rows.len() as f64)
        .collect();
    rows.iter()
        .map(|row| row.iter().zip(&means).map(|(value, mean)| value - mean).collect())
        .collect()
}

/// Uses power iteration.
fn strongest(rows: &[Vec<f64>], columns: usize) -> Vec<f64> {
    let mut direction: Vec<f64> =
        (0..columns).map(|at| 1.0 + (at as f64 * 0.618).fract()).collect();
    for _ in 0..ITERATIONS {
        let mut image = vec![0.0; columns];
        for row in rows {
            let along = dot(row, &direction);
            image.iter_mut().zip(row).for_each(|(sum, value)| *sum += along * value);
        }
        let length = dot(&image, &image).sqrt();
        if length <= f64::MIN_POSITIVE {
            break;
        }
        image.iter_mut().for_each(|value| *value /= length);
        let turned = 1.0 - dot(&image, &direction).abs();
        direction = image;
        if turned.abs() < 1e-9 {
            break;
        }
    }
    let length = dot(&direction, &direction).sqrt().max(f64::MIN_POSITIVE);
    direction.iter().map(|value| value / length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plane_of_the_rows_is_found() {
        let rows: Vec<Vec<f64>> = (0..20)
            .map(|at| {
                let x = f64::from(at % 5);
                let y = f64::from(at / 5);
                vec![x, y, x + y, x - y]
            })
            .collect();
        let coordinates = coordinates(&rows, 0.01);
        assert!(coordinates.iter().all(|row| row.len() == 2));
        let squared =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        assert!(
            (squared(&coordinates[0], &coordinates[19]) - squared(&rows[0], &rows[19])).abs()
                < 1e-6
        );
    }

    #[test]
    fn noise_has_no_direction() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut noise = || (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
        let rows: Vec<Vec<f64>> = (0..64).map(|_| (0..36).map(|_| noise()).collect()).collect();
        assert!(coordinates(&rows, 1.0).iter().all(Vec::is_empty));
        assert!(coordinates(&[], 1.0).is_empty());
        assert!(coordinates(&[vec![1.0, 2.0], vec![1.0, 2.0]], 0.0).iter().all(Vec::is_empty));
    }
}
