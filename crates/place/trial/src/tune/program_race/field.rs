//! The candidates of a race and how to run them.

use crate::tune::program_race::candidates::{orders_and_groups, placements, with_default};
use crate::tune::program_race::cluster_job::{self, ClusterJob};
use crate::tune::program_race::{
    HostGround, ProgramRaceError, ProgramTraffic, RaceEvent, RaceGround, RaceRequest,
};
use crate::tune::trial::Contestant;
use crate::tune::tuned::{CandidateSeats, Entrant, Tuned};
use crate::tune::varied::Varied;
use crate::tune::winner::{self, NoPlan};
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::Plan;
use seatmap_data::statistics::words::counted;
use seatmap_machines::host::topology;
use seatmap_observe::SubjectCommand;
use seatmap_observe::request::one_run;
use seatmap_os::CpuSet;
use seatmap_os::cpus::Cpus;
use seatmap_os::scratch::Scratch;
use seatmap_os::switches::Switch;
use seatmap_place::PlaceRequest;
use seatmap_place::ranks::RankPlan;
use std::path::PathBuf;
use std::time::Duration;

/// Tries of a run if the race's cpuset loses CPUs.
const CPUSET_TRIES: u32 = 10;

/// A job's start counts as hung after this time, in seconds, plus this multiple of the longest run.
const LATE_S: f64 = 20.0;
const LATE_TIMES: f64 = 5.0;

pub struct RaceField<'a> {
    pub request: &'a RaceRequest,
    /// The candidates, the default first.
    pub entrants: Vec<Entrant>,
    seating: Seating<'a>,
}

enum Seating<'a> {
    Host { cpus: CpuSet, plans: Scratch, varied: Option<Varied> },
    Job(Box<ClusterJob<'a>>),
}

impl<'a> RaceField<'a> {
    pub fn new(
        request: &'a RaceRequest,
        stop: &dyn Fn() -> bool,
        hear: &mut dyn FnMut(RaceEvent<'_>),
    ) -> Result<Self, ProgramRaceError> {
        let field = match &request.ground {
            RaceGround::Host(ground) => Self::on_host(request, ground, stop)?,
            RaceGround::Cluster(ground) => {
                let job = ClusterJob::new(request, ground, stop, hear)?;
                let entrants = match &request.earlier {
                    Some(earlier) => earlier.candidates.clone(),
                    None => with_default(job.entrants()?),
                };
                job.write_files(&entrants)?;
                RaceField { request, entrants, seating: Seating::Job(Box::new(job)) }
            }
        };
        assert!(
            field.entrants.first().is_some_and(|first| first.seats == CandidateSeats::Free),
            "the first candidate is the default"
        );
        Ok(field)
    }

    fn on_host(
        request: &'a RaceRequest,
        ground: &HostGround,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, ProgramRaceError> {
        let allowed = CpuSet::of_thread(0)?;
        let topology = topology::of_group().map_err(ProgramRaceError::work)?;
        let cpus = match &ground.cpus {
            Some(list) => {
                // The kernel would silently ignore offline CPUs.
                Cpus::read()?.check(&list.0).map_err(ProgramRaceError::input)?;
                list.0.iter().copied().collect()
            }
            None => allowed,
        };
        if cpus.len() < 2 {
            return Err(ProgramRaceError::input("nothing to tune: there is only one CPU"));
        }
        let mut entrants = match (&request.earlier, &ground.traffic) {
            (Some(earlier), _) => earlier.candidates.clone(),
            (None, Some(traffic)) => with_default(placed(request, traffic, &cpus, stop)?),
            (None, None) => with_default(orders_and_groups(&topology, &cpus)),
        };
        let varied = varied(request, &ground.switches)?;
        if entrants.iter().all(|entrant| !matches!(entrant.seats, CandidateSeats::Kernel(_))) {
            // Early, so that other candidates are dropped first.
            entrants.splice(1..1, varied.iter().flat_map(Varied::entrants));
        }
        entrants.truncate(request.candidates);
        let plans = Scratch::new("tune")?;
        write_plans(&request.provenance.machine, &entrants, &plans)?;
        Ok(RaceField { request, entrants, seating: Seating::Host { cpus, plans, varied } })
    }

    pub fn contestant(&self, candidate: usize) -> Contestant {
        let Entrant { name, seats, .. } = &self.entrants[candidate];
        let free = Contestant {
            name: name.clone(),
            command: self.request.command.clone(),
            ..Contestant::default()
        };
        let (cpus, plans) = match &self.seating {
            Seating::Job(job) => {
                let command = job.command(candidate, seats);
                return Contestant { command, patience: cluster_job::PATIENCE, ..free };
            }
            Seating::Host { cpus, plans, .. } => (cpus, plans),
        };
        let on_seats = self.request.own.on_seats;
        match seats {
            CandidateSeats::Within(list) => Contestant { cpus: CpuSet::of_list(list), ..free },
            CandidateSeats::Order(list) => {
                Contestant { launcher: on_seats(&["--cpus", list]), ..free }
            }
            CandidateSeats::Placement(_) => {
                let plan = plan_file(plans, candidate);
                Contestant { launcher: on_seats(&["--plan", &plan.to_string_lossy()]), ..free }
            }
            // The default uses the same CPUs as the others, and no more.
            CandidateSeats::Free | CandidateSeats::Ranks(_) | CandidateSeats::Kernel(_) => {
                Contestant { cpus: Some(cpus.clone()), ..free }
            }
        }
    }

    pub fn with_its_kernel<T>(
        &self,
        candidate: usize,
        run: impl FnOnce() -> T,
    ) -> Result<T, ProgramRaceError> {
        match (&self.entrants[candidate].seats, &self.seating) {
            (CandidateSeats::Kernel(setting), Seating::Host { varied: Some(varied), .. }) => {
                varied.with(setting, run).map_err(ProgramRaceError::work)
            }
            (CandidateSeats::Kernel(setting), _) => Err(ProgramRaceError::input(format!(
                "a candidate changes a kernel setting; add --vary {}",
                setting.switch
            ))),
            _ => Ok(run()),
        }
    }

    pub fn seats(&self) -> String {
        match &self.seating {
            Seating::Host { cpus, .. } => {
                format!("{} and the kernel's choice", counted(cpus.len(), "CPU"))
            }
            Seating::Job(job) => job.seats(),
        }
    }

    /// Why a failed run may be repeated: here, the cpuset lacked CPUs.
    pub fn excuse<'e>(&self, error: &'e ProgramRaceError, tries: u32) -> Option<RaceEvent<'e>> {
        match &self.seating {
            Seating::Host { cpus, .. } => {
                let here = Cpus::read().ok()?;
                let has_lost = cpus.iter().any(|cpu| here.check(&[cpu]).is_err());
                (tries < CPUSET_TRIES && has_lost).then_some(RaceEvent::CpusetShrunk)
            }
            Seating::Job(_) => {
                cluster_job::may_fail(tries).then_some(RaceEvent::StartFailed { error })
            }
        }
    }

    /// The time limit of a run, because a start of a job may hang.
    pub fn limit(&self, longest_s: f64) -> Option<Duration> {
        // The limit needs the length of an earlier run.
        let is_job = matches!(self.seating, Seating::Job(_)) && longest_s > 0.0;
        is_job.then(|| Duration::from_secs_f64((LATE_S + LATE_TIMES * longest_s).ceil()))
    }

    pub fn winners_plan(&self, tuned: &Tuned) -> Result<Result<String, NoPlan>, ProgramRaceError> {
        let provenance = &self.request.provenance;
        match (&self.seating, winner::safe(tuned)) {
            (_, Err(none)) => Ok(Err(none)),
            (Seating::Host { .. }, Ok(winner)) => Ok(winner::plan(winner, provenance)),
            (Seating::Job(job), Ok(winner)) => {
                let plan = RankPlan {
                    method: winner::method(winner),
                    date: Some(provenance.date.clone()),
                    tool: Some(provenance.tool.clone()),
                    ..job.plan(&winner.name, &winner.seats)?
                };
                Ok(Ok(plan.to_json()))
            }
        }
    }
}

fn placed(
    request: &RaceRequest,
    traffic: &ProgramTraffic,
    cpus: &CpuSet,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<Entrant>, ProgramRaceError> {
    let observed;
    let pattern = match &traffic.pattern {
        Some(pattern) => pattern,
        None => {
            observed = seen(request, stop)?;
            &observed
        }
    };
    let mut place = PlaceRequest {
        seed: request.seed,
        cpus: Some(cpus.iter().collect()),
        ..PlaceRequest::new(&traffic.profile, pattern)
    };
    place.objective = traffic.objective.unwrap_or_else(|| place.usual_objective());
    Ok(placements(place, request.candidates.saturating_sub(1))?)
}

fn seen(request: &RaceRequest, stop: &dyn Fn() -> bool) -> Result<Pattern, ProgramRaceError> {
    let command = SubjectCommand { words: request.command.clone(), leaves_stdout: true };
    let pattern = one_run(&command, stop)?.pattern("observed");
    if pattern.edges.is_empty() {
        return Err(ProgramRaceError::work(
            "no messages between threads were observed, so all placements are estimated as equal; \
             leave --observe out to race orders and groups of CPUs",
        ));
    }
    Ok(pattern)
}

fn varied(request: &RaceRequest, switches: &[Switch]) -> Result<Option<Varied>, ProgramRaceError> {
    let mut once: Vec<Switch> = Vec::new();
    for switch in switches {
        if !once.contains(switch) {
            once.push(*switch);
        }
    }
    if once.is_empty() {
        return Ok(None);
    }
    let varied = Varied::begin(&once, &(request.own.switch_guardian)());
    varied.map(Some).map_err(ProgramRaceError::work)
}

fn plan_file(plans: &Scratch, candidate: usize) -> PathBuf {
    plans.path().join(format!("{candidate}.json"))
}

fn write_plans(
    machine: &str,
    entrants: &[Entrant],
    plans: &Scratch,
) -> Result<(), ProgramRaceError> {
    for (at, entrant) in entrants.iter().enumerate() {
        if let CandidateSeats::Placement(placement) = &entrant.seats {
            let plan = Plan::new(machine.to_owned(), placement.clone());
            std::fs::write(plan_file(plans, at), plan.to_json())?;
        }
    }
    Ok(())
}
