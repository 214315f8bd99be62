//! Plans of small machines, compared with all divisions.

use super::bound::lower_bound;
use super::cost::{Pricing, SetFacts, waiting};
use super::demand::{Demand, ServiceDemand};
use super::memory::NodeMemory;
use super::request::PlanRequest;
use super::search::{pools, search};
use super::spans::UnitSpans;
use super::units::Units;
use super::*;
use crate::record::{RecordedService, ServiceTalk};
use crate::{Service, ServicesRecord};
use proptest::prelude::*;
use seatmap_data::document::Failure;
use seatmap_data::machine::{Origin, OriginKind, Profile, Pu, Topology};
use seatmap_data::statistics::Xoshiro;
use seatmap_os::CpuSet;
use std::collections::BTreeMap;

pub(crate) fn machine(cores: u32, smt: u32, per_cache: u32, nodes: u32) -> Profile {
    let mut pus = Vec::new();
    for thread in 0..smt {
        for core in 0..cores {
            let node = core * nodes / cores;
            pus.push(Pu {
                os: thread * cores + core,
                core: Some(core),
                smt: Some(thread),
                l3: Some(core / per_cache),
                numa: Some(node),
                package: Some(node),
                ..Pu::default()
            });
        }
    }
    let origin =
        Origin { kind: OriginKind::Imported, source: "test".into(), date: None, tool: None };
    Profile::new("test", origin, Topology { pus })
}

fn service(name: &str, used_cpus: Vec<f64>) -> RecordedService {
    let samples = used_cpus.len();
    RecordedService {
        service: Service {
            name: name.into(),
            command: Some(name.into()),
            share: true,
            ..Service::default()
        },
        waited_cpus: vec![0.0; samples],
        used_cpus,
        ..RecordedService::default()
    }
}

fn record(services: Vec<RecordedService>) -> ServicesRecord {
    let samples = services[0].used_cpus.len();
    ServicesRecord {
        format: crate::record::FORMAT.into(),
        interval_s: 0.1,
        others_cpus: vec![0.0; samples],
        services,
        ..ServicesRecord::default()
    }
}

fn two(cpus: f64) -> ServicesRecord {
    record(["a", "b"].map(|name| service(name, vec![cpus; 9])).into())
}

fn random_record(services: usize, samples: usize, cpus: f64, seed: u64) -> ServicesRecord {
    let mut random = Xoshiro::new(seed);
    let all = (0..services).map(|at| {
        let level = cpus / services as f64 * random.unit();
        let loads = (0..samples).map(|_| {
            let burst = if random.below(10) == 0 { 3.0 } else { 0.6 };
            level * burst * random.unit()
        });
        service(&format!("s{at}"), loads.collect())
    });
    let mut record = record(all.collect());
    for from in 0..services {
        let to = random.below(services);
        record.talk.push(ServiceTalk { from, to, per_s: 20_000.0 * random.unit() });
    }
    record
}

fn plan(record: &ServicesRecord, profile: &Profile) -> Result<ServicesPlan, Failure> {
    bounded(record, profile, &[])
}

fn bounded(
    record: &ServicesRecord,
    profile: &Profile,
    bounds: &[(&str, &str)],
) -> Result<ServicesPlan, Failure> {
    let bounds =
        bounds.iter().map(|(name, list)| (name.to_string(), CpuSet::of_list(list).unwrap()));
    PlanRequest {
        record,
        profile,
        bounds: bounds.collect(),
        allowed: None,
        beside: None,
        node_bytes: BTreeMap::new(),
        is_recorded_machine: true,
    }
    .plan()
}

fn refused(record: &ServicesRecord, profile: &Profile) -> String {
    plan(record, profile).unwrap_err().to_string()
}

fn exhaustive(pricing: &Pricing) -> f64 {
    let services = pricing.demand.services.len();
    let units = pricing.units.all.len();
    let mut best = f64::INFINITY;
    for groups in partitions(services) {
        let owners = groups.len() + 1;
        for code in 0..owners.pow(units as u32) {
            let mut left = code;
            let mut pools: Vec<Pool> =
                groups.iter().map(|members| Pool { members: *members, units: vec![] }).collect();
            for unit in 0..units {
                if let Some(pool) = pools.get_mut(left % owners) {
                    pool.units.push(unit);
                }
                left /= owners;
            }
            if pools.iter().all(|pool| !pool.units.is_empty()) && pricing.keeps_limits(&pools) {
                best = best.min(pricing.price(&pools).total());
            }
        }
    }
    best
}

fn partitions(services: usize) -> Vec<Vec<Members>> {
    let mut all: Vec<Vec<Members>> = vec![vec![]];
    for at in 0..services {
        let mut next = Vec::new();
        for groups in &all {
            for group in 0..groups.len() {
                let mut joined = groups.clone();
                joined[group] |= 1 << at;
                next.push(joined);
            }
            let mut apart = groups.clone();
            apart.push(1 << at);
            next.push(apart);
        }
        all = next;
    }
    all
}

#[test]
fn exact_plan_is_optimal_and_search_near_it() {
    for (seed, cores, per_cache, nodes, services) in [
        (1, 6, 3, 1, 3),
        (2, 6, 2, 2, 3),
        (3, 5, 5, 1, 4),
        (4, 7, 4, 1, 2),
        (5, 6, 3, 2, 3),
        (6, 4, 2, 1, 3),
        (7, 6, 6, 2, 2),
        (8, 5, 2, 1, 3),
        (9, 4, 4, 1, 5),
        (10, 6, 2, 1, 2),
    ] {
        let profile = machine(cores, 2, per_cache, nodes);
        let record = random_record(services, 20, f64::from(cores), seed);
        let units = Units::of(&profile, None, &CpuSet::default());
        let demand = Demand::of(&record, &units, &BTreeMap::new(), &BTreeMap::new());
        let pricing = Pricing::new(&demand, &units);
        let spans = UnitSpans::of(&units);
        let answer = exact::solve(&pricing, &spans, None).unwrap();
        let best = exhaustive(&pricing);
        let cost = pricing.price(&pools(&answer.best)).total();
        assert!(answer.is_proven);
        assert!(cost <= 1.02 * best, "seed {seed}: {cost} and {best}");
        let bounds = (1.0 - exact::NEAR) * cost - 1e-9..=cost + 1e-9;
        assert!(bounds.contains(&answer.bound), "{} for {cost}", answer.bound);
        assert!(lower_bound(&pricing) <= best * (1.0 + 1e-9));
        let searched = search(&pricing, &spans, 4000).unwrap();
        let searched = pricing.price(&pools(&searched)).total();
        assert!(searched <= 1.02 * cost, "seed {seed}: {searched} and {cost}");
    }
}

#[test]
fn span_facts_match_facts_of_unit_set() {
    let units = Units::of(&machine(8, 2, 4, 2), None, &CpuSet::of_list("0").unwrap());
    assert_eq!(units.all.len(), 8, "the core keeps its second thread");
    let spans = UnitSpans::of(&units);
    for (start, end) in [(0, 8), (0, 1), (2, 5), (7, 8)] {
        let set: Vec<usize> = (start..end).collect();
        let facts = SetFacts::of(&units, &set);
        let of_span = spans.facts(start, end);
        assert!((facts.inside_ns - of_span.inside_ns).abs() < 1e-9);
        assert_eq!(
            SetFacts { inside_ns: 0.0, ..facts },
            SetFacts { inside_ns: 0.0, ..of_span.clone() }
        );
    }
}

#[test]
fn noisy_service_is_separated_and_talkers_share_cache() {
    let samples = 40;
    let bursts: Vec<f64> = (0..samples).map(|at| if at % 4 == 0 { 24.0 } else { 0.5 }).collect();
    let mut record = record(vec![
        service("redis", vec![0.9; samples]),
        service("nginx", vec![0.8; samples]),
        service("workers", bursts),
    ]);
    record.talk.push(ServiceTalk { from: 0, to: 1, per_s: 50_000.0 });
    let plan = plan(&record, &machine(16, 1, 8, 1)).unwrap();
    let sets: Vec<CpuSet> = plan.services.iter().map(PlannedService::cpu_set).collect();
    assert!(!sets[2].meets(&sets[0]) && !sets[2].meets(&sets[1]), "{plan:?}");
    let caches = [0, 1].map(|at: usize| sets[at].last() < Some(8));
    assert_eq!(caches[0], caches[1], "{} and {}", sets[0], sets[1]);
    assert_eq!(plan.verdict, PlanVerdict::Seat);
    let together = plan.baseline("all share all").unwrap();
    assert!(plan.cost_percent.unwrap() < together.cost_percent);
    assert!(plan.bound_percent <= plan.cost_percent && plan.is_proven);
}

use super::document::PlanVerdict;

#[test]
fn idle_computer_has_nothing_to_gain() {
    let plan = plan(&two(0.001), &machine(8, 2, 4, 1)).unwrap();
    assert_eq!(plan.verdict, PlanVerdict::NothingToGain);
}

#[test]
fn cpu_limits_are_kept_or_rejected_with_remedy() {
    let profile = machine(4, 2, 4, 1);
    let mut services = two(1.0).services;
    services[0].service.least_cpus = Some(4);
    services[0].service.quiet = true;
    services[1].service.most_cpus = Some(2);
    let fits = record(services.clone());
    let planned = plan(&fits, &profile).unwrap();
    assert!(planned.services[0].cpu_set().len() >= 4);
    assert_eq!(planned.services[1].cpu_set().len(), 2);
    assert!(!planned.services[1].cpu_set().meets(&planned.services[0].cpu_set()));
    let interrupts = CpuSet::of_list(&planned.interrupts).unwrap();
    assert!(interrupts.is_subset(&CpuSet::of_list("0-7").unwrap()));
    assert!(!interrupts.meets(&planned.services[0].cpu_set()));
    services[0].service.least_cpus = Some(7);
    services[1].service.least_cpus = Some(2);
    let error = refused(&record(services.clone()), &profile);
    let told = "(a 7, b 2), but only 8 CPUs can be used: lower least_cpus by 1 in total";
    assert!(error.ends_with(told), "{error}");
    services[0].service.least_cpus = None;
    services[1].service.least_cpus = None;
    services[1].service.most_cpus = Some(1);
    let error = refused(&record(services.clone()), &profile);
    assert!(error.ends_with("a core with 2 CPUs: set most_cpus = 2"), "{error}");
    let mut crowd = record((0..5).map(|at| service(&format!("s{at}"), vec![0.1; 9])).collect());
    crowd.services.iter_mut().for_each(|one| one.service.share = false);
    let error = refused(&crowd, &profile);
    assert!(error.contains("let 1 of them share"), "{error}");
    let mut all = fits;
    all.computer.housekeeping = Some("0-7".into());
    assert!(refused(&all, &profile).starts_with("no CPUs are left"));
}

fn with_memory(node: &str, needs: [&str; 2]) -> Result<ServicesPlan, Failure> {
    let mut record = two(1.0);
    for (one, need) in record.services.iter_mut().zip(needs) {
        match need.strip_prefix("nodes ") {
            Some(nodes) => one.service.memory_nodes = Some(nodes.into()),
            None => one.service.memory = Some(need.into()).filter(|_| !need.is_empty()),
        }
    }
    record.computer.node_memory = Some(node.into()).filter(|_| !node.is_empty());
    plan(&record, &machine(8, 1, 4, 2))
}

#[test]
fn services_use_nodes_with_their_memory() {
    let plan = with_memory("8g", ["6g", "6g"]).unwrap();
    let nodes: Vec<&str> = plan.services.iter().map(|one| one.nodes.as_str()).collect();
    // One node does not have enough for both.
    assert!(nodes != ["0", "0"] && nodes != ["1", "1"], "{nodes:?}");
    let plan = with_memory("8g", ["12g", ""]).unwrap();
    assert_eq!(plan.services[0].nodes, "0,1");
    for node in ["0", "1"] {
        let plan = with_memory("", [&format!("nodes {node}"), ""]).unwrap();
        assert_eq!(plan.services[0].nodes, node);
        let all = plan.baseline("all share all").unwrap();
        assert!(!all.keeps_limits);
    }
}

#[test]
fn impossible_memory_is_rejected_with_remedy() {
    for (node, needs, told) in [
        ("", ["1g", ""], "the memory of test is unknown: write node_memory = \"SIZE\""),
        ("8g", ["17g", ""], "its possible NUMA nodes have 16g: set memory = \"16g\""),
        (
            "8g",
            ["12g", "5g"],
            "need 17g of memory (a 12g, b 5g), but the NUMA nodes have 16g: lower \
                               memory by 1g in total",
        ),
        ("8g", ["nodes 7", ""], "memory_nodes = \"7\", but the usable CPUs are on nodes 0,1"),
    ] {
        let error = with_memory(node, needs).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
    // For either, 1g less is enough.
    let mut record = two(1.0);
    for (one, size) in record.services.iter_mut().zip(["5g", "4g"]) {
        one.service.memory = Some(size.into());
        one.service.memory_nodes = Some("1".into());
    }
    record.computer.node_memory = Some("8g".into());
    let error = refused(&record, &machine(8, 1, 4, 2));
    assert!(error.ends_with("set memory = \"3g\" for 'b' instead of \"4g\""), "{error}");
}

#[test]
fn services_stay_within_their_bounds() {
    let profile = machine(8, 1, 4, 1);
    // With more than five services the plan is annealed.
    for count in [3, 7] {
        let names: Vec<String> = (0..count).map(|at| format!("s{at}")).collect();
        let services = names.iter().map(|name| service(name, vec![0.5; 9])).collect();
        let bounds = [("s1", "4-7"), ("s2", "0-1")];
        let plan = bounded(&record(services), &profile, &bounds).unwrap();
        for (at, (_, list)) in bounds.iter().enumerate() {
            let planned = &plan.services[at + 1];
            assert!(planned.cpu_set().is_subset(&CpuSet::of_list(list).unwrap()), "{planned:?}");
            assert_eq!(planned.within.as_deref(), Some(["4-7", "0,1"][at]));
        }
        assert_eq!(plan.services[0].within, None);
        assert!(!plan.baseline("all share all").unwrap().keeps_limits);
    }
    let mut one = service("db", vec![1.0; 9]);
    one.service.cpus = Some("no-smt".into());
    let error = bounded(&record(vec![one]), &machine(4, 2, 4, 1), &[("db", "0-3")]).unwrap_err();
    let told =
        "service 'db' has cpus = \"no-smt\" (0-3), but no whole core of these is for services";
    assert!(error.to_string().starts_with(told), "{error}");
}

proptest! {
    #[test]
    fn lacking_bytes_match_exhaustive_maximum(
        sizes in proptest::collection::vec(0..6_u64, 1..5),
        pools in proptest::collection::vec((0..4_usize, 0..4_usize, 0..6_u64), 0..4),
    ) {
        let nodes: Vec<u32> = (0..sizes.len() as u32).collect();
        let services = pools.iter().map(|(_, _, bytes)| ServiceDemand {
            memory_bytes: *bytes,
            ..ServiceDemand::default()
        });
        let demand = Demand {
            services: services.collect(),
            node_memory: NodeMemory { nodes, bytes: sizes.clone() },
            ..Demand::default()
        };
        let runs: Vec<[usize; 2]> = pools.iter().map(|(a, b, _)| {
            let [a, b] = [a, b].map(|end| (*end).min(sizes.len() - 1));
            [a.min(b), a.max(b)]
        }).collect();
        let mut needs: Vec<_> = runs.iter().enumerate().map(|(at, [first, last])| {
            demand.pool_memory(1 << at, (*first as u32)..=(*last as u32))
        }).collect();
        // Hall's theorem.
        let lacking = (0..1_usize << pools.len()).map(|some| {
            let chosen = (0..pools.len()).filter(|at| some >> at & 1 == 1);
            let needed: u64 = chosen.clone().map(|at| pools[at].2).sum();
            let reached = (0..sizes.len())
                .filter(|node| chosen.clone().any(|at| (runs[at][0]..=runs[at][1]).contains(node)));
            needed.saturating_sub(reached.map(|node| sizes[node]).sum())
        });
        prop_assert_eq!(demand.lacking_bytes(&mut needs), lacking.max().unwrap_or(0));
    }
}

#[test]
fn machine_of_two_cpus_is_divided_by_cpu() {
    let mut profile = machine(1, 2, 1, 1);
    let record = two(0.5);
    assert_eq!(Units::of(&profile, None, &CpuSet::default()).all.len(), 2);
    plan(&record, &profile).unwrap();
    profile.topology.pus.truncate(1);
    plan(&record, &profile).unwrap();
}

#[test]
fn plan_of_many_services_is_bounded_and_deterministic() {
    let record = random_record(12, 30, 24.0, 9);
    let first = plan(&record, &machine(32, 1, 8, 2)).unwrap();
    assert!(first.bound_percent <= first.cost_percent && !first.is_proven);
    for baseline in first.baselines.iter().filter(|baseline| baseline.keeps_limits) {
        assert!(first.cost_percent.unwrap() <= baseline.cost_percent, "{}", baseline.name);
    }
    let text = seatmap_data::document::written(&first);
    assert_eq!(ServicesPlan::from_json(&text).unwrap(), first);
    let again = plan(&record, &machine(32, 1, 8, 2)).unwrap();
    assert_eq!(again, first, "the same record gives the same plan");
}

#[test]
fn the_replay_carries_a_burst_into_the_next_slice() {
    let units = Units::of(&machine(4, 1, 4, 1), None, &CpuSet::default());
    let mut record = record(vec![service("a", vec![6.0, 0.0, 0.0, 0.0])]);
    record.computer.head_room_percent = 0.0;
    let demand = Demand::of(&record, &units, &BTreeMap::new(), &BTreeMap::new());
    let pools = [Pool { members: 1, units: vec![0, 1, 2, 3] }];
    let late = replay::play(&demand, &units, &pools);
    // Four CPUs need 50 ms for the late 0.2 CPU seconds.
    assert!((late.most_ms - 50.0).abs() < 1e-9, "{late:?}");
    assert!((late.late_percent - 100.0 / 3.0).abs() < 1e-9, "{late:?}");
}

proptest! {
    /// The lower bound relies on this.
    #[test]
    fn thread_waits_least_alone_on_all_cpus(
        wanted in 0.01..20.0_f64, others in 0.0..20.0_f64,
        set in 0.5..16.0_f64, more in 0.0..16.0_f64,
    ) {
        let alone = waiting(wanted, set + more) / wanted;
        let beside = waiting(wanted + others, set) / (wanted + others);
        prop_assert!(alone <= beside * (1.0 + 1e-9) + 1e-12);
    }

    #[test]
    fn waiting_grows_with_load_and_falls_with_capacity(
        wanted in 0.0..30.0_f64, more in 0.0..5.0_f64, capacity in 0.5..30.0_f64,
    ) {
        prop_assert!(waiting(wanted + more, capacity) >= waiting(wanted, capacity));
        prop_assert!(waiting(wanted, capacity + more) <= waiting(wanted, capacity) + 1e-12);
    }
}
