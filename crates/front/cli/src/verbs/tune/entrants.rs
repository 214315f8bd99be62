//! The candidates of a race.

use crate::args::Tune;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::place::host_name;
use crate::verbs::observe;
use crate::{input, pattern_input};
use seatmap_machine::{Matrix, Topology};
use seatmap_os::{CpuList, CpuSet};
use seatmap_pattern::Pattern;
use seatmap_place::{Level, Request, orders};
use seatmap_plan::Plan;
use seatmap_tune::Tuned;
use seatmap_tune::tuned::{Entrant, Seats};
use std::path::PathBuf;
use tempfile::TempDir;

/// Ways to seat the program, and the plans for those that need one.
pub struct Field {
    /// The candidates, the default first.
    pub entrants: Vec<Entrant>,
    /// The CPUs that the program may use.
    pub cpus: CpuSet,
    plans: TempDir,
}

impl Field {
    /// The candidates of an earlier race, or new ones.
    pub fn new(typed: &Tune, earlier: Option<&Tuned>, interrupt: &Interrupt) -> Result<Self, CliError> {
        let (cpus, topology) = super::cpus(typed)?;
        if cpus.len() < 2 {
            return Err(CliError::input("there is one CPU, and nothing to choose"));
        }
        let pattern = match (earlier, &typed.pattern) {
            (Some(_), _) => None,
            (None, Some(pattern)) => Some(pattern_input::pattern(pattern)?),
            (None, None) if typed.observe => Some(observed(typed, interrupt)?),
            (None, None) => None,
        };
        let entrants = match (earlier, pattern) {
            (Some(then), _) => then.candidates.clone(),
            (None, Some(pattern)) => default().into_iter().chain(placements(typed, &pattern, &cpus)?).collect(),
            (None, None) => default().into_iter().chain(orders_and_groups(&topology, &cpus)).collect(),
        };
        let entrants: Vec<Entrant> = entrants.into_iter().take(typed.candidates.into()).collect();
        let plans = tempfile::tempdir().map_err(CliError::work)?;
        let field = Field { entrants, cpus, plans };
        field.write_plans()?;
        Ok(field)
    }

    /// The file with a candidate's plan.
    pub fn plan_file(&self, candidate: usize) -> PathBuf {
        self.plans.path().join(format!("{candidate}.json"))
    }

    fn write_plans(&self) -> Result<(), CliError> {
        for (at, entrant) in self.entrants.iter().enumerate() {
            if let Seats::Placement(placement) = &entrant.seats {
                let plan = Plan::new(host_name(), placement.clone());
                std::fs::write(self.plan_file(at), plan.to_json()).map_err(CliError::work)?;
            }
        }
        Ok(())
    }
}

fn default() -> [Entrant; 1] {
    [Entrant { name: "default".to_owned(), seats: Seats::Free, predicted: None }]
}

/// The pattern of one run.
fn observed(typed: &Tune, interrupt: &Interrupt) -> Result<Pattern, CliError> {
    let observation = observe::observed(&typed.command, interrupt)?;
    let pattern = observation.pattern("observed");
    match pattern.edges.is_empty() {
        true => Err(CliError::work(
            "no thread was seen to talk to another, so that no placement is better than another by the model; \
             leave --observe out to race orders and groups of CPUs",
        )),
        false => Ok(pattern),
    }
}

/// Placements of a pattern's tasks, by the profile of this host.
fn placements(typed: &Tune, pattern: &Pattern, cpus: &CpuSet) -> Result<Vec<Entrant>, CliError> {
    let profile = input::profile("host")?;
    let mut request = Request::new(&profile, pattern);
    request.objective = typed.objective.into();
    request.seed = typed.seed;
    request.cpus = Some(cpus.iter().collect());
    let has_room = request.smt_cores().is_some_and(|cores| pattern.tasks <= cores);
    request.one_per = has_room.then_some(Level::Core);
    let found = request.candidates(usize::from(typed.candidates) - 1).map_err(CliError::input)?;
    let entrant = |candidate: seatmap_place::candidates::Candidate| Entrant {
        name: candidate.name,
        seats: Seats::Placement(candidate.placement),
        predicted: Some(candidate.cost),
    };
    Ok(found.into_iter().map(entrant).collect())
}

/// Where nobody knows who talks to whom: a CPU for each thread in the usual orders, and the groups of CPUs that share
/// something.
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
    for (level, name) in
        [(Level::Package, "package"), (Level::Numa, "NUMA node"), (Level::L3, "L3 cache"), (Level::Core, "core")]
    {
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
    let members: CpuSet = pus.iter().zip(&group_of).filter(|(_, group)| *group == first).map(|(pu, _)| *pu).collect();
    (members.len() > 1 && members.len() < pus.len()).then(|| Entrant {
        name: format!("one {name}"),
        seats: Seats::Within(members.list().to_string()),
        predicted: None,
    })
}
