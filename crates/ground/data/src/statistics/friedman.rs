//! Friedman's test on blocks, and the elimination of F-race after it.
//!
//! Each block ranks the same things. Unless the ranks are chance, a thing whose sum of ranks is
//! clearly above the best one's is worse (Conover 1999, section 5.8; Birattari, Stützle, Paquete
//! and Varrentrapp 2002, "A racing algorithm for configuring metaheuristics").

use crate::statistics::correlation::ranks;
use crate::statistics::least;
use crate::statistics::signed_rank::{normal_quantile, shift};

/// The things (by column) that are worse than the best one at this confidence. Each row of `blocks`
/// holds one reading of each; smaller is better. Empty without two blocks, two things or a
/// significant difference.
pub fn worse_than_best(blocks: &[Vec<f64>], confidence: f64) -> Vec<usize> {
    let things = blocks.first().map_or(0, Vec::len);
    match (blocks.len(), things) {
        (0 | 1, _) | (_, 0 | 1) => Vec::new(),
        // For two things ranks only keep the signs; signed ranks also use the sizes.
        (_, 2) => worse_of_two(blocks, confidence).into_iter().collect(),
        _ => worse_of_many(blocks, confidence),
    }
}

fn worse_of_two(blocks: &[Vec<f64>], confidence: f64) -> Option<usize> {
    let differences: Vec<f64> = blocks.iter().map(|block| block[1] - block[0]).collect();
    let shift = shift(&differences, confidence)?;
    match (shift.low > 0.0, shift.high < 0.0) {
        (true, _) => Some(1),
        (_, true) => Some(0),
        _ => None,
    }
}

fn worse_of_many(blocks: &[Vec<f64>], confidence: f64) -> Vec<usize> {
    let ranked: Vec<Vec<f64>> = blocks.iter().map(|block| ranks(block)).collect();
    let count = blocks.len() as f64;
    let things = blocks[0].len();
    let sums: Vec<f64> =
        (0..things).map(|thing| ranked.iter().map(|block| block[thing]).sum()).collect();
    let squares: f64 = ranked.iter().flatten().map(|rank| rank * rank).sum();
    let many = things as f64;
    // With ties the squares are fewer, which both formulas take into account.
    let scatter = squares - count * many * (many + 1.0).powi(2) / 4.0;
    if scatter <= 0.0 {
        return Vec::new();
    }
    let middle = count * (many + 1.0) / 2.0;
    let statistic =
        (many - 1.0) * sums.iter().map(|sum| (sum - middle).powi(2)).sum::<f64>() / scatter;
    if statistic <= chi_squared_quantile(confidence, many - 1.0) {
        return Vec::new();
    }
    let freedom = (count - 1.0) * (many - 1.0);
    let spread =
        2.0 * count * (1.0 - statistic / (count * (many - 1.0))).max(0.0) * scatter / freedom;
    let limit = student_quantile(0.5 * (1.0 + confidence), freedom) * spread.sqrt();
    let best = least(&sums);
    (0..things).filter(|thing| sums[*thing] - best > limit).collect()
}

/// The quantile of the chi-squared distribution, by the cube-root approximation of Wilson and
/// Hilferty 1931: right to 1 % for two degrees of freedom, and better for more.
fn chi_squared_quantile(share: f64, freedom: f64) -> f64 {
    let part = 2.0 / (9.0 * freedom);
    freedom * (1.0 - part + normal_quantile(share) * part.sqrt()).powi(3)
}

/// The quantile of Student's distribution, by the expansion of Abramowitz and Stegun 1964, formula
/// 26.7.5: right to 1 % from four degrees of freedom on, and to 4 % for two.
pub fn student_quantile(share: f64, freedom: f64) -> f64 {
    let z = normal_quantile(share);
    let terms = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
    ];
    terms.iter().enumerate().map(|(at, term)| term / freedom.powi(at as i32 + 1)).sum::<f64>() + z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::normal;

    #[test]
    fn quantiles_match_tables() {
        for (freedom, table) in [(2.0, 5.991), (3.0, 7.815), (9.0, 16.919), (29.0, 42.557)] {
            let found = chi_squared_quantile(0.95, freedom);
            assert!((found / table - 1.0).abs() < 0.01, "{freedom}: {found}");
        }
        for (freedom, table) in [(4.0, 2.776), (8.0, 2.306), (30.0, 2.042)] {
            let found = student_quantile(0.975, freedom);
            assert!((found / table - 1.0).abs() < 0.01, "{freedom}: {found}");
        }
    }

    /// Hollander, Wolfe and Chicken 2014, table 7.1: rounding first base by three methods, 22
    /// runners. The published statistic is 11.1 with ties taken into account; the wide-angle method
    /// is the best.
    #[test]
    fn friedman_matches_the_rounding_first_base_example() {
        let times = [
            [5.40, 5.50, 5.55],
            [5.85, 5.70, 5.75],
            [5.20, 5.60, 5.50],
            [5.55, 5.50, 5.40],
            [5.90, 5.85, 5.70],
            [5.45, 5.55, 5.60],
            [5.40, 5.40, 5.35],
            [5.45, 5.50, 5.35],
            [5.25, 5.15, 5.00],
            [5.85, 5.80, 5.70],
            [5.25, 5.20, 5.10],
            [5.65, 5.55, 5.45],
            [5.60, 5.35, 5.45],
            [5.05, 5.00, 4.95],
            [5.50, 5.50, 5.40],
            [5.45, 5.55, 5.50],
            [5.55, 5.55, 5.35],
            [5.45, 5.50, 5.55],
            [5.50, 5.45, 5.25],
            [5.65, 5.60, 5.40],
            [5.70, 5.65, 5.55],
            [6.30, 6.30, 6.25],
        ];
        let blocks: Vec<Vec<f64>> = times.iter().map(|row| row.to_vec()).collect();
        assert_eq!(worse_than_best(&blocks, 0.95), [0, 1]);
        assert!(worse_than_best(&blocks, 0.9999).is_empty());
    }

    #[test]
    fn equal_alternatives_rarely_differ() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut block = || -> Vec<f64> { (0..8).map(|_| normal(&mut random)).collect() };
        let wrong = (0..1000)
            .filter(|_| {
                !worse_than_best(&(0..8).map(|_| block()).collect::<Vec<_>>(), 0.95).is_empty()
            })
            .count();
        assert!((15..=75).contains(&wrong), "{wrong} of 1000 at 5 %");
    }

    #[test]
    fn two_alternatives_are_compared_and_empty_input_is_accepted() {
        let blocks = |last: f64| {
            (0..8).map(|at| vec![f64::from(at), f64::from(at) + last]).collect::<Vec<_>>()
        };
        assert_eq!(worse_than_best(&blocks(0.5), 0.95), [1]);
        assert_eq!(worse_than_best(&blocks(-0.5), 0.95), [0]);
        assert!(worse_than_best(&blocks(0.0), 0.95).is_empty());
        assert!(
            worse_than_best(&[], 0.95).is_empty()
                && worse_than_best(&[vec![1.0, 2.0, 3.0]], 0.95).is_empty()
        );
    }
}
