//! Measurements in turns and order statistics for rows (NaN without values).

/// Runs each kind once per turn: disturbances affect all kinds alike. Each turn starts with another
/// kind, because the second of two may profit from the first.
///
/// # Errors
/// A run's first error.
pub fn in_turns<const N: usize, T, E>(
    turns: usize,
    mut run: impl FnMut(usize) -> Result<T, E>,
) -> Result<[Vec<T>; N], E> {
    let mut found = [const { Vec::new() }; N];
    for turn in 0..turns {
        for step in 0..N {
            let kind = (turn + step) % N;
            found[kind].push(run(kind)?);
        }
    }
    Ok(found)
}

pub fn ratios(ours: &[f64], theirs: &[f64]) -> Vec<f64> {
    ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect()
}

pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

pub fn quantile(values: &[f64], share: f64) -> f64 {
    seatmap_data::statistics::quantile(values, share).unwrap_or(f64::NAN)
}

pub fn spread(values: &[f64], unit: &str) -> String {
    let [low, middle, high] = [0.25, 0.5, 0.75].map(|share| quantile(values, share));
    format!("{middle:.3}{unit} (middle half {low:.3}-{high:.3})")
}
