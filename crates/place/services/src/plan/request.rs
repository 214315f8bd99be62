//! Makes a plan from a record.

use super::baselines::{self, NOW, WRITTEN};
use super::bound::lower_bound;
use super::cost::Pricing;
use super::demand::Demand;
use super::document::{FORMAT, PackingBaseline, PlanVerdict, PlannedService, ServicesPlan};
use super::exact::{self, ExactAnswer};
use super::search::{pools, search};
use super::spans::UnitSpans;
use super::units::Units;
use super::{Pool, memory, replay};
use crate::ServicesRecord;
use crate::file::size_bytes;
use seatmap_data::document::{Failure, unfit};
use seatmap_data::machine::Profile;
use seatmap_data::statistics::words::{counted, joined};
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

impl PlanRequest<'_> {
    /// Finds the plan.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn plan(&self) -> Result<ServicesPlan, Failure> {
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
        let answer = if demand.services.len() <= exact::MOST {
            let known = search(&pricing, &spans, FEW_MOVES);
            exact::solve(&pricing, &spans, known)
        } else {
            search(&pricing, &spans, MOVES).map(|best| ExactAnswer {
                best,
                bound: general_bound,
                is_proven: false,
            })
        };
        let mut answer = answer.ok_or_else(|| nothing_fits(&demand, &units, &spans))?;
        answer.bound = answer.bound.max(general_bound);
        let mut plan = self.document(&pricing, &answer);
        let judged = beside.map(|pools| baseline(&pricing, WRITTEN, &pools));
        plan.baselines.extend(judged);
        Ok(plan)
    }

    fn check_bounds(&self, units: &Units) -> Result<(), Failure> {
        for recorded in &self.record.services {
            let service = &recorded.service;
            let Some(cpus) = self.bounds.get(&service.name) else { continue };
            let mut units = units.all.iter();
            if !units.any(|unit| unit.cpus.iter().all(|cpu| cpus.contains(*cpu))) {
                return unfit(format!(
                    "service '{}' has cpus = \"{}\" ({cpus}), but no whole core of these is for \
                     services, and sets consist of whole cores",
                    service.name,
                    service.cpus.as_deref().unwrap_or_default()
                ));
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

    fn document(&self, pricing: &Pricing, answer: &ExactAnswer) -> ServicesPlan {
        let units = pricing.units;
        let pools = pools(&answer.best);
        let cost = pricing.price(&pools);
        let services = self.planned(units, &pools);
        let baselines = self.baselines(pricing);
        let now =
            baselines.iter().find(|baseline| baseline.name == NOW).or_else(|| baselines.first());
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
            bound_percent: Some(answer.bound.min(cost.total())),
            is_proven: answer.is_proven,
            lateness: Some(replay::play(pricing.demand, units, &pools)),
            verdict: match now {
                Some(now) if !now.keeps_limits => PlanVerdict::KeepLimits,
                _ if saved >= worth => PlanVerdict::Seat,
                _ => PlanVerdict::NothingToGain,
            },
            baselines,
            distances_are_assumed: units.distances_are_assumed,
            talk_unseen: self.record.talk_unseen.clone(),
        }
    }

    fn planned(&self, units: &Units, pools: &[Pool]) -> Vec<PlannedService> {
        let has_nodes = units.all.iter().any(|unit| unit.node != units.all[0].node);
        let planned = self.record.services.iter().enumerate().filter_map(|(at, recorded)| {
            let number = pools.iter().position(|pool| pool.members >> at & 1 == 1)?;
            let pool = &pools[number];
            let load = recorded.summary();
            Some(PlannedService {
                service: recorded.service.clone(),
                cpus: units.cpus(&pool.units).to_string(),
                within: self.bounds.get(&recorded.service.name).map(ToString::to_string),
                nodes: if has_nodes { units.nodes(&pool.units).to_string() } else { String::new() },
                pool: number,
                median_cpus: Some(load.median_cpus),
                p99_cpus: Some(load.p99_cpus),
                most_cpus: Some(load.most_cpus),
            })
        });
        planned.collect()
    }

    /// All but those of quiet services.
    fn interrupts(&self, planned: &[PlannedService]) -> String {
        let quiet = planned.iter().filter(|one| one.service.quiet);
        let quiet: CpuSet = quiet.flat_map(PlannedService::cpu_set).collect();
        let all: CpuSet = self.profile.topology.os_indices().collect();
        if quiet.is_empty() { String::new() } else { all.without(&quiet).to_string() }
    }

    fn baselines(&self, pricing: &Pricing) -> Vec<PackingBaseline> {
        let all = baselines::all(pricing, self.record).into_iter();
        let known = all.filter(|(name, _)| *name != NOW || self.is_recorded_machine);
        known.map(|(name, pools)| baseline(pricing, name, &pools)).collect()
    }
}

fn baseline(pricing: &Pricing, name: &str, pools: &[Pool]) -> PackingBaseline {
    let cost = pricing.price(pools);
    let mut cpus = vec![String::new(); pricing.demand.services.len()];
    for pool in pools {
        let list = pricing.units.cpus(&pool.units).to_string();
        super::places(pool.members).for_each(|at| cpus[at].clone_from(&list));
    }
    PackingBaseline {
        name: name.to_owned(),
        cpus,
        cost,
        cost_percent: cost.total(),
        lateness: replay::play(pricing.demand, pricing.units, pools),
        keeps_limits: pricing.keeps_limits(pools),
    }
}

pub(crate) fn caches(units: &Units) -> Vec<String> {
    (0..units.caches)
        .map(|cache| {
            let of_cache = units.all.iter().filter(|unit| unit.cache == cache);
            CpuSet::from_iter(of_cache.flat_map(|unit| unit.cpus.iter().copied())).to_string()
        })
        .collect()
}

fn nothing_fits(demand: &Demand, units: &Units, spans: &UnitSpans) -> Failure {
    let of_memory = Some(demand).filter(|demand| demand.asks_for_memory());
    of_memory.and_then(|demand| memory::smallest_change(demand, units, spans)).unwrap_or_else(
        || {
            Failure::input(format!(
                "no division of {} keeps all limits: sets consist of whole cores, so least_cpus \
                 rounds up and most_cpus down; lower a least_cpus or raise a most_cpus by the size \
                 of a core",
                counted(units.cpu_count(), "CPU")
            ))
        },
    )
}

/// Finds impossible limits without a search.
fn check(demand: &Demand, units: &Units) -> Result<(), Failure> {
    if units.all.is_empty() {
        let why = "no CPUs are left for services: all are housekeeping CPUs or not allowed";
        return unfit(why);
    }
    let cpus = units.cpu_count();
    let needed: u32 = demand.services.iter().map(|service| service.least_cpus).sum();
    let needed = needed as usize;
    if needed > cpus {
        let with_least = demand.services.iter().filter(|service| service.least_cpus > 0);
        let wishes = with_least.map(|one| format!("{} {}", one.name, one.least_cpus));
        return unfit(format!(
            "the services need at least {} ({}), but only {} can be used: lower least_cpus by {} \
             in total",
            counted(needed, "CPU"),
            joined(wishes, ", "),
            counted(cpus, "CPU"),
            needed - cpus
        ));
    }
    let alone = demand.services.iter().filter(|service| service.is_alone);
    let alone: Vec<&str> = alone.map(|service| service.name.as_str()).collect();
    let needed = alone.len() + usize::from(alone.len() < demand.services.len());
    let count = units.all.len();
    if needed > count {
        return unfit(format!(
            "exclusive CPUs for {} ({}) take {}, but there are {count}: let {} of them share \
             (share = true, quiet = false)",
            counted(alone.len(), "service"),
            alone.join(", "),
            counted(needed, "core"),
            needed - count
        ));
    }
    let unit_cpus = units.all.iter().map(|unit| unit.cpus.len()).min().unwrap_or(1);
    for service in &demand.services {
        if let Some(most) = service.most_cpus.filter(|most| (*most as usize) < unit_cpus) {
            return unfit(format!(
                "service '{}' has most_cpus = {most}, but the smallest possible set is a core \
                 with {}: set most_cpus = {unit_cpus}",
                service.name,
                counted(unit_cpus, "CPU")
            ));
        }
    }
    Ok(())
}
