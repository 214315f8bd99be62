//! The costs of the usual placements, which need no plan.

use crate::build::PlaceGround;
use crate::orders::{compact, scatter};
use crate::search::SearchLimit;
use crate::{Level, Problem, seed};
use seatmap_data::plan::{Baselines, Objective, Random};
use seatmap_data::statistics::Xoshiro;
use seatmap_data::statistics::least;
use std::collections::BTreeMap;

const DRAWN: usize = 1000;
/// Random placements if each is a run of the program.
pub const DRAWN_BY_RUNS: usize = 24;
/// With more tasks, costs hardly differ, so fewer random placements suffice.
const LARGEST_DRAWN: usize = 2000;

/// Rounding may make a usual placement look dearer by this factor.
pub const AS_GOOD: f64 = 1.0 + 1e-9;

impl PlaceGround<'_> {
    pub fn drawn(&self) -> usize {
        if self.problem.tasks() > LARGEST_DRAWN { DRAWN / 50 } else { DRAWN }
    }

    /// With `core` ([`PlaceGround::cores`]), each core gets one task first.
    pub fn at_random(&self, core: Option<&[u32]>, rng: &mut Xoshiro) -> Vec<usize> {
        if let Some(core) = core {
            let mut rows: Vec<usize> = (0..core.len()).collect();
            rng.shuffle(&mut rows);
            return dealt(self.problem.tasks(), cores_first(rows, Some(core)));
        }
        self.problem.pus_of(&seed::random(&self.problem, rng))
    }

    /// They ignore constraints such as fixed tasks, like users without a plan. At least one random
    /// placement is drawn.
    pub fn baselines(
        &self,
        drawn: usize,
        limit: &SearchLimit,
        cost: impl Fn(&[usize]) -> f64,
    ) -> Baselines {
        let [os, compact, scatter] = self.usual(self.problem.tasks()).map(|pu_of| cost(&pu_of));
        let mut rng = Xoshiro::new(self.request.seed);
        // Without a draw, the mean would be 0/0.
        let in_time = (0..drawn).take_while(|at| *at == 0 || !limit.is_late());
        let core = self.cores();
        let random: Vec<f64> =
            in_time.map(|_| cost(&self.at_random(core.as_deref(), &mut rng))).collect();
        let best = least(&random);
        // Rounding may put the mean of equal costs below the best.
        let mean = (random.iter().sum::<f64>() / random.len() as f64).max(best);
        Baselines { os, compact, scatter, random: Random { mean, best } }
    }

    /// The tasks' PUs (rows) by OS number (`taskset -c 0-N`), compact (`OMP_PROC_BIND=close`) and
    /// scattered (`OMP_PROC_BIND=spread`). For a time, each core gets one task first
    /// ([`cores_first`]).
    pub fn usual(&self, tasks: usize) -> [Vec<usize>; 3] {
        let pus = &self.pus;
        let mut os = pus.os.clone();
        os.sort_unstable();
        let topology = &self.request.profile.topology;
        let core = self.cores();
        let by = [compact, scatter].map(|order| order(topology, &pus.os, &pus.distance_ns));
        let [compact, scatter] = by;
        [os, compact, scatter].map(|order| {
            let rows = order.iter().map(|os| pus.index_of(*os).unwrap_or(0)).collect();
            dealt(tasks, cores_first(rows, core.as_deref()))
        })
    }

    /// Each PU's core, if the objective includes the cost of sharing one; otherwise the user
    /// decides.
    pub fn cores(&self) -> Option<Vec<u32>> {
        let knows = self.request.objective == Objective::Time;
        Level::Core.groups(&self.request.profile.topology, &self.pus.os).filter(|_| knows)
    }

    /// The usual placements with their names. Runtimes have settings for compact and scatter, but
    /// not for the OS's order.
    pub fn named(&self) -> [(Vec<usize>, &'static str); 3] {
        let [os, compact, scatter] = self.usual(self.problem.tasks());
        [(compact, "compact"), (scatter, "scatter"), (os, "OS order")]
    }
}

/// Starts over if there are more tasks than PUs.
fn dealt(tasks: usize, order: Vec<usize>) -> Vec<usize> {
    order.into_iter().cycle().take(tasks).collect()
}

/// Puts first hardware threads before second ones, like `OMP_PLACES=cores` and the kernel's choice
/// of an idle core (`select_idle_core`).
fn cores_first(mut order: Vec<usize>, core: Option<&[u32]>) -> Vec<usize> {
    let Some(core) = core else { return order };
    let mut met: BTreeMap<u32, usize> = BTreeMap::new();
    let mut rank = vec![0; core.len()];
    for row in &order {
        let before = met.entry(core[*row]).or_default();
        rank[*row] = *before;
        *before += 1;
    }
    order.sort_by_key(|row| rank[*row]);
    order
}

/// The assignment of tasks to these rows of PUs; `None` if forbidden.
pub fn assignment(problem: &Problem, pu_of: &[usize]) -> Option<Vec<u32>> {
    // The lowest free slot of a PU goes first; removing it near the end moves little.
    let mut free: Vec<u32> = (0..problem.slots() as u32).rev().collect();
    let mut slot_of = Vec::with_capacity(free.len());
    for pu in pu_of {
        let at = free.iter().rposition(|slot| problem.pu(*slot) == *pu)?;
        slot_of.push(free.remove(at));
    }
    slot_of.extend(free.iter().rev());
    // Repair changes nothing if fixed tasks and zones allow the assignment.
    (seed::lawful(problem, slot_of.clone()) == slot_of).then_some(slot_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Traffic;
    use seatmap_data::machine::Square;

    #[test]
    fn cores_first_order_puts_siblings_last() {
        let core = [0, 0, 1, 1, 2];
        assert_eq!(cores_first(vec![0, 1, 2, 3, 4], Some(&core)), [0, 2, 4, 1, 3]);
        assert_eq!(cores_first(vec![3, 2, 1, 0, 4], Some(&core)), [3, 1, 4, 2, 0]);
        assert_eq!(cores_first(vec![1, 0], None), [1, 0]);
        assert_eq!(dealt(3, vec![4, 2]), [4, 2, 4]);
    }

    #[test]
    fn placement_converts_only_if_rules_allow_it() {
        let traffic = Traffic::new(3, []);
        let mut problem = Problem::new(traffic, Square::filled(4, 1.0));
        assert_eq!(assignment(&problem, &[3, 0, 2]), Some(vec![3, 0, 2, 1]));
        assert_eq!(assignment(&problem, &[3, 0, 3]), None, "one slot a PU");
        problem.fixed[1] = Some(1);
        assert_eq!(assignment(&problem, &[3, 0, 2]), None, "the second sits elsewhere");
    }
}
