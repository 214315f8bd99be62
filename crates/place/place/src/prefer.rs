//! Gives big caches to the tasks that need them, at almost no cost.

use crate::build::{PlaceGround, count};
use crate::{Level, PlaceError};

/// Two measurements of one machine differ as much.
const TIE: f64 = 1.01;

const MOST_TASKS: usize = 512;

impl PlaceGround<'_> {
    /// Moves tasks that need cache to the biggest L3s, at most 1 % above `found`. Needs are the
    /// pattern's `cache_bytes`, or else its loads.
    ///
    /// # Errors
    /// [`PlaceError`]: the sizes of L3 caches are unknown.
    pub fn in_big_caches(
        &self,
        pu_of: Vec<usize>,
        found: f64,
        cost: impl Fn(&[usize]) -> f64,
        is_allowed: impl Fn(&[usize]) -> bool,
    ) -> Result<Vec<usize>, PlaceError> {
        let bytes = self.cache_of()?;
        let mut best = pu_of;
        let mut value_of_best = self.cache_value(&best, &bytes);
        let mut has_helped = best.len() <= MOST_TASKS;
        while has_helped && !self.request.limit.is_late() {
            has_helped = false;
            for change in changes(&best, &self.dies(), bytes.len()) {
                let changed = change.of(&best);
                let value = self.cache_value(&changed, &bytes);
                // Rounding errors must not pass for progress.
                if value > value_of_best * (1.0 + 1e-12)
                    && cost(&changed) <= found * TIE
                    && is_allowed(&changed)
                {
                    (best, value_of_best, has_helped) = (changed, value, true);
                }
            }
        }
        Ok(best)
    }

    /// L3 sizes weighted by cache use, or else by load.
    fn cache_value(&self, pu_of: &[usize], bytes: &[f64]) -> f64 {
        let pattern = self.request.pattern;
        let need =
            |task| pattern.cache_bytes.get(task).map_or(pattern.load(task), |used| *used as f64);
        pu_of.iter().enumerate().map(|(task, pu)| need(task) * bytes[*pu]).sum()
    }

    fn cache_of(&self) -> Result<Vec<f64>, PlaceError> {
        let profile = self.request.profile;
        let known = self
            .pus
            .os
            .iter()
            .map(|os| Some(profile.topology.pu(*os)?.l3_bytes? as f64))
            .collect::<Option<_>>();
        known.ok_or_else(|| {
            PlaceError::Unfit(format!(
                "the L3 cache sizes of {} are unknown; leave --prefer big-cache out",
                profile.name
            ))
        })
    }

    fn dies(&self) -> Vec<Vec<usize>> {
        let topology = &self.request.profile.topology;
        let groups = Level::L3.groups(topology, &self.pus.os).unwrap_or_default();
        (0..count(&groups) as u32)
            .map(|die| (0..groups.len()).filter(|pu| groups[*pu] == die).collect())
            .collect()
    }
}

enum Change {
    /// Exchanges the tasks of two L3s, PU by PU.
    Dies(Vec<usize>, Vec<usize>),
    /// Moves a task; a task on that PU takes its place.
    Seat(usize, usize),
}

impl Change {
    fn of(&self, pu_of: &[usize]) -> Vec<usize> {
        let mut changed = pu_of.to_vec();
        match self {
            Change::Dies(a, b) => changed.iter_mut().for_each(|pu| {
                *pu = [(a, b), (b, a)]
                    .into_iter()
                    .find_map(|(die, other)| Some(other[die.iter().position(|one| one == pu)?]))
                    .unwrap_or(*pu);
            }),
            Change::Seat(task, to) => {
                if let Some(other) = pu_of.iter().position(|pu| pu == to) {
                    changed[other] = pu_of[*task];
                }
                changed[*task] = *to;
            }
        }
        changed
    }
}

/// Single tasks cannot leave their neighbours without a cost.
fn changes(pu_of: &[usize], dies: &[Vec<usize>], pus: usize) -> Vec<Change> {
    let pairs = (0..dies.len()).flat_map(|a| (a + 1..dies.len()).map(move |b| (a, b)));
    let equal = pairs.filter(|(a, b)| dies[*a].len() == dies[*b].len());
    let whole = equal.map(|(a, b)| Change::Dies(dies[a].clone(), dies[b].clone()));
    let single = (0..pu_of.len()).flat_map(|task| (0..pus).map(move |to| Change::Seat(task, to)));
    whole.chain(single).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlaceRequest;
    use crate::for_tests::{request, request_of};
    use crate::search::SearchLimit;
    use seatmap_data::machine::catalog;
    use seatmap_data::pattern::generate;

    fn dies_of(request: &PlaceRequest) -> Vec<u32> {
        let answer = request.place().unwrap();
        let topology = &request.profile.topology;
        answer.placement.iter().map(|os| topology.pu(*os).unwrap().die.unwrap()).collect()
    }

    #[test]
    fn cache_preference_moves_whole_group_to_larger_cache() {
        let mut machine = catalog::load("ryzen-7950x3d").unwrap();
        // The order of numbers would choose the first die.
        for pu in &mut machine.topology.pus {
            pu.l3_bytes = Some(if pu.die == Some(1) { 96 << 20 } else { 32 << 20 });
        }
        let mut request = request_of(machine, generate("all-to-all:6").unwrap());
        (request.limit, request.one_per) = (SearchLimit::kicks(200), Some(Level::Core));
        assert_eq!(dies_of(&request), [0; 6]);
        request.prefers_cache = true;
        assert_eq!(dies_of(&request), [1; 6]);
    }

    #[test]
    fn cache_preference_favours_tasks_with_large_working_sets() {
        let mut pattern = generate("idle:16").unwrap();
        pattern.cache_bytes = (0..16).map(|task| if task < 8 { 0 } else { 64 << 20 }).collect();
        let mut request = PlaceRequest { pattern: &pattern, ..request("ryzen-7950x3d", "idle:16") };
        (request.limit, request.one_per, request.prefers_cache) =
            (SearchLimit::kicks(20), Some(Level::Core), true);
        let dies = dies_of(&request);
        assert!(dies[8..].iter().all(|die| *die == 0), "{dies:?}");
    }

    #[test]
    fn cache_preference_rejects_unknown_cache_sizes() {
        let mut machine = catalog::load("graviton3").unwrap();
        machine.topology.pus.iter_mut().for_each(|pu| pu.l3_bytes = None);
        let mut request = request_of(machine, generate("ring:4").unwrap());
        (request.limit, request.prefers_cache) = (SearchLimit::kicks(2), true);
        let error = request.place().unwrap_err().to_string();
        assert!(error.starts_with("the L3 cache sizes of graviton3 are unknown"), "{error}");
    }
}
