//! The costs of the usual placements, made without a plan.

use crate::orders::{compact, scatter};
use crate::search::{SearchLimit, Solution};
use crate::{Level, PlaceRequest, Problem, Pus, seed};
use seatmap_data::plan::{Baselines, Objective, Random};
use seatmap_data::statistics::Xoshiro;
use std::collections::BTreeMap;

/// Random placements drawn.
const DRAWN: usize = 1000;
/// As many where each is a run of the program.
pub(crate) const DRAWN_BY_RUNS: usize = 24;
/// Tasks beyond which fewer random placements do: their costs hardly differ.
const LARGEST_DRAWN: usize = 2000;

/// The number of random placements to draw where a cost is a sum.
pub(crate) fn drawn(problem: &Problem) -> usize {
    if problem.tasks() > LARGEST_DRAWN { DRAWN / 50 } else { DRAWN }
}

/// The PU (row) of each task, at random; on one of each core first, if these are given ([`cores`]).
pub(crate) fn at_random(problem: &Problem, core: Option<&[u32]>, rng: &mut Xoshiro) -> Vec<usize> {
    if let Some(core) = core {
        let mut rows: Vec<usize> = (0..core.len()).collect();
        rng.shuffle(&mut rows);
        return dealt(problem.tasks(), cores_first(rows, Some(core)));
    }
    let slot_of = seed::random(problem, rng);
    slot_of[..problem.tasks()]
        .iter()
        .map(|slot| problem.pu_of_slot[*slot as usize] as usize)
        .collect()
}

/// The costs of the usual placements. `cost` judges the PU (row) of each task. The only constraint
/// on these placements is that they use the same PUs: a user who does not think of fixed tasks gets
/// them. One random placement is always drawn; the others are drawn until the limit's deadline.
pub(crate) fn baselines(
    request: &PlaceRequest,
    problem: &Problem,
    pus: &Pus,
    drawn: usize,
    limit: &SearchLimit,
    cost: impl Fn(&[usize]) -> f64,
) -> Baselines {
    let [os, compact, scatter] = usual(request, problem.tasks(), pus).map(|pu_of| cost(&pu_of));
    let mut rng = Xoshiro::new(request.seed);
    // Without one draw the mean below would be 0/0.
    let in_time = (0..drawn).take_while(|at| *at == 0 || !limit.is_late());
    let core = cores(request, pus);
    let random: Vec<f64> =
        in_time.map(|_| cost(&at_random(problem, core.as_deref(), &mut rng))).collect();
    let best = random.iter().copied().fold(f64::INFINITY, f64::min);
    // Where all placements cost the same, the sum is rounded, and no mean is below the best.
    let mean = (random.iter().sum::<f64>() / random.len() as f64).max(best);
    Baselines { os, compact, scatter, random: Random { mean, best } }
}

/// The PU (row) of each task: along the OS's numbers (`taskset -c 0-N`), compact
/// (`OMP_PROC_BIND=close`), scattered (`OMP_PROC_BIND=spread`). If the objective is a time, each
/// core gets a task before any gets a second one ([`cores_first`]).
pub(crate) fn usual(request: &PlaceRequest, tasks: usize, pus: &Pus) -> [Vec<usize>; 3] {
    let mut os = pus.os.clone();
    // PUs may come in the order that the user typed; the OS's order is by number.
    os.sort_unstable();
    let topology = &request.profile.topology;
    let core = cores(request, pus);
    [os, compact(topology, &pus.os, &pus.distance_ns), scatter(topology, &pus.os, &pus.distance_ns)]
        .map(|order| {
            let rows = order.iter().map(|os| pus.index_of(*os).unwrap_or(0)).collect();
            dealt(tasks, cores_first(rows, core.as_deref()))
        })
}

/// A row of an order for each task: more tasks than PUs begin again with the first one.
fn dealt(tasks: usize, order: Vec<usize>) -> Vec<usize> {
    order.into_iter().cycle().take(tasks).collect()
}

/// The core of each PU (row), if the objective knows what it costs to share one; for others the
/// user says whether tasks do.
pub(crate) fn cores(request: &PlaceRequest, pus: &Pus) -> Option<Vec<u32>> {
    let knows = request.objective == Objective::Time;
    Level::Core.groups(&request.profile.topology, &pus.os).filter(|_| knows)
}

/// The same order with the first hardware thread of each core before all second ones, as
/// `OMP_PLACES=cores` and the kernel's choice of an idle core (`select_idle_core`) have it.
fn cores_first(mut order: Vec<usize>, core: Option<&[u32]>) -> Vec<usize> {
    let Some(core) = core else { return order };
    let mut met: BTreeMap<u32, usize> = BTreeMap::new();
    let mut rank = vec![0; core.len()];
    for row in &order {
        let before = met.entry(core[*row]).or_default();
        rank[*row] = *before;
        *before += 1;
    }
    // Stable: inside a rank the order is as it was.
    order.sort_by_key(|row| rank[*row]);
    order
}

/// The usual placements, `None` for those that a problem does not allow. A search that starts from
/// them finds nothing worse than they are.
pub(crate) fn starts(
    request: &PlaceRequest,
    problem: &Problem,
    pus: &Pus,
) -> [Option<Vec<u32>>; 3] {
    usual(request, problem.tasks(), pus).map(|pu_of| assignment(problem, &pu_of))
}

/// The factor by which rounding may make a usual placement look dearer than an equally good one.
pub(crate) const AS_GOOD: f64 = 1.0 + 1e-9;

/// A usual placement that costs no more than this, and its name: it is easier to read and to come
/// by without a plan than one that is as cheap, and loads links less by chance.
pub(crate) fn as_good(
    request: &PlaceRequest,
    problem: &Problem,
    pus: &Pus,
    found: f64,
    cost: impl Fn(&[usize]) -> f64,
) -> Option<(Solution, &'static str)> {
    let [os, compact, scatter] = usual(request, problem.tasks(), pus);
    // Runtimes have settings for compact and scatter (`OMP_PROC_BIND=close`, `spread`), and none
    // for the OS's numbers.
    let named = [(compact, "compact"), (scatter, "scatter"), (os, "the OS's order")];
    named.into_iter().find_map(|(pu_of, name)| {
        let cost = Some(cost(&pu_of)).filter(|cost| *cost <= found * AS_GOOD)?;
        Some((Solution { cost, slot_of: assignment(problem, &pu_of)? }, name))
    })
}

/// The assignment that puts each task on its PU (row), holes behind; `None` where the problem does
/// not allow it.
pub(crate) fn assignment(problem: &Problem, pu_of: &[usize]) -> Option<Vec<u32>> {
    // Falling numbers, searched from the end: the lowest free slot of a PU goes first, and removing
    // it near the end moves little.
    let mut free: Vec<u32> = (0..problem.slots() as u32).rev().collect();
    let mut slot_of = Vec::with_capacity(free.len());
    for pu in pu_of {
        let at =
            free.iter().rposition(|slot| problem.pu_of_slot[*slot as usize] as usize == *pu)?;
        slot_of.push(free.remove(at));
    }
    slot_of.extend(free.iter().rev());
    // An assignment that needs no mending is one that fixed tasks and zones allow.
    (seed::lawful(problem, slot_of.clone()) == slot_of).then_some(slot_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Traffic;
    use seatmap_data::machine::Square;

    #[test]
    fn cores_come_before_their_second_threads() {
        let core = [0, 0, 1, 1, 2];
        assert_eq!(cores_first(vec![0, 1, 2, 3, 4], Some(&core)), [0, 2, 4, 1, 3]);
        assert_eq!(cores_first(vec![3, 2, 1, 0, 4], Some(&core)), [3, 1, 4, 2, 0]);
        assert_eq!(cores_first(vec![1, 0], None), [1, 0]);
        assert_eq!(dealt(3, vec![4, 2]), [4, 2, 4]);
    }

    #[test]
    fn a_placement_is_an_assignment_where_it_is_allowed() {
        let traffic = Traffic::new(3, []);
        let mut problem = Problem::new(traffic, Square::filled(4, 1.0));
        assert_eq!(assignment(&problem, &[3, 0, 2]), Some(vec![3, 0, 2, 1]));
        assert_eq!(assignment(&problem, &[3, 0, 3]), None, "one slot a PU");
        problem.fixed[1] = Some(1);
        assert_eq!(assignment(&problem, &[3, 0, 2]), None, "the second sits elsewhere");
    }
}
