//! Answers a request.

use crate::baselines::{AS_GOOD, DRAWN_BY_RUNS, assignment};
use crate::bound::{BOUND_PART, lower_bound};
use crate::build::PlaceGround;
use crate::congestion::{anneal, least_loaded};
use crate::get_core::get_core;
use crate::link_bound::link_bound;
use crate::portfolio::{StartSolution, portfolio};
use crate::search::Solution;
use crate::seed::lawful;
use crate::solve::{Cheapest, ROUNDED, cheapest, cheapest_by, cheapest_of};
use crate::time::{self, TimeModel};
use crate::trial::{TrialJudge, Trials};
use crate::{PlaceError, PlaceMethod, PlaceRequest, PlacementResult, Problem, unfit};
use seatmap_data::plan::{Agreement, Baselines, Objective};
use seatmap_data::statistics::correlation::spearman;
use seatmap_data::statistics::words::counted;

/// A placement and what is known of its cost.
pub(crate) struct Found {
    /// The PU (row) of each task.
    pub pu_of: Vec<usize>,
    pub cost: f64,
    pub method: String,
    pub is_optimal: bool,
}

impl PlaceRequest<'_> {
    /// Searches until the limit, or until the answer is proven.
    ///
    /// # Errors
    /// [`PlaceError`].
    pub fn place(&self) -> Result<PlacementResult, PlaceError> {
        let is_timed = self.objective == Objective::Time;
        if is_timed && self.method != PlaceMethod::Auto {
            return unfit(
                "this method chooses by distances alone; --objective time needs --method auto",
            );
        }
        let ground = PlaceGround::of(self)?;
        let PlaceGround { problem, links, .. } = &ground;
        let model = is_timed.then(|| TimeModel::new(&ground)).transpose()?;
        let mut lower_bound = match (&model, self.objective) {
            (Some(model), _) => time::bound(model),
            (_, Objective::Distance) => lower_bound(problem, &self.limit.part(BOUND_PART)),
            (_, Objective::Congestion) if links.is_empty() => {
                return unfit(format!(
                    "{} has no groups of PUs with a shared link; use --objective distance",
                    self.profile.name
                ));
            }
            (_, Objective::Congestion) => link_bound(problem, links, &self.limit.part(BOUND_PART)),
            _ => return unfit("this objective needs a machine that runs the program"),
        };
        let cost = |pu_of: &[usize]| match &model {
            Some(model) => model.cost(pu_of),
            None => ground.cost(pu_of),
        };
        let is_allowed = |pu_of: &[usize]| match &model {
            Some(model) => model.allows(pu_of),
            None => assignment(problem, pu_of).is_some(),
        };
        let limit = self.limit.part(BASELINES_PART);
        let baselines = ground.baselines(ground.drawn(), &limit, cost);
        let mut found = match &model {
            Some(model) => time::fastest(&ground, model, lower_bound),
            None => ground.search(lower_bound)?,
        };
        // A usual placement needs no plan, and overloads links less.
        let mut usual = ground.named().into_iter().filter(|_| self.method == PlaceMethod::Auto);
        let as_good = usual.find_map(|(pu_of, name)| {
            let cost = Some(cost(&pu_of)).filter(|cost| *cost <= found.cost * AS_GOOD)?;
            is_allowed(&pu_of).then(|| Found { pu_of, cost, method: name.to_owned(), ..found })
        });
        found = as_good.unwrap_or(found);
        if self.prefers_cache {
            // The proof ignores the preference for big caches.
            let before = found.cost;
            found.pu_of = ground.in_big_caches(found.pu_of, before, cost, is_allowed)?;
            found.cost = cost(&found.pu_of);
            if found.is_optimal {
                lower_bound = before;
                found.is_optimal = found.cost <= before * AS_GOOD;
            }
        }
        let rounded = if is_timed { AS_GOOD } else { ROUNDED };
        found.is_optimal |= found.cost <= lower_bound * rounded;
        ground.answer(found, lower_bound, baselines)
    }

    /// Searches by runs with pinned tasks, from the baselines and the answer by distance, until the
    /// limit or until all were tried.
    ///
    /// # Errors
    /// [`PlaceError`]: the request cannot be met, or a run failed.
    pub fn place_by(&self, judge: TrialJudge) -> Result<PlacementResult, PlaceError> {
        if self.method == PlaceMethod::GetCore {
            return unfit(
                "GetCore chooses by homes alone, and runs cannot judge it; use another method",
            );
        }
        let pus = self.pus()?;
        if self.pattern.tasks > pus.os.len() {
            return unfit(format!(
                "{} on {}: a run needs a PU for each task",
                counted(self.pattern.tasks, "task"),
                counted(pus.os.len(), "PU")
            ));
        }
        let ground = PlaceGround::on(self, pus)?;
        let os = &ground.pus.os;
        let searched = ground.searched()?;
        let failure = std::cell::OnceCell::new();
        let run = std::cell::RefCell::new(Vec::new());
        let baselines = ground.baselines(DRAWN_BY_RUNS, &self.limit, |pu_of| {
            let time_ns = (judge.time_ns)(&ground.pus.os_of(pu_of)).unwrap_or_else(|error| {
                failure.get_or_init(|| error);
                f64::NAN
            });
            run.borrow_mut().push((pu_of.to_vec(), time_ns));
            time_ns
        });
        if let Some(error) = failure.into_inner() {
            return unfit(error);
        }
        let by_distance =
            portfolio(&searched, &self.limit.part(DISTANCE_PART), self.seed).solution.slot_of;
        let natural = lawful(&searched, (0..searched.slots() as u32).collect());
        let mut trials = Trials::new(&searched, os, judge, self.threads, self.limit.clone());
        let run = run.into_inner();
        let mut starts = vec![by_distance, natural];
        for (pu_of, time_ns) in &run {
            starts.extend(
                assignment(&searched, pu_of).inspect(|slot_of| trials.know(slot_of, *time_ns)),
            );
        }
        let (Solution { cost, slot_of }, all) = trials.search(starts, self.seed)?;
        let found = Found {
            pu_of: searched.pus_of(&slot_of),
            cost,
            method: trials.method(all),
            is_optimal: all && ground.sections.is_none() || cost <= judge.floor_ns * ROUNDED,
        };
        let agreement = Some(ground.agreement(&run));
        Ok(PlacementResult { agreement, ..ground.answer(found, judge.floor_ns, baselines)? })
    }
}

impl PlaceGround<'_> {
    fn answer(
        &self,
        found: Found,
        lower_bound: f64,
        baselines: Baselines,
    ) -> Result<PlacementResult, PlaceError> {
        let Found { pu_of, cost, method, is_optimal } = found;
        let placement = self.pus.os_of(&pu_of);
        Ok(PlacementResult {
            cost,
            // Single precision may put bounds above the cost.
            lower_bound: if is_optimal { cost } else { lower_bound.min(cost) },
            optimal: is_optimal,
            baselines,
            agreement: None,
            method,
            channels: self.channels(&placement)?,
            busiest_link: self.links.busiest(&self.links.loads(&self.problem.traffic, &pu_of)),
            crossing: self.crossing(&pu_of),
            placement,
        })
    }

    /// Uses the baselines only: the search's own runs are near its start.
    fn agreement(&self, run: &[(Vec<usize>, f64)]) -> Agreement {
        let times: Vec<f64> = run.iter().map(|(_, time_ns)| *time_ns).collect();
        let [distance, congestion] =
            [Objective::Distance, Objective::Congestion].map(|objective| {
                let costs: Vec<f64> =
                    run.iter().map(|(pu_of, _)| self.cost_by(objective, pu_of)).collect();
                spearman(&times, &costs)
            });
        let congestion = congestion.filter(|_| !self.links.is_empty());
        Agreement { placements: run.len(), distance, congestion }
    }

    fn search(&self, lower_bound: f64) -> Result<Found, PlaceError> {
        let PlaceGround { request, problem, .. } = self;
        let searched = self.searched()?;
        let best = if request.method == PlaceMethod::GetCore {
            let slot_of = lawful(problem, get_core(self)?);
            cheapest_by(Solution { cost: 0.0, slot_of }, false, "GetCore")
        } else if request.objective == Objective::Congestion {
            self.least_congested(&searched)
        } else {
            let best =
                cheapest(&searched, lower_bound, &request.limit, request.threads, request.seed);
            match (&self.sections, request.method) {
                (None, _) => best,
                (_, PlaceMethod::Partition) => {
                    cheapest_by(best.solution, false, &format!("partition, {}", best.method))
                }
                _ => cheapest_by(best.solution, false, &format!("pizza slices, {}", best.method)),
            }
        };
        // The search may add costs of crossings, and uses single precision.
        let pu_of = problem.pus_of(&best.solution.slot_of);
        let cost = self.cost(&pu_of);
        Ok(Found { pu_of, cost, method: best.method, is_optimal: best.is_optimal })
    }

    fn least_congested(&self, problem: &Problem) -> Cheapest {
        let request = self.request;
        let start = cheapest_of(request.threads, request.seed, |seed| {
            portfolio(problem, &request.limit.part(4), seed)
        });
        // A search from the usual placements finds nothing worse.
        let usual = self.usual(problem.tasks());
        let usual = usual.iter().filter_map(|pu_of| assignment(problem, pu_of));
        let starts = std::iter::once(start.solution.slot_of).chain(usual).collect();
        let start = least_loaded(problem, &self.links, starts);
        let found = cheapest_of(request.threads, request.seed, |seed| StartSolution {
            solution: anneal(problem, &self.links, &start, &request.limit, seed),
            name: "annealing",
        });
        cheapest_by(found.solution, false, found.name)
    }
}

/// Random placements take 1/`BASELINES_PART` of the time.
const BASELINES_PART: u32 = 8;

/// With runs, the start by distance takes 1/`DISTANCE_PART` of the time.
const DISTANCE_PART: u32 = 10;

#[cfg(test)]
pub(crate) mod tests;
