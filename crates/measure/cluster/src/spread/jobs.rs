//! Jobs of which each has a number as its result, spread over the ranks in parts.

use super::{Meet, SpreadError, SpreadOutcome, SpreadWork, follow, lead};
use crate::launcher::Rank;
use seatmap_data::document::json_problem;
use seatmap_data::document::written;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

/// Parts for each rank: enough that all end at about the same time, and that little is lost with a
/// rank.
const PARTS_A_RANK: usize = 32;

/// The jobs of a part, at least, so that each CPU of a node has some.
const FEWEST_JOBS: usize = 16;

/// Does jobs: a number for each, in their order, or why there are none. Once the flag is set,
/// nobody wants them any more.
pub type JobEvaluator<'a, J> = dyn Fn(&[J], &AtomicBool) -> Result<Vec<f64>, String> + Sync + 'a;

/// Takes jobs with their numbers, and says whether to go on.
pub type Keep<'a, J> = dyn FnMut(&[J], &[f64]) -> ControlFlow<()> + 'a;

/// The ranks of a start, seen from one of them.
#[derive(Clone, Copy, Debug)]
pub struct Ranks<'a> {
    /// This rank.
    pub rank: &'a Rank,
    /// Where it meets the others.
    pub meet: &'a Meet,
    /// The name of its node.
    pub node: &'a str,
}

impl Ranks<'_> {
    /// Has the jobs done by all ranks, as rank 0. `name` is all that the numbers depend on besides
    /// the job. `keep` gets each job once, part by part as they come; `look` is called again and
    /// again meanwhile. Both can break off.
    ///
    /// # Errors
    /// [`SpreadError`]. A rank that goes away is none: others do its jobs.
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

    /// Does the jobs that rank 0 hands out, as another rank, until nothing is left. The number of
    /// parts that it did.
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

/// The numbers of a part's jobs, as text.
fn done<J: DeserializeOwned>(
    numbers: &JobEvaluator<'_, J>,
    text: &str,
    is_over: &AtomicBool,
) -> Result<String, String> {
    let jobs: Vec<J> = serde_json::from_str(text).map_err(json_problem)?;
    numbers(&jobs, is_over).map(|numbers| written(&numbers))
}
