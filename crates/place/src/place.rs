//! From a request to an answer.

use crate::bound::gilmore_lawler;
use crate::build::problem;
use crate::congestion::anneal;
use crate::exact::{MOST_TASKS, exact};
use crate::get_core::get_core;
use crate::link_bound::link_bound;
use crate::multilevel::{SMALLEST, multilevel};
use crate::portfolio::{Started, portfolio};
use crate::search::Found;
use crate::sections::{crossing, divided, sections};
use crate::{Answer, Links, Method, PlaceError, Problem, Pus, Request, baselines, channels};
use seatmap_plan::Objective;

impl Request<'_> {
    /// Searches until the limit, or until the answer is proven.
    ///
    /// # Errors
    /// [`PlaceError`]: what is asked cannot be had on this machine.
    pub fn place(&self) -> Result<Answer, PlaceError> {
        let pus = self.pus()?;
        let problem = problem(self, &pus)?;
        let sections = sections(self, &pus)?;
        let links = Links::new(self.profile, &pus);
        if self.objective == Objective::Congestion && links.is_empty() {
            let machine = &self.profile.name;
            return Err(PlaceError::Unfit(format!("{machine} has no groups of PUs that share a link; use distance")));
        }
        let lower_bound = match self.objective {
            Objective::Congestion => link_bound(&problem, &links),
            _ => gilmore_lawler(&problem),
        };
        let (mut found, optimal, method) = self.search(&problem, &pus, &links, sections.as_deref(), lower_bound)?;
        let cost = |pu_of: &[usize]| self.cost(&problem, &pus, &links, pu_of);
        let pu_of: Vec<usize> =
            (0..problem.tasks()).map(|t| problem.pu_of_slot[found.slot_of[t] as usize] as usize).collect();
        found.cost = cost(&pu_of);
        let optimal = optimal || found.cost <= lower_bound * (1.0 + 1e-9);
        let placement: Vec<u32> = pu_of.iter().map(|pu| pus.os[*pu]).collect();
        Ok(Answer {
            cost: found.cost,
            lower_bound: if optimal { found.cost } else { lower_bound.min(found.cost) },
            optimal,
            baselines: baselines::baselines(self, &problem, &pus, cost),
            method,
            channels: self.channels(&problem, &pus, &placement, sections.as_deref())?,
            busiest_link: links.busiest(&links.loads(&problem.traffic, &pu_of)),
            crossing: sections.map(|sections| crossing(&problem, &sections, &found)),
            placement,
        })
    }

    fn cost(&self, problem: &Problem, pus: &Pus, links: &Links, pu_of: &[usize]) -> f64 {
        if self.objective == Objective::Congestion {
            return links.loads(&problem.traffic, pu_of).into_iter().fold(0.0, f64::max);
        }
        // The searches use single precision; what is told does not.
        let at = |a: usize, b: usize| match (pu_of[a], pu_of[b]) {
            (a, b) if a == b => f64::from(problem.distance[(a, a)]),
            (a, b) => pus.distance_ns[(a, b)],
        };
        let later = |task: usize| problem.traffic.of(task).filter(move |(with, _)| *with > task);
        (0..problem.tasks()).map(|task| later(task).map(|(with, weight)| weight * at(task, with)).sum::<f64>()).sum()
    }

    /// The best found, whether it is proven to be the best, and how it was found.
    fn search(
        &self,
        problem: &Problem,
        pus: &Pus,
        links: &Links,
        sections: Option<&[u32]>,
        lower_bound: f64,
    ) -> Result<(Found, bool, String), PlaceError> {
        if self.method == Method::GetCore {
            let slot_of = crate::seed::lawful(problem, get_core(self, problem, pus)?);
            return Ok((Found { cost: problem.cost(&slot_of), slot_of }, false, "GetCore".to_owned()));
        }
        let divided = sections.map(|of| divided(problem, of, self.method == Method::Partition)).transpose()?;
        let searched = divided.as_ref().unwrap_or(problem);
        if self.objective == Objective::Congestion {
            let start =
                parallel(self.threads, |at| portfolio(searched, &self.limit.part(4), self.seed.wrapping_add(at)));
            let found = parallel(self.threads, |at| Started {
                found: anneal(searched, links, &start.found, &self.limit, self.seed.wrapping_add(at)),
                name: "annealing",
            });
            return Ok((found.found, false, "annealing".to_owned()));
        }
        let (found, optimal, mut method) = self.by_distance(searched, lower_bound);
        if divided.is_some() {
            let first = if self.method == Method::Partition { "partition" } else { "pizza slices" };
            method = format!("{first}, {method}");
        }
        Ok((found, optimal && divided.is_none(), method))
    }

    fn by_distance(&self, problem: &Problem, lower_bound: f64) -> (Found, bool, String) {
        // What meets the bound cannot be bettered.
        let limit = self.limit.until(lower_bound * (1.0 + 1e-9));
        if problem.slots() >= SMALLEST {
            let best = parallel(self.threads, |at| multilevel(problem, &limit, self.seed.wrapping_add(at)));
            return (best.found, false, format!("multilevel from {}", best.name));
        }
        let is_small = problem.tasks() <= MOST_TASKS;
        let limit = if is_small { limit.part(3) } else { limit };
        let best = if is_small {
            portfolio(problem, &limit.part(3), self.seed)
        } else {
            parallel(self.threads, |at| portfolio(problem, &limit, self.seed.wrapping_add(at)))
        };
        if best.found.cost <= lower_bound * (1.0 + 1e-9) {
            return (best.found, true, best.name.to_owned());
        }
        if is_small && let Some(found) = exact(problem, &best.found, &self.limit) {
            return (found, true, "branch and bound".to_owned());
        }
        (best.found, false, best.name.to_owned())
    }

    fn channels(
        &self,
        problem: &Problem,
        pus: &Pus,
        placement: &[u32],
        sections: Option<&[u32]>,
    ) -> Result<Vec<seatmap_plan::Channel>, PlaceError> {
        let knows_homes = channels::homes(self).is_ok();
        let is_wanted = self.homes || (knows_homes && matches!(self.method, Method::Pizza(_) | Method::GetCore));
        if !is_wanted {
            return Ok(Vec::new());
        }
        let lines = self.profile.home_model.as_ref().and_then(|model| model.lines.as_ref());
        let section_of = |os: u32| pus.index_of(os).and_then(|at| sections.map(|sections| sections[at]));
        // In a slice, lines whose home lies in it keep the traffic inside.
        let allowed = |a: u32, b: u32, home: usize| {
            let at_home = lines.and_then(|lines| lines.nearest_pu.get(home)).and_then(|os| section_of(*os));
            sections.is_none() || section_of(a) != section_of(b) || at_home.is_none() || at_home == section_of(a)
        };
        channels::choose(self, &problem.traffic, placement, allowed)
    }
}

/// The best of several searches side by side, told apart by their number.
fn parallel(threads: usize, search: impl Fn(u64) -> Started + Sync) -> Started {
    let best = |a: Started, b: Started| if b.found.cost < a.found.cost { b } else { a };
    std::thread::scope(|scope| {
        let search = &search;
        let others: Vec<_> = (1..threads as u64).map(|at| scope.spawn(move || search(at))).collect();
        // A search that panicked would be a defect; the others' answers are still good.
        others.into_iter().filter_map(|other| other.join().ok()).fold(search(0), best)
    })
}

#[cfg(test)]
mod tests;
