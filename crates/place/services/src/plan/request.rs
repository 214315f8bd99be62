//! Makes a plan from a record.

use super::baselines::{self, PackingPolicy};
use super::bound::lower_bound;
use super::cost::Pricing;
use super::demand::Demand;
use super::document::{FORMAT, PackingBaseline, PlanVerdict, PlannedService, ServicesPlan};
use super::search::{Spanned, search};
use super::spans::UnitSpans;
use super::units::Units;
use super::{Pools, exact, memory, replay};
use crate::file::size_bytes;
use crate::record::ServicesRecord;
use seatmap_data::document::Blame;
use seatmap_data::machine::Profile;
use seatmap_data::statistics::words::counted;
use seatmap_os::CpuSet;
use std::collections::BTreeMap;

/// Without an exact search: seconds for 40 services on 256 CPUs (`bench/services/run --only time`).
const MOVES: usize = 30_000;

/// Moves for the exact search's first plan.
const FEW_MOVES: usize = 3_000;

/// In percent of the services' time; plans that save less are not worth applying.
const WORTH_PERCENT: f64 = 1.0;

/// Nor are plans that save less than this share of the present loss.
const WORTH_SHARE: f64 = 0.05;

/// A request for a plan.
#[derive(Clone, Debug)]
pub struct PlanRequest<'a> {
    /// The services and their load.
    pub record: &'a ServicesRecord,
    /// The machine.
    pub profile: &'a Profile,
    /// The CPUs for services; by default all of the machine.
    pub allowed: Option<CpuSet>,
    /// The CPUs that services must be within, by their names.
    pub bounds: BTreeMap<String, CpuSet>,
    /// Another plan for the same services, judged for comparison.
    pub beside: Option<&'a ServicesPlan>,
    /// The known memory of the machine's NUMA nodes, in bytes.
    pub node_bytes: BTreeMap<u32, u64>,
    /// Whether the present sets are of this machine.
    pub is_recorded_machine: bool,
}

/// The limits cannot be kept. Each error names the smallest change that helps.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// No CPU is left.
    #[error("no CPUs are left for services: all are housekeeping CPUs or not allowed")]
    NoCpus,
    /// The services need more CPUs than there are.
    #[error(
        "the services need at least {} ({}), but only {} can be used: lower least_cpus by {} in \
         total",
        counted(.needed, "CPU"),
        .wishes.join(", "),
        counted(.cpus, "CPU"),
        .needed - .cpus
    )]
    TooFewCpus {
        /// The sum of all `least_cpus`.
        needed: usize,
        /// The number of CPUs.
        cpus: usize,
        /// The services with the CPUs that they need.
        wishes: Vec<String>,
    },
    /// More services need their own CPUs than there are cores.
    #[error(
        "exclusive CPUs for {} ({}) take {}, but there are {units}: let {} of them share (share = \
         true, quiet = false)",
        counted(.alone.len(), "service"),
        .alone.join(", "),
        counted(.needed, "core"),
        .needed - .units
    )]
    TooFewUnits {
        /// The services that do not share.
        alone: Vec<String>,
        /// The number of cores that they need.
        needed: usize,
        /// The number of cores.
        units: usize,
    },
    /// A service may have fewer CPUs than a core has.
    #[error(
        "service '{name}' has most_cpus = {most}, but the smallest possible set is a core with \
         {}: set most_cpus = {unit_cpus}",
        counted(.unit_cpus, "CPU")
    )]
    MostBelowCore {
        /// The service.
        name: String,
        /// Its `most_cpus`.
        most: u32,
        /// The CPUs of a core.
        unit_cpus: usize,
    },
    /// The plan for comparison lacks a service.
    #[error(
        "the plan of --beside has no CPUs for '{name}', so it cannot be compared; give a file \
         without this service"
    )]
    BesideLacks {
        /// The service.
        name: String,
    },
    /// The sets of the plan for comparison are not pools.
    #[error(
        "the plan of --beside cannot be judged: two of its sets overlap but differ, or one has no \
         core of this machine (only whole cores count)"
    )]
    BesideOverlaps,
    /// The CPUs of a service's words have no whole core.
    #[error(
        "service '{name}' has cpus = \"{words}\" ({cpus}), but no whole core of these is for \
         services, and sets consist of whole cores"
    )]
    NoCoreWithin {
        /// The service.
        name: String,
        /// Its words.
        words: String,
        /// Their CPUs.
        cpus: CpuSet,
    },
    /// No CPU for services is on a service's nodes.
    #[error(
        "service '{name}' has memory_nodes = \"{nodes}\", but the usable CPUs are on {} {known}: \
         name one of these",
        if known.len() == 1 { "node" } else { "nodes" }
    )]
    NoSuchNodes {
        /// The service.
        name: String,
        /// Its nodes.
        nodes: CpuSet,
        /// The nodes of the CPUs for services.
        known: CpuSet,
    },
    /// The machine's memory is unknown.
    #[error(
        "service '{name}' requests memory, but the memory of {machine} is unknown: write \
         node_memory = \"SIZE\" below [computer], the memory of each NUMA node"
    )]
    MemoryUnknown {
        /// The service.
        name: String,
        /// The machine.
        machine: String,
    },
    /// One service needs more memory than its nodes have.
    #[error(
        "service '{name}' has memory = \"{needed}\", but its possible NUMA nodes have {have}: set \
         memory = \"{have}\""
    )]
    MemoryOfOne {
        /// The service.
        name: String,
        /// Its memory.
        needed: String,
        /// The memory of its nodes.
        have: String,
    },
    /// All services together need more memory than there is.
    #[error(
        "the services need {needed} of memory ({}), but the NUMA nodes have {have}: lower memory \
         by {less} in total",
        .wishes.join(", ")
    )]
    MemoryOfAll {
        /// The sum of all sizes.
        needed: String,
        /// The memory of all nodes.
        have: String,
        /// The services with the memory that they need.
        wishes: Vec<String>,
        /// The excess.
        less: String,
    },
    /// The memory exists, but not near CPUs for the services.
    #[error(
        "no plan gives every service CPUs on NUMA nodes with its memory: set memory = \
         \"{fitting}\" for '{name}' instead of \"{asked}\""
    )]
    MemoryApart {
        /// The service with the smallest change.
        name: String,
        /// Its memory.
        asked: String,
        /// The largest size with a plan.
        fitting: String,
    },
    /// The required nodes of services leave no division.
    #[error(
        "no plan gives every service CPUs on its memory_nodes; without memory_nodes there is one: \
         allow a service another node"
    )]
    MemoryNodesApart,
    /// The limits exclude each other in another way.
    #[error(
        "no division of {} keeps all limits: sets consist of whole cores, so least_cpus rounds up \
         and most_cpus down; lower a least_cpus or raise a most_cpus by the size of a core"
        , counted(.cpus, "CPU")
    )]
    NothingFits {
        /// The number of CPUs.
        cpus: usize,
    },
}

impl Blame for PlanError {}

impl PlanRequest<'_> {
    /// Finds the plan.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn plan(&self) -> Result<ServicesPlan, PlanError> {
        let housekeeping = self.record.computer.housekeeping_cpus();
        let units = Units::of(self.profile, self.allowed.as_ref(), &housekeeping);
        let demand = Demand::of(self.record, &units, &self.node_bytes(&units), &self.bounds);
        check(&demand, &units)?;
        self.check_bounds(&units)?;
        memory::check(&demand, &units, &self.profile.name)?;
        let pricing = Pricing::new(&demand, &units);
        let beside = self.beside.map(|plan| baselines::written(&units, self.record, plan));
        let beside = beside.transpose()?;
        let spans = UnitSpans::of(&units);
        let general_bound = lower_bound(&pricing);
        let (best, bound, is_proven) = if demand.services.len() <= exact::MOST {
            let known = search(&pricing, &spans, FEW_MOVES);
            let answer = exact::solve(&pricing, &spans, known);
            let answer = answer.ok_or_else(|| nothing_fits(&demand, &units, &spans))?;
            (answer.best, answer.bound, answer.is_proven)
        } else {
            let found = search(&pricing, &spans, MOVES);
            let found = found.ok_or_else(|| nothing_fits(&demand, &units, &spans))?;
            (found, general_bound, false)
        };
        let bound = bound.max(general_bound);
        let mut plan = self.document(&pricing, &best, bound, is_proven);
        let judged = beside.map(|pools| baseline(&pricing, PackingPolicy::Written, &pools));
        plan.baselines.extend(judged);
        Ok(plan)
    }

    fn check_bounds(&self, units: &Units) -> Result<(), PlanError> {
        for recorded in &self.record.services {
            let service = &recorded.service;
            let Some(cpus) = self.bounds.get(&service.name) else { continue };
            let mut units = units.all.iter();
            if !units.any(|unit| unit.cpus.iter().all(|cpu| cpus.contains(*cpu))) {
                let words = service.cpus.clone().unwrap_or_default();
                let name = service.name.clone();
                return Err(PlanError::NoCoreWithin { name, words, cpus: cpus.clone() });
            }
        }
        Ok(())
    }

    fn node_bytes(&self, units: &Units) -> BTreeMap<u32, u64> {
        match self.record.computer.node_memory.as_deref().and_then(size_bytes) {
            Some(bytes) => units.all.iter().map(|unit| (unit.node, bytes)).collect(),
            None => self.node_bytes.clone(),
        }
    }

    fn document(
        &self,
        pricing: &Pricing,
        best: &Spanned,
        bound_percent: f64,
        is_proven: bool,
    ) -> ServicesPlan {
        let units = pricing.units;
        let pools = best.pools();
        let cost = pricing.price(&pools);
        let services = self.planned(units, &pools);
        let baselines = self.baselines(pricing);
        let now = baselines
            .iter()
            .find(|baseline| baseline.name == PackingPolicy::Now.word())
            .or_else(|| baselines.first());
        let saved = now.map_or(0.0, |now| now.cost_percent - cost.total());
        let worth = now.map_or(0.0, |now| (WORTH_SHARE * now.cost_percent).max(WORTH_PERCENT));
        ServicesPlan {
            format: FORMAT.to_owned(),
            machine: self.profile.name.clone(),
            recorded_on: self.record.machine.clone(),
            recorded: self.record.begun.clone(),
            samples: self.record.samples(),
            interval_s: self.record.interval_s,
            computer: self.record.computer.clone(),
            interrupts: self.interrupts(&services),
            services,
            caches: caches(units),
            cost: Some(cost),
            cost_percent: Some(cost.total()),
            bound_percent: Some(bound_percent.min(cost.total())),
            is_proven,
            lateness: Some(replay::play(pricing.demand, units, &pools)),
            verdict: if now.is_some_and(|now| !now.keeps_limits) {
                PlanVerdict::KeepLimits
            } else if saved >= worth {
                PlanVerdict::Seat
            } else {
                PlanVerdict::NothingToGain
            },
            baselines,
            distances_are_assumed: units.distances_are_assumed,
            talk_unseen: self.record.talk_unseen.clone(),
        }
    }

    fn planned(&self, units: &Units, pools: &Pools) -> Vec<PlannedService> {
        let has_nodes = units.nodes(&(0..units.len()).collect::<Vec<_>>()).len() > 1;
        let mut planned = Vec::new();
        for (at, recorded) in self.record.services.iter().enumerate() {
            let Some(number) = pools.0.iter().position(|pool| pool.members >> at & 1 == 1) else {
                continue;
            };
            let pool = &pools.0[number];
            let load = recorded.summary();
            planned.push(PlannedService {
                service: recorded.service.clone(),
                cpus: units.cpus(&pool.units).to_string(),
                within: self.bounds.get(&recorded.service.name).map(ToString::to_string),
                nodes: if has_nodes { units.nodes(&pool.units).to_string() } else { String::new() },
                pool: number,
                median_cpus: Some(load.median_cpus),
                p99_cpus: Some(load.p99_cpus),
                most_cpus: Some(load.most_cpus),
            });
        }
        planned
    }

    /// All but those of quiet services; empty if there are none.
    fn interrupts(&self, planned: &[PlannedService]) -> String {
        let quiet = planned.iter().filter(|one| one.service.quiet);
        let quiet: CpuSet = quiet.flat_map(PlannedService::cpu_set).collect();
        let all: CpuSet = self.profile.topology.os_indices().collect();
        if quiet.is_empty() { String::new() } else { all.without(&quiet).to_string() }
    }

    fn baselines(&self, pricing: &Pricing) -> Vec<PackingBaseline> {
        let all = baselines::all(pricing, self.record).into_iter();
        let known =
            all.filter(|(policy, _)| *policy != PackingPolicy::Now || self.is_recorded_machine);
        known.map(|(policy, pools)| baseline(pricing, policy, &pools)).collect()
    }
}

fn baseline(pricing: &Pricing, policy: PackingPolicy, pools: &Pools) -> PackingBaseline {
    let cost = pricing.price(pools);
    PackingBaseline {
        name: policy.word().to_owned(),
        cpus: cpus_of_services(pricing, pools),
        cost,
        cost_percent: cost.total(),
        lateness: replay::play(pricing.demand, pricing.units, pools),
        keeps_limits: pricing.keeps_limits(pools),
    }
}

fn cpus_of_services(pricing: &Pricing, pools: &Pools) -> Vec<String> {
    let mut lists = vec![String::new(); pricing.demand.services.len()];
    for pool in &pools.0 {
        let cpus = pricing.units.cpus(&pool.units).to_string();
        super::places(pool.members).for_each(|at| lists[at].clone_from(&cpus));
    }
    lists
}

pub(crate) fn caches(units: &Units) -> Vec<String> {
    (0..units.caches)
        .map(|cache| {
            let of_cache = units.all.iter().filter(|unit| unit.cache == cache);
            of_cache.flat_map(|unit| unit.cpus.iter().copied()).collect::<CpuSet>().to_string()
        })
        .collect()
}

fn nothing_fits(demand: &Demand, units: &Units, spans: &UnitSpans) -> PlanError {
    let of_memory = Some(demand).filter(|demand| demand.asks_for_memory());
    of_memory
        .and_then(|demand| memory::smallest_change(demand, units, spans))
        .unwrap_or(PlanError::NothingFits { cpus: units.cpu_count() })
}

/// Finds impossible limits without a search.
fn check(demand: &Demand, units: &Units) -> Result<(), PlanError> {
    if units.is_empty() {
        return Err(PlanError::NoCpus);
    }
    let cpus = units.cpu_count();
    let needed: u32 = demand.services.iter().map(|service| service.least_cpus).sum();
    let needed = needed as usize;
    if needed > cpus {
        let with_least = demand.services.iter().filter(|service| service.least_cpus > 0);
        let wishes = with_least.map(|one| format!("{} {}", one.name, one.least_cpus)).collect();
        return Err(PlanError::TooFewCpus { needed, cpus, wishes });
    }
    let alone: Vec<String> = demand
        .services
        .iter()
        .filter(|service| service.is_alone)
        .map(|service| service.name.clone())
        .collect();
    let needed = alone.len() + usize::from(alone.len() < demand.services.len());
    if needed > units.len() {
        return Err(PlanError::TooFewUnits { alone, needed, units: units.len() });
    }
    let unit_cpus = units.all.iter().map(|unit| unit.cpus.len()).min().unwrap_or(1);
    for service in &demand.services {
        if let Some(most) = service.most_cpus.filter(|most| (*most as usize) < unit_cpus) {
            let name = service.name.clone();
            return Err(PlanError::MostBelowCore { name, most, unit_cpus });
        }
    }
    Ok(())
}
