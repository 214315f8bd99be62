//! Quantiles of the batches of many pairs, from the deciles of each.
//!
//! Between two deciles the batches are assumed to be evenly distributed.

use seatmap_data::machine::Deciles;

/// The smallest value that at least this share (0 to 1) of the batches does not exceed; `None`
/// without pairs. Deciles must be finite and ascending.
pub fn quantile(pairs: &[Deciles], share: f64) -> Option<f64> {
    let mut knots: Vec<f64> = pairs.iter().flatten().copied().collect();
    knots.sort_unstable_by(f64::total_cmp);
    // The first decile that reaches the share, or between it and the previous one, because the
    // share grows linearly there.
    let upper = knots.partition_point(|knot| share_below(pairs, *knot, true) < share);
    let at = *knots.get(upper.min(knots.len().checked_sub(1)?))?;
    let reached = share_below(pairs, at, false);
    let Some(before) = upper.checked_sub(1).map(|lower| knots[lower]).filter(|_| reached > share)
    else {
        return Some(at);
    };
    let begun = share_below(pairs, before, true);
    Some(before + (at - before) * (share - begun) / (reached - begun))
}

fn share_below(pairs: &[Deciles], value: f64, included: bool) -> f64 {
    let tenths: f64 = pairs.iter().map(|deciles| tenths_below(deciles, value, included)).sum();
    tenths / (10.0 * pairs.len() as f64)
}

fn tenths_below(deciles: &Deciles, value: f64, included: bool) -> f64 {
    let reached =
        deciles.partition_point(|decile| if included { *decile <= value } else { *decile < value });
    match (reached.checked_sub(1), deciles.get(reached)) {
        (None, _) => 0.0,
        (Some(last), None) => last as f64,
        (Some(last), Some(next)) => last as f64 + (value - deciles[last]) / (next - deciles[last]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HALF_A_DECILE: f64 = 0.05;

    fn deciles(samples: &[f64]) -> Deciles {
        std::array::from_fn(|tenth| {
            seatmap_data::statistics::quantile(samples, tenth as f64 / 10.0).unwrap()
        })
    }

    #[test]
    fn one_pair_has_its_own_deciles() {
        let pair = deciles(&[60.0, 63.5, 64.0, 64.0, 64.0, 71.25, 290.0, 301.0, 302.0]);
        for tenth in 0..=10 {
            assert_eq!(quantile(&[pair], tenth as f64 / 10.0), Some(pair[tenth]), "decile {tenth}");
        }
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn slow_batches_of_a_flipping_pair_are_visible() {
        let steady: Deciles = std::array::from_fn(|tenth| 60.0 + tenth as f64);
        let flips = deciles(&[vec![80.0; 70], vec![300.0; 30]].concat());
        assert_eq!(quantile(&[steady, flips], 0.9), Some(300.0));
        assert!(quantile(&[steady, steady, steady, flips], 0.9).unwrap() < 81.0);
    }

    proptest! {
        #[test]
        fn pooled_quantile_approximates_that_of_all_samples(
            pairs in prop::collection::vec((20f64..400.0, 0f64..0.3), 1..12), share in 0.1f64..=0.9, seed: u64,
        ) {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut sample = |centre: f64, width: f64| -> Vec<f64> {
                (0..200).map(|_| centre * (1.0 + width * (rng.f64() + rng.f64()))).collect()
            };
            let samples: Vec<Vec<f64>> = pairs.iter().map(|(centre, width)| sample(*centre, *width)).collect();
            let pooled = quantile(&samples.iter().map(|samples| deciles(samples)).collect::<Vec<_>>(), share).unwrap();
            let all = samples.concat();
            let [low, high] = [-HALF_A_DECILE, HALF_A_DECILE].map(|by| seatmap_data::statistics::quantile(&all, share + by).unwrap());
            prop_assert!((0.999 * low..=1.001 * high).contains(&pooled), "{low} {pooled} {high}");
        }
    }
}
