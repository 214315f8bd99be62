//! Answers a request.

use crate::bound::{BOUND_PART, lower_bound};
use crate::build::problem;
use crate::congestion::{anneal, least_loaded};
use crate::get_core::get_core;
use crate::link_bound::link_bound;
use crate::portfolio::{StartSolution, portfolio};
use crate::search::Solution;
use crate::sections::{crossing, divided, sections};
use crate::seed::lawful;
use crate::solve::{Cheapest, ROUNDED, cheapest, cheapest_by, side_by_side};
use crate::time::TimeModel;
use crate::trial::{TrialJudge, Trials};
use crate::{
    Links, PlaceError, PlaceMethod, PlaceRequest, PlacementResult, Problem, Pus, baselines,
    channels,
};
use seatmap_data::plan::{Agreement, Baselines, Objective};
use seatmap_data::statistics::correlation::spearman;

impl PlaceRequest<'_> {
    /// Searches until the limit, or until the answer is proven.
    ///
    /// # Errors
    /// [`PlaceError`].
    pub fn place(&self) -> Result<PlacementResult, PlaceError> {
        if self.objective == Objective::Time {
            return self.place_by_time();
        }
        let pus = self.pus()?;
        let problem = problem(self, &pus)?;
        let sections = sections(self, &pus)?;
        let links = Links::new(self.profile, &pus);
        let lower_bound = match self.objective {
            Objective::Distance => lower_bound(&problem, &self.limit.part(BOUND_PART)),
            Objective::Congestion if links.is_empty() => {
                return Err(PlaceError::NoLinks(self.profile.name.clone()));
            }
            Objective::Congestion => link_bound(&problem, &links, &self.limit.part(BOUND_PART)),
            Objective::Simulated | Objective::Measured | Objective::Time => {
                return Err(PlaceError::NeedsRuns);
            }
        };
        let drawn = baselines::drawn(&problem);
        let limit = self.limit.part(BASELINES_PART);
        let cost = |pu_of: &[usize]| self.cost(&problem, &pus, &links, pu_of);
        let baselines = baselines::baselines(self, &problem, &pus, drawn, &limit, cost);
        let is_allowed = |pu_of: &[usize]| baselines::assignment(&problem, pu_of).is_some();
        let Cheapest { solution, is_optimal, method } =
            self.search(&problem, &pus, &links, sections.as_deref(), lower_bound)?;
        let mut proof =
            Proof { lower_bound, optimal: is_optimal, rounded: ROUNDED, method, agreement: None };
        let mut pu_of = problem.pus_of(&solution.slot_of);
        // The search may add costs of crossings, and uses single precision.
        let mut found = cost(&pu_of);
        if self.method == PlaceMethod::Auto
            && let Some((usual, cost, name)) =
                baselines::as_good(self, &problem, &pus, found, cost, is_allowed)
        {
            (pu_of, found) = (usual, cost);
            name.clone_into(&mut proof.method);
        }
        if self.prefers_cache {
            // The proof ignores the preference for big caches, which may cost 1 %.
            let before = found;
            pu_of = self.in_big_caches(&pus, pu_of, before, cost, is_allowed)?;
            found = cost(&pu_of);
            if is_optimal {
                proof.lower_bound = before;
                proof.optimal = found <= before * baselines::AS_GOOD;
            }
        }
        self.answer(JudgedProblem { problem, pus, links, sections }, pu_of, found, proof, baselines)
    }

    /// Searches by runs of the program with pinned tasks, from the baselines and the answer by
    /// distance, until the limit or until all placements were tried.
    ///
    /// # Errors
    /// [`PlaceError`]: the request cannot be met, or a run failed.
    pub fn place_by(&self, judge: TrialJudge) -> Result<PlacementResult, PlaceError> {
        if self.method == PlaceMethod::GetCore {
            return Err(PlaceError::GetCoreByRuns);
        }
        let pus = self.pus()?;
        if self.pattern.tasks > pus.os.len() {
            return Err(PlaceError::TooFewForRuns { tasks: self.pattern.tasks, pus: pus.os.len() });
        }
        let problem = problem(self, &pus)?;
        let sections = sections(self, &pus)?;
        let links = Links::new(self.profile, &pus);
        let divided = sections
            .as_deref()
            .map(|of| divided(&problem, of, self.method == PlaceMethod::Partition))
            .transpose()?;
        let searched = divided.as_ref().unwrap_or(&problem);
        let failure = std::cell::OnceCell::new();
        let run = std::cell::RefCell::new(Vec::new());
        let baselines = baselines::baselines(
            self,
            &problem,
            &pus,
            baselines::DRAWN_BY_RUNS,
            &self.limit,
            |pu_of| {
                let time_ns = (judge.time_ns)(&pus.os_of(pu_of)).unwrap_or_else(|error| {
                    failure.get_or_init(|| error);
                    f64::NAN
                });
                run.borrow_mut().push((pu_of.to_vec(), time_ns));
                time_ns
            },
        );
        if let Some(error) = failure.into_inner() {
            return Err(PlaceError::Run(error));
        }
        let by_distance =
            portfolio(searched, &self.limit.part(DISTANCE_PART), self.seed).solution.slot_of;
        let natural = lawful(searched, (0..searched.slots() as u32).collect());
        let mut trials = Trials::new(searched, &pus.os, judge, self.threads, self.limit.clone());
        let run = run.into_inner();
        let mut starts = vec![by_distance, natural];
        for (pu_of, time_ns) in &run {
            starts.extend(
                baselines::assignment(searched, pu_of)
                    .inspect(|slot_of| trials.know(slot_of, *time_ns)),
            );
        }
        let (solution, all) = trials.search(starts, self.seed)?;
        let method = trials.method(all);
        let agreement = Some(self.agreement(&problem, &pus, &links, &run));
        let proof = Proof {
            lower_bound: judge.floor_ns,
            optimal: all && divided.is_none(),
            rounded: ROUNDED,
            method,
            agreement,
        };
        let pu_of = problem.pus_of(&solution.slot_of);
        let judged = JudgedProblem { problem, pus, links, sections };
        self.answer(judged, pu_of, solution.cost, proof, baselines)
    }

    pub(crate) fn answer(
        &self,
        judged: JudgedProblem,
        pu_of: Vec<usize>,
        cost: f64,
        proof: Proof,
        baselines: Baselines,
    ) -> Result<PlacementResult, PlaceError> {
        let JudgedProblem { problem, pus, links, sections } = judged;
        let optimal = proof.optimal || cost <= proof.lower_bound * proof.rounded;
        let placement = pus.os_of(&pu_of);
        Ok(PlacementResult {
            cost,
            // Single precision may put bounds above the cost.
            lower_bound: if optimal { cost } else { proof.lower_bound.min(cost) },
            optimal,
            baselines,
            agreement: proof.agreement,
            method: proof.method,
            channels: self.channels(&problem, &pus, &placement, sections.as_deref())?,
            busiest_link: links.busiest(&links.loads(&problem.traffic, &pu_of)),
            crossing: sections.map(|sections| crossing(&problem, &sections, &pu_of)),
            placement,
        })
    }

    /// Uses the baselines only, because the search's own runs are near its start.
    fn agreement(
        &self,
        problem: &Problem,
        pus: &Pus,
        links: &Links,
        run: &[(Vec<usize>, f64)],
    ) -> Agreement {
        let times: Vec<f64> = run.iter().map(|(_, time_ns)| *time_ns).collect();
        let [distance, congestion] =
            [Objective::Distance, Objective::Congestion].map(|objective| {
                let costs: Vec<f64> = run
                    .iter()
                    .map(|(pu_of, _)| self.costs(objective, problem, pus, links, pu_of))
                    .collect();
                spearman(&times, &costs)
            });
        Agreement {
            placements: run.len(),
            distance,
            congestion: congestion.filter(|_| !links.is_empty()),
        }
    }

    pub(crate) fn cost(&self, problem: &Problem, pus: &Pus, links: &Links, pu_of: &[usize]) -> f64 {
        self.costs(self.objective, problem, pus, links, pu_of)
    }

    fn costs(
        &self,
        objective: Objective,
        problem: &Problem,
        pus: &Pus,
        links: &Links,
        pu_of: &[usize],
    ) -> f64 {
        if objective == Objective::Time {
            return TimeModel::new(self, problem, pus).map_or(f64::NAN, |model| model.cost(pu_of));
        }
        if objective == Objective::Congestion {
            return links.loads(&problem.traffic, pu_of).into_iter().fold(0.0, f64::max);
        }
        // The reported cost is in double precision.
        let cost = problem.traffic.cost(|task, with| match (pu_of[task], pu_of[with]) {
            // The PU distance is zero; the diagonal has the cost of sharing.
            (a, b) if a == b => f64::from(problem.distance[(a, a)]),
            (a, b) => pus.message_ns(a, b),
        });
        // The sum of an empty list is -0.
        cost + 0.0
    }

    fn search(
        &self,
        problem: &Problem,
        pus: &Pus,
        links: &Links,
        sections: Option<&[u32]>,
        lower_bound: f64,
    ) -> Result<Cheapest, PlaceError> {
        if self.method == PlaceMethod::GetCore {
            let slot_of = crate::seed::lawful(problem, get_core(self, problem, pus)?);
            return Ok(cheapest_by(
                Solution { cost: problem.cost(&slot_of), slot_of },
                false,
                "GetCore",
            ));
        }
        let divided = sections
            .map(|of| divided(problem, of, self.method == PlaceMethod::Partition))
            .transpose()?;
        let searched = divided.as_ref().unwrap_or(problem);
        if self.objective == Objective::Congestion {
            let start = side_by_side(self.threads, self.seed, |seed| {
                portfolio(searched, &self.limit.part(4), seed)
            });
            let starts = std::iter::once(start.solution.slot_of)
                .chain(baselines::starts(self, searched, pus).into_iter().flatten())
                .collect();
            let start = least_loaded(searched, links, starts);
            let found = side_by_side(self.threads, self.seed, |seed| StartSolution {
                solution: anneal(searched, links, &start, &self.limit, seed),
                name: "annealing",
            });
            return Ok(cheapest_by(found.solution, false, found.name));
        }
        let best = cheapest(searched, lower_bound, &self.limit, self.threads, self.seed);
        Ok(match (self.method, &divided) {
            (_, None) => best,
            (PlaceMethod::Partition, _) => {
                cheapest_by(best.solution, false, &format!("partition, {}", best.method))
            }
            _ => cheapest_by(best.solution, false, &format!("pizza slices, {}", best.method)),
        })
    }

    pub(crate) fn channels(
        &self,
        problem: &Problem,
        pus: &Pus,
        placement: &[u32],
        sections: Option<&[u32]>,
    ) -> Result<Vec<seatmap_data::plan::Channel>, PlaceError> {
        let knows_homes = channels::homes(self).is_ok();
        let is_wanted = self.homes
            || (knows_homes && matches!(self.method, PlaceMethod::Pizza(_) | PlaceMethod::GetCore));
        if !is_wanted {
            return Ok(Vec::new());
        }
        let lines = self.profile.home_model.as_ref().and_then(|model| model.lines.as_ref());
        let section_of =
            |os: u32| pus.index_of(os).and_then(|at| sections.map(|sections| sections[at]));
        // Lines with a home in the slice keep its traffic inside.
        channels::choose(self, &problem.traffic, placement, |a, b, home| {
            let at_home =
                lines.and_then(|lines| lines.nearest_pu.get(home)).and_then(|os| section_of(*os));
            sections.is_none()
                || section_of(a) != section_of(b)
                || at_home.is_none()
                || at_home == section_of(a)
        })
    }
}

pub(crate) struct JudgedProblem {
    pub problem: Problem,
    pub pus: Pus,
    pub links: Links,
    pub sections: Option<Vec<u32>>,
}

pub(crate) struct Proof {
    pub lower_bound: f64,
    pub optimal: bool,
    /// Rounding may put an optimal cost above the bound by this factor.
    pub rounded: f64,
    pub method: String,
    pub agreement: Option<Agreement>,
}

/// Random placements take 1/`BASELINES_PART` of the time.
const BASELINES_PART: u32 = 8;

/// With runs, the start by distance takes 1/`DISTANCE_PART` of the time.
const DISTANCE_PART: u32 = 10;

#[cfg(test)]
pub(crate) mod tests;
