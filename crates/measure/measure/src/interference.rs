//! Whether pairs in different groups disturb each other.

use crate::error::MeasureError;
use crate::matrix::LINE_SPACING;
use crate::plan::SurveyPlan;
use crate::probe::{PairAt, Probe, Visit, VisitBatches};
use crate::schedule;
use seatmap_data::statistics::median;

/// The largest accepted difference of a parallel run: 2 %.
pub const TOLERANCE: f64 = 0.02;

const ROUNDS: usize = 12;

/// Visits to each round, each way, interleaved.
const REPEATS: usize = 5;

/// The comparison of pairs measured together and alone.
#[derive(Clone, Copy)]
pub enum Interference {
    /// No two pairs can run together.
    Impossible,
    /// The median relative difference.
    Differs(f64),
    /// All batches of one of the two ways were disturbed.
    Unseen,
}

/// Compares pairs measured together with the same pairs measured alone, alternating, in up to
/// twelve random rounds.
///
/// # Errors
///
/// The machine's.
pub fn of_pairs<P: Probe>(
    probe: &mut P,
    pus: &[u32],
    group_of: &[usize],
    together: usize,
    plan: &SurveyPlan,
) -> Result<Interference, MeasureError<P::Error>> {
    let rounds = schedule::rounds(&schedule::all_pairs(pus.len()), group_of, together, plan.seed);
    let mut differences = Vec::new();
    let mut several = rounds.iter().filter(|round| round.len() > 1).take(ROUNDS).peekable();
    if several.peek().is_none() {
        return Ok(Interference::Impossible);
    }
    for round in several {
        differences.extend(round_differences(
            probe,
            &round
                .iter()
                .map(|(i, j)| {
                    let line = LINE_SPACING * group_of[*i].min(group_of[*j]) as u32;
                    PairAt { a: pus[*i], b: pus[*j], line }
                })
                .collect::<Vec<_>>(),
            plan,
        )?);
    }
    Ok(median(&differences).map_or(Interference::Unseen, Interference::Differs))
}

fn round_differences<P: Probe>(
    probe: &mut P,
    round: &[PairAt],
    plan: &SurveyPlan,
) -> Result<Vec<f64>, MeasureError<P::Error>> {
    let mut together = vec![Vec::new(); round.len()];
    let mut alone = vec![Vec::new(); round.len()];
    for _ in 0..REPEATS {
        for (pair, batches) in visited(probe, round, plan)?.into_iter().enumerate() {
            together[pair].extend(batches.round_trip_ns);
        }
        for (pair, at) in round.iter().enumerate() {
            alone[pair].extend(
                visited(probe, std::slice::from_ref(at), plan)?
                    .into_iter()
                    .flat_map(|batches| batches.round_trip_ns),
            );
        }
    }
    Ok(together
        .iter()
        .zip(&alone)
        .filter_map(|(together, alone)| Some((median(together)? / median(alone)? - 1.0).abs()))
        .collect())
}

pub(crate) fn visited<P: Probe>(
    probe: &mut P,
    pairs: &[PairAt],
    plan: &SurveyPlan,
) -> Result<Vec<VisitBatches>, MeasureError<P::Error>> {
    let visit =
        Visit { pairs: pairs.to_vec(), batches: plan.batches, round_trips: plan.round_trips };
    probe.visit(&visit).map_err(MeasureError::Machine)
}
