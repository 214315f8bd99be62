//! A placement request and its appraisal.

use crate::appraise::rehearsal::RehearsalError;
use crate::appraise::{DrawnPlacement, MachineLinks, Rehearsal};
use seatmap_data::document::Blame;
use seatmap_data::machine::Level;
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::{Objective, Plan};
use seatmap_machines::catalog::Machine;
use seatmap_place::search::{SearchStop, SearchTime};
use seatmap_place::typical::DRAWN;
use seatmap_place::{OTHER_WAY_PART, PlaceError, PlaceRequest, PlacementRemark, PlacementResult};
use seatmap_sim::SimError;
use std::time::Instant;

/// Tracing more over the links takes longer than a search.
const MOST_EDGES: usize = 100_000;

/// A request for the seats of a pattern's tasks on a machine.
pub struct AppraisalRequest<'a> {
    /// Machine.
    pub machine: &'a Machine,
    /// The requested placement. `time` replaces its limit.
    pub place: PlaceRequest<'a>,
    /// How long to search.
    pub time: SearchTime,
    /// Lets another thread end the search, with an error.
    pub stop: Option<SearchStop>,
    /// How often all messages are sent in a run.
    pub rounds: u32,
    /// Each task may run on all CPUs of this group around its own.
    pub widen: Option<Level>,
    /// Each task uses memory of its CPU's NUMA node.
    pub near_memory: bool,
    /// Whether remarks are requested. Trying the other use of SMT takes part of the time.
    pub with_remarks: bool,
    /// Placement to draw next to the plan, if a picture is requested.
    pub before: Option<BeforePlan>,
    /// Today, `YYYY-MM-DD`.
    pub date: String,
    /// Requesting tool with its version.
    pub tool: String,
}

/// The placement drawn next to a plan.
#[derive(Clone, Copy)]
pub enum BeforePlan {
    /// Tasks in order on CPUs in order.
    InOrder,
    /// The random placement with the median cost of [`DRAWN`].
    Random,
}

/// A plan with remarks.
#[derive(Debug)]
pub struct Appraisal {
    /// Seats of the tasks.
    pub plan: Plan,
    /// Remarks in reading order.
    pub remarks: Vec<PlacementRemark>,
    /// Before and after, for a picture. Links have simulator counts if runs are the objective.
    pub before_and_after: Option<[DrawnPlacement; 2]>,
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum AppraisalError {
    /// The placement is impossible.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The pattern's messages cannot be run.
    #[error(transparent)]
    Rehearsal(#[from] RehearsalError),
    /// An observed program did nothing that depends on seats.
    #[error(
        "nothing to place: {0} shows no work and no messages, so all placements cost 0; \
         'seatmap observe --method tsan' may find more messages"
    )]
    NothingToPlace(String),
    /// A drawn placement could not be run.
    #[error(transparent)]
    Count(SimError),
    /// Another thread ended the search.
    #[error("the search was stopped")]
    Stopped,
}

impl Blame for AppraisalError {
    fn is_input(&self) -> bool {
        !matches!(
            self,
            AppraisalError::Count(_) | AppraisalError::NothingToPlace(_) | AppraisalError::Stopped
        )
    }
}

impl AppraisalRequest<'_> {
    /// Searches until the time is over, the result is proven optimal, or another thread ends the
    /// search.
    ///
    /// # Errors
    ///
    /// [`AppraisalError`].
    pub fn appraise(&self) -> Result<Appraisal, AppraisalError> {
        let began = Instant::now();
        let mut request = self.place.clone().settled()?;
        // Remarks search too, so both share the user's time.
        request.limit = if self.with_remarks && request.has_other_way() {
            self.time.without_part(OTHER_WAY_PART)
        } else {
            self.time.limit()
        }
        .unless(self.stop.clone());
        let rehearsal = match request.objective {
            Objective::Simulated => Some(Rehearsal::new(self.machine, &request, self.rounds)?),
            _ => None,
        };
        let answer = match &rehearsal {
            Some(rehearsal) => rehearsal.judged(|judge| request.place_by(judge))?,
            None => request.place()?,
        };
        self.check_goes_on()?;
        if costs_nothing_anywhere(&answer) && did_nothing(request.pattern) {
            return Err(AppraisalError::NothingToPlace(request.pattern.name.clone()));
        }
        let mut plan = self.plan(&request, &answer)?;
        plan.seconds = Some(began.elapsed().as_secs_f64());
        let remarks =
            if self.with_remarks { self.remarks(&request, &answer, &plan)? } else { Vec::new() };
        self.check_goes_on()?;
        let before_and_after = match self.before {
            Some(before) => Some(before_and_after(before, &request, &plan, rehearsal.as_ref())?),
            None => None,
        };
        Ok(Appraisal { plan, remarks, before_and_after })
    }

    fn check_goes_on(&self) -> Result<(), AppraisalError> {
        match &self.stop {
            Some(stop) if stop.is_stopped() => Err(AppraisalError::Stopped),
            _ => Ok(()),
        }
    }

    fn plan(&self, request: &PlaceRequest, answer: &PlacementResult) -> Result<Plan, PlaceError> {
        let mut plan = request.plan(answer);
        plan.effect = request.effect(&answer.placement)?;
        plan.date = Some(self.date.clone());
        plan.tool = Some(self.tool.clone());
        let topology = &request.profile.topology;
        if let Some(level) = self.widen {
            plan.widen(topology, |pu| level.of(pu));
        }
        if self.near_memory {
            plan.near_memory(topology);
        }
        Ok(plan)
    }

    fn remarks(
        &self,
        request: &PlaceRequest,
        answer: &PlacementResult,
        plan: &Plan,
    ) -> Result<Vec<PlacementRemark>, PlaceError> {
        let mut remarks = request.remarks(answer, plan, self.time)?;
        remarks.extend(self.busier_link(request, plan)?);
        Ok(remarks)
    }

    /// `time` ignores links too, but objectives with links ignore loads, so no alternative can be
    /// proposed.
    fn busier_link(
        &self,
        request: &PlaceRequest,
        plan: &Plan,
    ) -> Result<Option<PlacementRemark>, PlaceError> {
        let pattern = request.pattern;
        if request.objective != Objective::Distance || pattern.edges.len() > MOST_EDGES {
            return Ok(None);
        }
        let model = self.machine.model();
        let links = MachineLinks::of(request.profile, model);
        let in_order = links.busiest(pattern, &in_order(request, plan)?);
        let planned = links.busiest(pattern, &DrawnPlacement::planned(pattern, plan));
        match (in_order, planned) {
            (Some(in_order), Some(planned)) => {
                PlacementRemark::busier_link(request, &in_order, planned, model.is_some())
            }
            _ => Ok(None),
        }
    }
}

fn did_nothing(pattern: &Pattern) -> bool {
    pattern.observation.is_some()
        && pattern.loads.iter().all(|load| *load == 0.0)
        && pattern.edges.iter().all(|edge| edge.messages == 0.0)
}

fn costs_nothing_anywhere(answer: &PlacementResult) -> bool {
    let usual = answer.baselines;
    let costs = [answer.cost, usual.os, usual.compact, usual.scatter, usual.random.mean];
    costs.iter().all(|cost| *cost == 0.0)
}

fn in_order(request: &PlaceRequest, plan: &Plan) -> Result<DrawnPlacement, PlaceError> {
    let placement = request.in_order()?;
    Ok(DrawnPlacement::in_order(request.profile, request.pattern, plan, placement))
}

fn before_and_after(
    before: BeforePlan,
    request: &PlaceRequest,
    plan: &Plan,
    rehearsal: Option<&Rehearsal>,
) -> Result<[DrawnPlacement; 2], AppraisalError> {
    let pattern = request.pattern;
    let before = match (before, rehearsal) {
        (BeforePlan::InOrder, _) => in_order(request, plan)?,
        (BeforePlan::Random, _) => {
            let drawn = match rehearsal {
                Some(rehearsal) => rehearsal.judged(|judge| request.typical(Some(judge)))?,
                None => request.typical(None)?,
            };
            DrawnPlacement::at_random(request.profile, pattern, plan, drawn, DRAWN)
        }
    };
    let mut both = [before, DrawnPlacement::planned(pattern, plan)];
    if let Some(rehearsal) = rehearsal {
        for seating in &mut both {
            rehearsal.count(seating).map_err(AppraisalError::Count)?;
        }
    }
    Ok(both)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::pattern::generate;
    use seatmap_machines::catalog::Surroundings;
    use seatmap_place::SmtUse;

    fn appraisal(
        name: &str,
        pattern: &str,
        change: impl Fn(&mut AppraisalRequest),
    ) -> Result<Appraisal, AppraisalError> {
        let machine = Machine::bundled(name).unwrap();
        let surroundings = Surroundings {
            today: "2026-01-01",
            tool: "test",
            read: &|_| Err(std::io::ErrorKind::NotFound.into()),
        };
        let profile = machine.profile(&surroundings).unwrap();
        let pattern = generate(pattern).unwrap();
        let mut request = AppraisalRequest {
            machine: &machine,
            place: PlaceRequest::new(&profile, &pattern),
            time: SearchTime::Kicks(50),
            stop: None,
            rounds: crate::appraise::rehearsal::ROUNDS,
            widen: None,
            near_memory: false,
            with_remarks: false,
            before: None,
            date: "2026-01-01".to_owned(),
            tool: "test".to_owned(),
        };
        change(&mut request);
        request.appraise()
    }

    #[test]
    fn simulation_judges_and_counts_both_placements() {
        let appraisal = appraisal("scc-48", "ring:4", |request| {
            request.place.objective = Objective::Simulated;
            request.before = Some(BeforePlan::InOrder);
        })
        .unwrap();
        let both = appraisal.before_and_after.unwrap();
        let messages = |seating: &DrawnPlacement| seating.counted.iter().flatten().sum::<f64>();
        assert!(both.iter().all(|seating| messages(seating) > 0.0), "{both:?}");
        assert_eq!(both[1].placement, appraisal.plan.placement);
        assert_eq!(both[0].cost, appraisal.plan.baselines.map(|usual| usual.os));
        assert!(appraisal.remarks.is_empty(), "nobody reads them");
    }

    #[test]
    fn seats_are_widened_and_memory_is_near() {
        let appraisal = appraisal("xeon-e5-2680-2s", "ring:4", |request| {
            request.widen = Some(Level::Core);
            request.near_memory = true;
            request.place.smt = SmtUse::Apart;
        })
        .unwrap();
        let plan = &appraisal.plan;
        assert!(plan.seats.iter().all(|seat| seat.len() == 2), "{:?}", plan.seats);
        assert!(plan.memory.iter().all(|nodes| nodes.len() == 1), "{:?}", plan.memory);
        assert_eq!(
            (plan.date.as_deref(), plan.tool.as_deref()),
            (Some("2026-01-01"), Some("test"))
        );
    }

    #[test]
    fn stopped_search_has_no_plan() {
        let stop = SearchStop::default();
        let searched = std::thread::scope(|scope| {
            let searching = scope.spawn(|| {
                appraisal("epyc-9654-2s", "stencil2d:8x8", |request| {
                    request.time = SearchTime::Seconds(1e6);
                    request.stop = Some(stop.clone());
                    request.with_remarks = true;
                })
            });
            stop.stop();
            searching.join().unwrap()
        });
        let error = searched.unwrap_err();
        assert!(matches!(error, AppraisalError::Stopped) && !error.is_input(), "{error}");
    }

    #[test]
    fn homes_only_method_cannot_be_judged_by_runs() {
        let error = appraisal("scc-48", "ring:4", |request| {
            request.place.objective = Objective::Simulated;
            request.place.method = seatmap_place::PlaceMethod::GetCore;
        })
        .unwrap_err();
        assert!(error.is_input());
        assert!(error.to_string().starts_with("GetCore chooses by homes alone"), "{error}");
    }
}
