//! A line's offsets and noise.

use super::LineSamples;
use seatmap_data::statistics::{MAD_TO_SIGMA, mad, mean, median, sorted};

/// Hubs further off than this many standard deviations are ignored.
const REACH_SIGMAS: f64 = 4.0;
/// Values of a row further from its median than this many median absolute deviations are wrong.
const FAR_OUT: f64 = 8.0;
/// Half of the finest resolution; above zero for machines without noise.
const LEAST_NS: f64 = 0.1;

/// The offsets of all lines, relative to their common part.
pub struct Features {
    /// `offset_ns[line][pu]`, with a mean of about zero per line; zero if not measured. Offsets of
    /// PUs that fewer hubs reach are scaled down to equal noise.
    pub offset_ns: Vec<Vec<f64>>,
    /// Standard deviation of each offset.
    pub sigma_ns: f64,
}

impl Features {
    /// `None` if the noise is unknown.
    ///
    /// The mean over all lines is subtracted from each median, which leaves a_hub + a_pu of the
    /// line, then the mean of each hub's row, which leaves a_pu. The hubs now agree up to noise.
    pub fn of(samples: &LineSamples) -> Option<Self> {
        let rows = centred(samples);
        let sigma_of_one = disagreement(&rows).or_else(|| stated_noise(samples))?.max(LEAST_NS);
        let hubs = rows.first()?.len() as f64;
        // The sorting assumes equal noise in all columns.
        let scale: Vec<f64> =
            (0..samples.pus.len()).map(|pu| (reached(&rows, pu) / hubs).sqrt()).collect();
        Some(Features {
            offset_ns: rows
                .iter()
                .map(|hubs| {
                    let joined = joined(hubs, samples.pus.len(), sigma_of_one);
                    joined.iter().zip(&scale).map(|(offset, scale)| offset * scale).collect()
                })
                .collect(),
            sigma_ns: sigma_of_one / hubs.sqrt(),
        })
    }
}

/// `rows[line][hub][pu]`.
fn centred(samples: &LineSamples) -> Vec<Vec<Vec<f64>>> {
    let hubs = samples.hubs.len();
    let pus = samples.pus.len();
    let common: Vec<Vec<f64>> =
        (0..hubs).map(|hub| (0..pus).map(|pu| common_ns(samples, hub, pu)).collect()).collect();
    (0..samples.lines())
        .map(|line| {
            let own = common.iter().enumerate().map(|(hub, common)| {
                common
                    .iter()
                    .enumerate()
                    .map(|(pu, common)| samples.ns(line, hub, pu) - common)
                    .collect()
            });
            levelled(own.collect())
        })
        .collect()
}

fn common_ns(samples: &LineSamples, hub: usize, pu: usize) -> f64 {
    let values: Vec<f64> = (0..samples.lines()).map(|line| samples.ns(line, hub, pu)).collect();
    usual_mean(&values).unwrap_or(f64::NAN)
}

/// Subtracts the common part from each hub's row of one line. Hubs may reach different PUs, and
/// their means then differ, so rows are first aligned to the first one by the PUs that both reach,
/// then all shifted by one mean.
fn levelled(mut rows: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let Some((first, others)) = rows.split_first_mut() else { return rows };
    for row in others {
        let differences: Vec<f64> =
            row.iter().zip(&*first).map(|(value, first)| value - first).collect();
        let shift = usual_mean(&differences).unwrap_or_default();
        row.iter_mut().for_each(|value| *value -= shift);
    }
    let sigma = disagreement(std::slice::from_ref(&rows)).unwrap_or_default().max(LEAST_NS);
    let pus = rows.first().map_or(0, Vec::len);
    let middle = usual_mean(&joined(&rows, pus, sigma)).unwrap_or_default();
    rows.iter_mut().flatten().for_each(|value| *value -= middle);
    rows
}

/// The mean without far outliers. A median would not work: offsets are whole hops, and if half of
/// the PUs are a hop nearer, noise flips it.
fn usual_mean(row: &[f64]) -> Option<f64> {
    let middle = median(row)?;
    let reach = FAR_OUT * mad(row)?.max(LEAST_NS);
    let usual: Vec<f64> =
        row.iter().copied().filter(|value| (value - middle).abs() <= reach).collect();
    Some(mean(&usual))
}

fn reached(rows: &[Vec<Vec<f64>>], pu: usize) -> f64 {
    let reached = rows.iter().map(|hubs| hubs.iter().filter(|row| row[pu].is_finite()).count());
    median(reached.map(|hubs| hubs as f64)).unwrap_or_default()
}

fn disagreement(rows: &[Vec<Vec<f64>>]) -> Option<f64> {
    let differences = rows
        .iter()
        .flat_map(|hubs| hubs.windows(2))
        .flat_map(|two| two[0].iter().zip(&two[1]).map(|(a, b)| (a - b).abs()));
    median(differences).map(|middle| MAD_TO_SIGMA * middle / std::f64::consts::SQRT_2)
}

fn stated_noise(samples: &LineSamples) -> Option<f64> {
    median(samples.noise_ns.iter().flatten().flatten()).map(|noise| MAD_TO_SIGMA * noise)
}

fn joined(hubs: &[Vec<f64>], pus: usize, sigma: f64) -> Vec<f64> {
    let reach = REACH_SIGMAS * sigma;
    (0..pus).map(|pu| agreed(hubs, pu, reach).unwrap_or_default()).collect()
}

fn agreed(hubs: &[Vec<f64>], pu: usize, reach: f64) -> Option<f64> {
    let values = sorted(hubs.iter().filter_map(|row| row.get(pu).copied()));
    let middle = middle(&values, reach)?;
    let agreeing: Vec<f64> =
        values.into_iter().filter(|value| (value - middle).abs() <= reach).collect();
    Some(mean(&agreeing))
}

/// The median; if the two middle values disagree, the one nearer to zero, the more usual.
fn middle(ascending: &[f64], reach: f64) -> Option<f64> {
    let lower = *ascending.get(ascending.len().checked_sub(1)? / 2)?;
    let upper = *ascending.get(ascending.len() / 2)?;
    Some(if upper - lower <= reach {
        0.5 * (lower + upper)
    } else if lower.abs() <= upper.abs() {
        lower
    } else {
        upper
    })
}
