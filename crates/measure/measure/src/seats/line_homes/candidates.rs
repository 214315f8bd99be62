//! Pairs of PUs with predictions.

use super::Belief;
use seatmap_data::machine::Profile;
use seatmap_data::statistics::Ordered;
use seatmap_place::PlaceError;
use seatmap_place::pus::Predictions;

/// 2016 pairs, of which a few are used.
const MOST_PUS: usize = 64;
/// Open lines that decide on the next pair; more would hardly change it.
const ASKED: usize = 8;

pub struct Candidates {
    pairs: Vec<CpuPair>,
    homes: usize,
    residual_ns: f64,
}

pub struct CpuPair {
    pub cpus: [u32; 2],
    pub predicted_ns: Vec<f64>,
}

impl Candidates {
    /// Pairs with a predicted distance over every home, one CPU per core.
    pub fn new(profile: &Profile, cpus: Option<&[u32]>) -> Result<Self, PlaceError> {
        let (known, model, predictions) =
            match (&profile.core_distance, &profile.home_model, Predictions::new(profile)) {
                (Some(known), Some(model), Some(predictions)) if model.homes() > 1 => {
                    (known, model, predictions)
                }
                _ => {
                    return Err(PlaceError::Unfit(format!(
                        "the profile of {} does not distinguish homes",
                        profile.name
                    )));
                }
            };
        let rows = rows(profile, cpus, &known.pus);

        let group = model.group_of(&known.pus);
        let both =
            rows.iter().enumerate().flat_map(|(at, i)| rows[at + 1..].iter().map(|j| (*i, *j)));
        let pairs: Vec<CpuPair> = both
            // Inside a group with a cache the distance does not depend on the home.
            .filter(|(i, j)| model.groups.len() < 3 || group[*i] != group[*j])
            .filter_map(|(i, j)| {
                let predicted_ns: Option<Vec<f64>> =
                    (0..model.homes()).map(|home| predictions.round_trip_ns(i, j, home)).collect();
                Some(CpuPair { cpus: [known.pus[i], known.pus[j]], predicted_ns: predicted_ns? })
            })
            .collect();
        if pairs.is_empty() {
            let few = "finding the homes of lines needs at least two cores whose distances the \
                       profile has for each home";
            return Err(PlaceError::Unfit(few.to_owned()));
        }
        Ok(Candidates { pairs, homes: model.homes(), residual_ns: model.residual_ns.max(0.0) })
    }

    pub fn homes(&self) -> usize {
        self.homes
    }

    pub fn residual_ns(&self) -> f64 {
        self.residual_ns
    }

    /// Takes the pair whose predictions differ most, if any.
    pub fn take<'a>(&mut self, lines: impl Iterator<Item = &'a Belief>) -> Option<CpuPair> {
        let beliefs: Vec<Vec<f64>> = lines.take(ASKED).map(Belief::probabilities).collect();
        let each = self
            .pairs
            .iter()
            .map(|pair| {
                beliefs.iter().map(|homes| variance(homes, &pair.predicted_ns)).sum::<f64>()
            })
            .enumerate();
        let (best, _) = each.max_by_key(|it| Ordered(it.1)).filter(|_| !beliefs.is_empty())?;
        Some(self.pairs.swap_remove(best))
    }
}

/// One per core, evenly spaced if many.
fn rows(profile: &Profile, cpus: Option<&[u32]>, pus: &[u32]) -> Vec<usize> {
    let mut rows: Vec<usize> = Vec::new();
    for (row, os) in
        pus.iter().enumerate().filter(|(_, os)| cpus.is_none_or(|cpus| cpus.contains(os)))
    {
        if !rows.iter().any(|other| profile.topology.are_smt_siblings(*os, pus[*other])) {
            rows.push(row);
        }
    }
    let step = rows.len().div_ceil(MOST_PUS).max(1);
    rows.into_iter().step_by(step).collect()
}

fn variance(probabilities: &[f64], values: &[f64]) -> f64 {
    let mean: f64 = probabilities.iter().zip(values).map(|(p, value)| p * value).sum();
    probabilities.iter().zip(values).map(|(p, value)| p * (value - mean).powi(2)).sum()
}
