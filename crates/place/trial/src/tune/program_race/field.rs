//! The candidates of a race and how to run them.

use crate::tune::counts::CountAxis;
use crate::tune::program_race::candidates::{
    memory_policies, orders_and_groups, placements, present_wait_policy, wait_policies,
    with_default,
};
use crate::tune::program_race::cluster_job::{self, ClusterJob};
use crate::tune::program_race::{
    HostGround, ProgramTraffic, RaceDimension, RaceEvent, RaceGround, RaceRequest,
};
use crate::tune::trial::Contestant;
use crate::tune::tried_counts::TriedCounts;
use crate::tune::tuned::{CandidateSeats, Entrant, Tuned};
use crate::tune::varied::Varied;
use crate::tune::winner;
use seatmap_data::document::Failure;
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::Plan;
use seatmap_data::statistics::words::counted;
use seatmap_launch::count::CpuCount;
use seatmap_machines::host::topology;
use seatmap_observe::SubjectCommand;
use seatmap_observe::request::one_run;
use seatmap_os::cpus::Cpus;
use seatmap_os::mempolicy::MemoryNodes;
use seatmap_os::scratch::Scratch;
use seatmap_os::switches::Switch;
use seatmap_os::{CpuSet, Root};
use seatmap_place::PlaceRequest;
use seatmap_place::ranks::RankPlan;
use std::path::PathBuf;
use std::time::Duration;

/// Tries of a run if the race's cpuset loses CPUs.
const CPUSET_TRIES: u32 = 10;

/// A start of the job counts as hung after this time, in seconds, plus this multiple of the longest
/// run.
const LATE_S: f64 = 20.0;
const LATE_TIMES: f64 = 5.0;

pub struct RaceField<'a> {
    pub request: &'a RaceRequest,
    /// The candidates, the default first.
    pub entrants: Vec<Entrant>,
    seating: Seating<'a>,
}

enum Seating<'a> {
    Host(Box<HostSeating>),
    Job(Box<ClusterJob<'a>>),
}

struct HostSeating {
    cpus: CpuSet,
    plans: Scratch,
    varied: Option<Varied>,
    axis: Option<CountAxis>,
}

impl<'a> RaceField<'a> {
    pub fn new(
        request: &'a RaceRequest,
        stop: &dyn Fn() -> bool,
        hear: &mut dyn FnMut(RaceEvent<'_>),
    ) -> Result<Self, Failure> {
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
    ) -> Result<Self, Failure> {
        let allowed = CpuSet::of_thread(0)?;
        let topology = topology::of_group().map_err(Failure::work)?;
        let cpus = match &ground.cpus {
            Some(list) => {
                // The kernel would silently ignore offline CPUs.
                Cpus::read()?.check(&list.0).map_err(Failure::input)?;
                list.0.iter().copied().collect()
            }
            None => allowed,
        };
        if cpus.len() < 2 {
            return Err(Failure::input("nothing to tune: there is only one CPU"));
        }
        let mut entrants = match (&request.earlier, &ground.traffic) {
            (Some(earlier), _) => earlier.candidates.clone(),
            (None, Some(traffic)) => with_default(placed(request, traffic, &cpus, stop)?),
            (None, None) => {
                with_default(orders_and_groups(&topology, &cpus, ground.cpus.is_some()))
            }
        };
        let varied = varied(request, &ground.vary)?;
        let mut varying: Vec<Entrant> = varied.iter().flat_map(Varied::entrants).collect();
        varying.extend(settings(&ground.vary)?);
        // An earlier race has them already.
        varying.retain(|one| entrants.iter().all(|other| !one.starts_like(other)));
        // Early, so that other candidates are dropped first.
        entrants.splice(1..1, varying);
        let limits = CpuCount::of_self()?;
        let axis = ground.counts.clone().map(|axis| axis.or_usual(cpus.len(), &limits));
        let plans = Scratch::new("tune")?;
        let host = HostSeating { cpus, plans, varied, axis };
        let mut field = RaceField { request, entrants, seating: Seating::Host(Box::new(host)) };
        field.entrants.truncate(request.candidates);
        field.write_plans()?;
        Ok(field)
    }

    /// The numbers of threads that race.
    pub fn axis(&self) -> Option<&CountAxis> {
        match &self.seating {
            Seating::Host(host) => host.axis.as_ref(),
            Seating::Job(_) => None,
        }
    }

    /// Those that the earlier race has found, or none of them tried.
    pub fn counts(&self) -> Option<TriedCounts> {
        let new = TriedCounts::new(self.axis()?, self.request.second.as_ref());
        let earlier = self.request.earlier.as_ref().and_then(|earlier| earlier.counts.clone());
        let found = earlier.filter(|found| found.best.is_some());
        Some(found.filter(|found| found.in_words() == new.in_words()).unwrap_or(new))
    }

    /// The candidates, including those of a number of threads not yet known.
    pub fn most_candidates(&self) -> usize {
        let is_sought = self.counts().is_some_and(|counts| counts.best.is_none());
        self.request.candidates.min(self.entrants.len() + usize::from(is_sought))
    }

    /// Lets a number of threads race, and all other candidates with it, or with one for each of
    /// their CPUs if fewer.
    pub fn race_at(&mut self, count: u32) {
        for entrant in self.entrants.iter_mut().skip(1) {
            let cpus = match &entrant.seats {
                CandidateSeats::Within(list) | CandidateSeats::Order(list) => CpuSet::of_list(list),
                _ => None,
            };
            let count = cpus.map_or(count, |cpus| count.min(cpus.len() as u32));
            entrant.count = Some(count);
            entrant.name = format!("{}, {}", entrant.name, counted(count as usize, "thread"));
        }
        let name = counted(count as usize, "thread");
        let free = Entrant { count: Some(count), ..Entrant::new(name, CandidateSeats::Free) };
        self.entrants.insert(1, free);
        self.entrants.truncate(self.request.candidates);
    }

    pub fn contestant(&self, candidate: usize) -> Contestant {
        let entrant = &self.entrants[candidate];
        match &self.seating {
            Seating::Job(job) => Contestant {
                name: entrant.name.clone(),
                command: job.command(candidate, &entrant.seats),
                patience: cluster_job::PATIENCE,
                ..Contestant::default()
            },
            Seating::Host(host) => self.on_seats(host, entrant, candidate),
        }
    }

    /// The program with a number of threads, which are counted, on all CPUs.
    pub fn at_count(&self, count: u32) -> Option<Contestant> {
        let Seating::Host(host) = &self.seating else { return None };
        let entrant = Entrant { count: Some(count), ..Entrant::default() };
        Some(Contestant { counts_threads: true, ..self.on_seats(host, &entrant, 0) })
    }

    fn on_seats(&self, host: &HostSeating, entrant: &Entrant, candidate: usize) -> Contestant {
        let set = entrant.variables.iter().filter_map(|variable| variable.split_once('='));
        let mut variables: Vec<(String, String)> =
            set.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let mut command = self.request.command.clone();
        if let Some(axis) = &host.axis {
            variables.extend(entrant.count.and_then(|count| axis.variable(count)));
            command = axis.command(&command, entrant.count);
        }
        let mut options: Vec<String> = Vec::new();
        let cpus = match &entrant.seats {
            CandidateSeats::Within(list) => CpuSet::of_list(list),
            CandidateSeats::Order(list) => {
                options.extend(["--cpus".to_owned(), list.clone()]);
                None
            }
            CandidateSeats::Placement(_) => {
                let plan = plan_file(&host.plans, candidate).to_string_lossy().into_owned();
                options.extend(["--plan".to_owned(), plan]);
                None
            }
            // The default uses the same CPUs as the others, and no more.
            CandidateSeats::Free | CandidateSeats::Ranks(_) | CandidateSeats::Kernel(_) => {
                Some(host.cpus.clone())
            }
        };
        let memory = entrant.memory.iter();
        options.extend(memory.flat_map(|policy| ["--memory".to_owned(), policy.clone()]));
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let launcher =
            if options.is_empty() { Vec::new() } else { (self.request.own.on_seats)(&options) };
        let name = entrant.name.clone();
        Contestant { name, command, launcher, cpus, variables, ..Contestant::default() }
    }

    pub fn with_its_kernel<T>(
        &self,
        candidate: usize,
        run: impl FnOnce() -> T,
    ) -> Result<T, Failure> {
        match (&self.entrants[candidate].seats, &self.seating) {
            (CandidateSeats::Kernel(setting), Seating::Host(host)) => match &host.varied {
                Some(varied) => varied.with(setting, run),
                None => Err(Failure::input(format!(
                    "a candidate changes a kernel setting; add --vary {}",
                    setting.switch
                ))),
            },
            _ => Ok(run()),
        }
    }

    pub fn seats(&self) -> String {
        match &self.seating {
            Seating::Host(host) => {
                format!("{} and the kernel's choice", counted(host.cpus.len(), "CPU"))
            }
            Seating::Job(job) => job.seats(),
        }
    }

    /// Why a failed run may be repeated: here, the cpuset lacked CPUs.
    pub fn excuse<'e>(&self, error: &'e Failure, tries: u32) -> Option<RaceEvent<'e>> {
        match &self.seating {
            Seating::Host(host) => {
                let here = Cpus::read().ok()?;
                let has_lost = host.cpus.iter().any(|cpu| here.check(&[cpu]).is_err());
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

    fn write_plans(&self) -> Result<(), Failure> {
        let Seating::Host(host) = &self.seating else { return Ok(()) };
        let machine = &self.request.provenance.machine;
        for (at, entrant) in self.entrants.iter().enumerate() {
            if let CandidateSeats::Placement(placement) = &entrant.seats {
                let plan = Plan::new(machine.clone(), placement.clone());
                std::fs::write(plan_file(&host.plans, at), plan.to_json())?;
            }
        }
        Ok(())
    }

    pub fn winners_plan(&self, tuned: &Tuned) -> Result<Result<String, String>, Failure> {
        let provenance = &self.request.provenance;
        match (&self.seating, winner::safe(tuned)) {
            (_, Err(none)) => Ok(Err(none)),
            (Seating::Host(_), Ok(winner)) => Ok(winner::plan(winner, provenance)),
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
) -> Result<Vec<Entrant>, Failure> {
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

fn seen(request: &RaceRequest, stop: &dyn Fn() -> bool) -> Result<Pattern, Failure> {
    let command = SubjectCommand { words: request.command.clone(), leaves_stdout: true };
    let pattern = one_run(&command, stop)?.pattern("observed");
    if pattern.edges.is_empty() {
        return Err(Failure::work(
            "no messages between threads were observed, so all placements are estimated as equal; \
             leave --observe out to race orders and groups of CPUs",
        ));
    }
    Ok(pattern)
}

fn varied(request: &RaceRequest, dimensions: &[RaceDimension]) -> Result<Option<Varied>, Failure> {
    let mut once: Vec<Switch> = Vec::new();
    for dimension in dimensions {
        if let RaceDimension::Switch(switch) = dimension
            && !once.contains(switch)
        {
            once.push(*switch);
        }
    }
    if once.is_empty() {
        return Ok(None);
    }
    let varied = Varied::begin(&once, &(request.own.switch_guardian)());
    varied.map(Some)
}

/// The candidates with another setting of the program.
fn settings(dimensions: &[RaceDimension]) -> Result<Vec<Entrant>, Failure> {
    let mut entrants = Vec::new();
    if dimensions.contains(&RaceDimension::WaitPolicy) {
        entrants.extend(wait_policies(present_wait_policy().as_deref()));
    }
    if dimensions.contains(&RaceDimension::Memory) {
        let policies = memory_policies(&MemoryNodes::read(&Root::new("/")).usable());
        if policies.is_empty() {
            return Err(Failure::input(
                "memory policies do not differ here, because this process may use one NUMA node; \
                 leave --vary memory out",
            ));
        }
        entrants.extend(policies);
    }
    Ok(entrants)
}

fn plan_file(plans: &Scratch, candidate: usize) -> PathBuf {
    plans.path().join(format!("{candidate}.json"))
}
