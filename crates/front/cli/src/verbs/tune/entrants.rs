//! The candidates of a race.

use super::job::{self, Job};
use crate::args::Tune;
use crate::myself;
use crate::verbs::observe;
use seatmap_console::error::CliError;
use seatmap_console::here::host_name;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::{input, pattern_input};
use seatmap_machine::{Matrix, Topology};
use seatmap_os::cpus::Cpus;
use seatmap_os::scratch::Scratch;
use seatmap_os::switches::Switch;
use seatmap_os::{CpuList, CpuSet};
use seatmap_pattern::Pattern;
use seatmap_place::{Level, PlaceRequest, orders};
use seatmap_plan::Plan;
use seatmap_ranks::RankPlan;
use seatmap_report::counted;
use seatmap_tune::tuned::{Entrant, Seats};
use seatmap_tune::varied::Varied;
use seatmap_tune::{Contestant, Tuned};
use std::path::PathBuf;
use std::time::Duration;

/// Runs of one turn where the race's cpuset had lost CPUs meanwhile.
const CPUSET_TRIES: u32 = 10;

/// A start of a job hangs if it takes so much longer than the longest one that ended, in seconds
/// and times.
const LATE_S: f64 = 20.0;
const LATE_TIMES: f64 = 5.0;

/// Ways to seat the program, and the files for those that need some.
pub struct Field {
    /// The candidates, the default first.
    pub entrants: Vec<Entrant>,
    ground: Ground,
}

/// Where the program is seated.
enum Ground {
    /// On this computer, with a plan for each candidate that needs one, and the switches that are
    /// turned for some.
    Cpus { cpus: CpuSet, plans: Scratch, varied: Option<Varied> },
    /// On the nodes of a cluster.
    Job(Box<Job>),
}

impl Field {
    /// The candidates of an earlier race, or new ones.
    pub fn new(
        typed: &Tune,
        earlier: Option<&Tuned>,
        interrupt: &Interrupt,
    ) -> Result<Self, CliError> {
        let earlier = earlier.map(|then| then.candidates.clone());
        match &typed.on {
            Some(cluster) => Self::of_job(typed, cluster, earlier, interrupt),
            None => Self::of_cpus(typed, earlier, interrupt),
        }
    }

    fn of_job(
        typed: &Tune,
        cluster: &str,
        earlier: Option<Vec<Entrant>>,
        interrupt: &Interrupt,
    ) -> Result<Self, CliError> {
        let job = Job::new(typed, cluster, interrupt)?;
        let entrants = match earlier {
            Some(earlier) => earlier,
            None => default().into_iter().chain(job.entrants(typed)?).collect(),
        };
        job.write_files(&entrants)?;
        Ok(Field { entrants, ground: Ground::Job(Box::new(job)) })
    }

    fn of_cpus(
        typed: &Tune,
        earlier: Option<Vec<Entrant>>,
        interrupt: &Interrupt,
    ) -> Result<Self, CliError> {
        if let Some(option) = typed.on_cluster.typed() {
            return Err(CliError::input(format!(
                "{option} is for the ranks of a job; --on names their cluster"
            )));
        }
        let (cpus, topology) = super::cpus(typed)?;
        if cpus.len() < 2 {
            return Err(CliError::input("there is one CPU, and nothing to choose"));
        }
        let pattern = match (&earlier, &typed.pattern) {
            (Some(_), _) => None,
            (None, Some(pattern)) => Some(pattern_input::pattern(pattern)?),
            (None, None) if typed.observe => Some(observed(typed, interrupt)?),
            (None, None) => None,
        };
        let entrants = match (earlier, pattern) {
            (Some(earlier), _) => earlier,
            (None, Some(pattern)) => {
                default().into_iter().chain(placements(typed, &pattern, &cpus)?).collect()
            }
            (None, None) => {
                default().into_iter().chain(orders_and_groups(&topology, &cpus)).collect()
            }
        };
        let is_new = entrants.iter().all(|entrant| !matches!(entrant.seats, Seats::Kernel(_)));
        let varied = varied(typed)?;
        let settings = varied.iter().filter(|_| is_new).flat_map(Varied::settings);
        let settings: Vec<Entrant> =
            settings.map(|(name, seats)| Entrant { name, seats, predicted: None }).collect();
        // The kernel's own ways come right after its default, so that others are left out first.
        let (default, others): (Vec<Entrant>, Vec<Entrant>) = {
            let mut all = entrants.into_iter();
            (all.next().into_iter().collect(), all.collect())
        };
        let all = default.into_iter().chain(settings).chain(others);
        let entrants: Vec<Entrant> = all.take(typed.candidates.into()).collect();
        let plans = Scratch::new("tune").map_err(CliError::work)?;
        write_plans(&entrants, &plans)?;
        Ok(Field { entrants, ground: Ground::Cpus { cpus, plans, varied } })
    }

    /// A candidate as it runs.
    pub fn contestant(&self, typed: &Tune, candidate: usize) -> Contestant {
        let Entrant { name, seats, .. } = &self.entrants[candidate];
        let free = Contestant {
            name: name.clone(),
            command: typed.command.clone(),
            ..Contestant::default()
        };
        let (cpus, plans) = match &self.ground {
            Ground::Job(job) => {
                let command = job.command(&typed.command, candidate, seats);
                return Contestant { command, patience: job::PATIENCE, ..free };
            }
            Ground::Cpus { cpus, plans, .. } => (cpus, plans),
        };
        let launched =
            |options: &[&str]| Contestant { launcher: myself::on_seats(options), ..free.clone() };
        match seats {
            Seats::Within(list) => Contestant {
                cpus: list.parse::<CpuList>().ok().map(|list| list.0.into_iter().collect()),
                ..free
            },
            Seats::Order(list) => launched(&["--cpus", list]),
            Seats::Placement(_) => {
                launched(&["--plan", &plan_file(plans, candidate).to_string_lossy()])
            }
            Seats::Free | Seats::Ranks(_) | Seats::Kernel(_) => {
                Contestant { cpus: Some(cpus.clone()), ..free }
            }
        }
    }

    /// Makes a run of a candidate, with the kernel's switch turned meanwhile where it has one.
    pub fn with_its_kernel<T>(
        &self,
        candidate: usize,
        run: impl FnOnce() -> T,
    ) -> Result<T, CliError> {
        match (&self.entrants[candidate].seats, &self.ground) {
            (Seats::Kernel(setting), Ground::Cpus { varied: Some(varied), .. }) => {
                varied.with(setting, run).map_err(CliError::work)
            }
            (Seats::Kernel(setting), _) => Err(CliError::input(format!(
                "a candidate turns a switch of the kernel; add --vary {}",
                setting.switch
            ))),
            _ => Ok(run()),
        }
    }

    /// The seats that the candidates share, in words.
    pub fn seats(&self) -> String {
        match &self.ground {
            Ground::Cpus { cpus, .. } => {
                format!("{} and the kernel's choice", counted(cpus.len(), "CPU"))
            }
            Ground::Job(job) => job.seats(),
        }
    }

    /// Why a run that failed says nothing about its candidate, if so many tries may be made. On
    /// this computer, the kernel drops those CPUs from masks that the process's cpuset has lost for
    /// a moment.
    pub fn excuse(&self, error: &CliError, tries: u32) -> Option<String> {
        match &self.ground {
            Ground::Cpus { cpus, .. } => {
                let has_all =
                    Cpus::read().map(|here| cpus.iter().all(|cpu| here.check(&[cpu]).is_ok()));
                let has_lost = tries < CPUSET_TRIES && !has_all.unwrap_or(true);
                has_lost.then(|| {
                    "some of the race's CPUs were taken from this process for a moment".to_owned()
                })
            }
            Ground::Job(_) => job::excuse(error, tries),
        }
    }

    /// How long a run may take after the longest one so far: a start of a job may hang for ever.
    pub fn limit(&self, longest_s: f64) -> Option<Duration> {
        let is_job = matches!(self.ground, Ground::Job(_)) && longest_s > 0.0;
        is_job.then(|| Duration::from_secs_f64((LATE_S + LATE_TIMES * longest_s).ceil()))
    }

    /// The plan of a candidate for the ranks of a job; `None` where it is of another kind.
    pub fn rank_plan(&self, candidate: usize) -> Result<Option<RankPlan>, CliError> {
        match (&self.ground, &self.entrants[candidate].seats) {
            (Ground::Job(job), seats @ Seats::Ranks(_)) => {
                job.plan(&self.entrants[candidate].name, seats).map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// The switches that are to be turned.
fn varied(typed: &Tune) -> Result<Option<Varied>, CliError> {
    let mut switches: Vec<Switch> = Vec::new();
    for switch in typed.vary.iter().map(|choice| choice.switch()) {
        if !switches.contains(&switch) {
            switches.push(switch);
        }
    }
    if switches.is_empty() {
        return Ok(None);
    }
    Varied::begin(&switches, &mut myself::switch_guard()).map(Some).map_err(CliError::work)
}

/// The file with a candidate's plan.
fn plan_file(plans: &Scratch, candidate: usize) -> PathBuf {
    plans.path().join(format!("{candidate}.json"))
}

fn write_plans(entrants: &[Entrant], plans: &Scratch) -> Result<(), CliError> {
    for (at, entrant) in entrants.iter().enumerate() {
        if let Seats::Placement(placement) = &entrant.seats {
            let plan = Plan::new(host_name(), placement.clone());
            std::fs::write(plan_file(plans, at), plan.to_json()).map_err(CliError::work)?;
        }
    }
    Ok(())
}

/// The candidate that the others must beat.
pub fn default() -> [Entrant; 1] {
    [Entrant { name: "default".to_owned(), seats: Seats::Free, predicted: None }]
}

/// The pattern of one run.
fn observed(typed: &Tune, interrupt: &Interrupt) -> Result<Pattern, CliError> {
    let observation = observe::observed(&typed.command, interrupt)?;
    let pattern = observation.pattern("observed");
    if pattern.edges.is_empty() {
        Err(CliError::work(
            "no thread was seen to talk to another, so that no placement is better than another by the model; \
             leave --observe out to race orders and groups of CPUs",
        ))
    } else {
        Ok(pattern)
    }
}

/// Placements of a pattern's tasks, by the profile of this host.
fn placements(typed: &Tune, pattern: &Pattern, cpus: &CpuSet) -> Result<Vec<Entrant>, CliError> {
    let profile = input::profile("host")?;
    let mut request = PlaceRequest::new(&profile, pattern);
    request.objective = typed.objective.into();
    request.seed = typed.seed;
    request.cpus = Some(cpus.iter().collect());
    let has_room = request.smt_cores().is_some_and(|cores| pattern.tasks <= cores);
    request.one_per = has_room.then_some(Level::Core);
    placements_on(&request, usize::from(typed.candidates) - 1)
}

/// At most so many placements that meet a request.
///
/// # Errors
/// The request cannot be met on its machine.
pub fn placements_on(request: &PlaceRequest, most: usize) -> Result<Vec<Entrant>, CliError> {
    let found = request.candidates(most).map_err(CliError::input)?;
    let entrant = |candidate: seatmap_place::candidates::Candidate| Entrant {
        name: candidate.name,
        seats: Seats::Placement(candidate.placement),
        predicted: Some(candidate.cost),
    };
    Ok(found.into_iter().map(entrant).collect())
}

/// Where nobody knows who talks to whom: a CPU for each thread in the usual orders, and the groups
/// of CPUs that share something.
fn orders_and_groups(topology: &Topology, cpus: &CpuSet) -> Vec<Entrant> {
    let pus: Vec<u32> = cpus.iter().collect();
    let nowhere = Matrix::from_fn(pus.len(), |_, _| 1.0);
    let order = |name: &str, order: Vec<u32>| Entrant {
        name: name.to_owned(),
        seats: Seats::Order(CpuList(order).to_string()),
        predicted: None,
    };
    let mut entrants = vec![
        order("compact", orders::compact(topology, &pus, &nowhere)),
        order("scatter", orders::scatter(topology, &pus, &nowhere)),
    ];
    for (level, name) in [
        (Level::Package, "package"),
        (Level::Numa, "NUMA node"),
        (Level::L3, "L3 cache"),
        (Level::Core, "core"),
    ] {
        entrants.extend(groups(topology, &pus, level, name));
    }
    let one = CpuSet::single(pus[pus.len() - 1]);
    entrants.push(Entrant {
        name: "one CPU".to_owned(),
        seats: Seats::Within(one.list().to_string()),
        predicted: None,
    });
    // Where levels are the same, the name of the widest stays.
    let mut kept: Vec<Entrant> = Vec::new();
    for entrant in entrants {
        if !kept.iter().any(|other| other.seats == entrant.seats) {
            kept.push(entrant);
        }
    }
    kept
}

/// The first group of a level with two CPUs or more, unless that is all there is.
fn groups(topology: &Topology, pus: &[u32], level: Level, name: &str) -> Option<Entrant> {
    let group_of = level.groups(topology, pus)?;
    let first = group_of.first()?;
    let members: CpuSet =
        pus.iter().zip(&group_of).filter(|(_, group)| *group == first).map(|(pu, _)| *pu).collect();
    (members.len() > 1 && members.len() < pus.len()).then(|| Entrant {
        name: format!("one {name}"),
        seats: Seats::Within(members.list().to_string()),
        predicted: None,
    })
}
