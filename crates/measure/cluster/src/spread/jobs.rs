//! Distributes jobs with one number each as the result.

use super::{Meet, SpreadError, SpreadOutcome, SpreadWork, follow, lead};
use crate::launcher::Rank;
use seatmap_data::document::{json_problem, written};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

/// Enough that all ranks end at about the same time and a lost rank costs little.
const PARTS_A_RANK: usize = 32;

/// The minimum number of jobs in a part, so each CPU of a node has some.
const FEWEST_JOBS: usize = 16;

/// Computes the number of each job, in order, or an error. Once the flag is set, the numbers are no
/// longer needed.
pub type JobEvaluator<'a, J> = dyn Fn(&[J], &AtomicBool) -> Result<Vec<f64>, String> + Sync + 'a;

/// Receives jobs with their numbers and decides whether to continue.
pub type Keep<'a, J> = dyn FnMut(&[J], &[f64]) -> ControlFlow<()> + 'a;

/// The ranks, seen from one of them.
#[derive(Clone, Copy, Debug)]
pub struct Ranks<'a> {
    /// This rank.
    pub rank: &'a Rank,
    /// How the ranks meet.
    pub meet: &'a Meet,
    /// Name of this rank's node.
    pub node: &'a str,
}

impl Ranks<'_> {
    /// Distributes the jobs. `name` is everything except the job on which the numbers depend.
    /// `keep` receives each job once; `look` runs repeatedly meanwhile. Both can cancel.
    ///
    /// # Errors
    ///
    /// [`SpreadError`]. A lost rank is not an error.
    pub fn lead<J: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        jobs: &[J],
        numbers: &JobEvaluator<'_, J>,
        keep: &mut Keep<'_, J>,
        look: &dyn Fn() -> ControlFlow<()>,
    ) -> Result<SpreadOutcome, SpreadError> {
        let of_part = (jobs.len() / (PARTS_A_RANK * self.rank.size)).max(FEWEST_JOBS);
        let parts: Vec<&[J]> = jobs.chunks(of_part).collect();
        let texts: Vec<String> = parts.iter().map(written).collect();
        let mut is_wrong = false;
        let mut take = |part: usize, text: &str| match serde_json::from_str::<Vec<f64>>(text) {
            Ok(numbers) if numbers.len() == parts[part].len() => keep(parts[part], &numbers),
            _ => {
                is_wrong = true;
                ControlFlow::Break(())
            }
        };
        let part = &|text: &str, is_over: &AtomicBool| done(numbers, text, is_over);
        let work = SpreadWork { name, node: self.node, part };
        let spread = lead(self.rank, self.meet, work, &texts, &mut take, look)?;
        if is_wrong { Err(SpreadError::Numbers) } else { Ok(spread) }
    }

    /// Does jobs for rank 0; returns the number of parts.
    ///
    /// # Errors
    /// [`SpreadError`].
    pub fn follow<J: DeserializeOwned>(
        &self,
        name: &str,
        numbers: &JobEvaluator<'_, J>,
    ) -> Result<usize, SpreadError> {
        let part = &|text: &str, is_over: &AtomicBool| done(numbers, text, is_over);
        follow(self.rank, self.meet, SpreadWork { name, node: self.node, part })
    }
}

fn done<J: DeserializeOwned>(
    numbers: &JobEvaluator<'_, J>,
    text: &str,
    is_over: &AtomicBool,
) -> Result<String, String> {
    let jobs: Vec<J> = serde_json::from_str(text).map_err(json_problem)?;
    numbers(&jobs, is_over).map(|numbers| written(&numbers))
}
