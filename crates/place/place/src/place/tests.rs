//! Small cases with known answers, and rules for every answer.

use super::*;
use crate::search::SearchLimit;
use crate::{Level, MessageWait, Weight, too_few_groups};
use seatmap_data::machine::{
    CoreDistance, HomeLines, Matrix, Origin, OriginKind, Profile, Topology, WakeupPair, Wakeups,
    catalog,
};
use seatmap_data::pattern::{Edge, Pattern, PatternObservation, generate};

fn machine(name: &str) -> Profile {
    catalog::load(name).unwrap()
}

fn placed(
    machine: &Profile,
    pattern: &Pattern,
    change: impl Fn(&mut PlaceRequest),
) -> Result<PlacementResult, PlaceError> {
    let mut request = PlaceRequest::new(machine, pattern);
    request.limit = SearchLimit::kicks(300);
    change(&mut request);
    request.place()
}

fn placed_on(
    name: &str,
    pattern: &str,
    change: impl Fn(&mut PlaceRequest),
) -> Result<PlacementResult, PlaceError> {
    placed(&machine(name), &generate(pattern).unwrap(), change)
}

fn run(request: &PlaceRequest, time_ns: &RunTimes) -> Result<PlacementResult, PlaceError> {
    request.place_by(TrialJudge { time_ns, floor_ns: 0.0 })
}

type RunTimes<'a> = dyn Fn(&[u32]) -> Result<f64, String> + Sync + 'a;

const XEON: &str = "xeon-e5-2680-2s";

/// The tasks on the first package.
fn on_first(placement: &[u32]) -> usize {
    let machine = machine(XEON);
    placement.iter().filter(|os| machine.topology.pu(**os).unwrap().package == Some(0)).count()
}

#[test]
fn pair_is_placed_on_siblings() {
    let answer = placed_on(XEON, "pairs:2", |_| ()).unwrap();
    assert!(machine(XEON).topology.are_smt_siblings(answer.placement[0], answer.placement[1]));
    assert!(answer.optimal && answer.cost == answer.lower_bound);
}

#[test]
fn one_per_core_uses_each_core_once() {
    let one_per = |pattern: &str| placed_on(XEON, pattern, |r| r.one_per = Some(Level::Core));
    let machine = machine(XEON);
    let cores: std::collections::HashSet<_> = one_per("ring:16")
        .unwrap()
        .placement
        .iter()
        .map(|os| machine.topology.pu(*os).unwrap().core)
        .collect();
    assert_eq!(cores.len(), 16);
    assert_eq!(one_per("ring:17"), too_few_groups(17, 16));
}

#[test]
fn placement_respects_fixed_tasks_and_allowed_cpus() {
    let placement = placed_on("graviton3", "ring:5", |request| {
        request.cpus = Some(vec![9, 3, 4, 5, 6, 7]);
        request.fixed = vec![(2, 9), (0, 4)];
    })
    .unwrap()
    .placement;
    assert_eq!((placement[2], placement[0]), (9, 4));
    assert!(placement.iter().all(|os| [3, 4, 5, 6, 7, 9].contains(os)), "{placement:?}");
    let crowded = placed_on("graviton3", "ring:5", |request| request.fixed = vec![(0, 1), (1, 1)]);
    let crowded = crowded.unwrap_err().to_string();
    assert!(crowded.contains("PU 1: with 5 tasks on 64 PUs, each PU takes at most 1 task;"));
}

#[test]
fn fixed_tasks_may_exceed_even_share_of_cpu() {
    let fixed_on_first = |tasks: usize, cpus: Vec<u32>, count: usize| {
        let answer = placed_on("graviton3", &format!("ring:{tasks}"), |request| {
            request.fixed = (0..count).map(|task| (task, cpus[0])).collect();
            request.cpus = Some(cpus.clone());
        });
        let placement = answer.unwrap().placement;
        assert!(placement[..count].iter().all(|os| *os == cpus[0]), "{placement:?}");
        cpus.iter().map(|cpu| placement.iter().filter(|os| *os == cpu).count()).collect::<Vec<_>>()
    };
    assert_eq!(fixed_on_first(5, vec![0, 1], 4), [4, 1]);
    assert_eq!(fixed_on_first(5, vec![0, 1], 5), [5, 0]);
    assert_eq!(fixed_on_first(9, vec![3, 4, 5, 6], 6), [6, 1, 1, 1]);
    assert_eq!(fixed_on_first(8, vec![3, 4, 5], 2), [2, 3, 3]);
}

#[test]
fn excess_tasks_are_spread_evenly_over_cpus() {
    for tasks in [9_usize, 11, 16] {
        let few = |request: &mut PlaceRequest| request.cpus = Some((0..4).collect());
        let placement = placed_on("graviton3", &format!("ring:{tasks}"), few).unwrap().placement;
        let load = |os: u32| placement.iter().filter(|other| **other == os).count();
        let is_even = |os: u32| (tasks / 4..=tasks.div_ceil(4)).contains(&load(os));
        assert!((0..4).all(is_even), "{placement:?}");
    }
}

#[test]
fn partition_is_balanced_and_cuts_two_edges() {
    let answer = placed_on(XEON, "ring:16", |r| r.method = PlaceMethod::Partition).unwrap();
    assert_eq!((on_first(&answer.placement), answer.crossing), (8, Some((2.0, 16.0))));
}

#[test]
fn pizza_method_keeps_clusters_in_one_section() {
    let pizza = |request: &mut PlaceRequest| request.method = PlaceMethod::Pizza(4);
    let answer = placed_on("graviton3", "clusters:4x16", pizza).unwrap();
    assert_eq!(answer.crossing.unwrap().0, 0.0);
    for cluster in answer.placement.chunks(16) {
        assert!(cluster.iter().all(|os| os / 16 == cluster[0] / 16));
    }
}

#[test]
fn congestion_objective_minimizes_busiest_link() {
    let answer = placed_on(XEON, "clusters:2x8", |r| r.objective = Objective::Congestion).unwrap();
    assert_eq!(answer.cost, 0.0, "a cluster fits in a package: {:?}", answer.placement);
    assert!(answer.baselines.random.mean > 0.0);
}

#[test]
fn same_seed_and_kicks_repeat_result() {
    let once =
        || placed_on("graviton3", "random:40:3:1", |r| r.weight = Some(Weight::Messages)).unwrap();
    assert_eq!(once(), once());
}

#[test]
fn large_pattern_is_placed_better_than_at_random() {
    let few = |request: &mut PlaceRequest| request.limit = SearchLimit::kicks(3);
    let answer = placed_on(XEON, "stencil2d:48x40", few).unwrap();
    assert!(answer.cost < 0.5 * answer.baselines.random.mean, "{answer:?}");
}

#[test]
fn impossible_requests_are_rejected_with_reason() {
    type Change<'a> = &'a dyn Fn(&mut PlaceRequest);
    let cases: [(Change<'_>, &str); 7] = [
        (&|r| r.cpus = Some(vec![0, 99]), "PU 99"),
        (&|r| r.fixed = vec![(7, 0)], "task 7"),
        (&|r| r.fixed = vec![(1, 0), (1, 2)], "twice"),
        (&|r| r.homes = true, "homes of lines; place without homes"),
        (&|r| r.method = PlaceMethod::GetCore, "does not distinguish homes of lines"),
        (
            &|r| r.method = PlaceMethod::Pizza(99),
            "99 sections do not divide 64 cores; 2, 4, 8, 16, 32, 64 do",
        ),
        (&|r| r.method = PlaceMethod::Partition, "two chips"),
    ];
    for (change, reason) in cases {
        let refused = placed_on("graviton3", "ring:4", change).unwrap_err().to_string();
        assert!(refused.contains(reason), "{refused}");
    }
}

#[test]
fn homes_error_suggests_measuring_only_if_useful() {
    let mut machine = machine("graviton3");
    let ring = generate("ring:4").unwrap();
    let refused = |machine: &Profile| {
        placed(machine, &ring, |request| request.homes = true).unwrap_err().to_string()
    };
    assert!(!refused(&machine).contains("measure"), "somebody else's file");
    machine.origin.kind = OriginKind::Measured;
    assert!(
        refused(&machine)
            .ends_with("; place without homes, or measure them with 'seatmap measure --homes 64'")
    );
    let lines = HomeLines {
        home_of_line: vec![0; 64],
        nearest_pu: vec![0],
        confidence: 0.0,
        resolvable: false,
        samples: 1,
        checked: None,
    };
    let model = machine.home_model.as_mut().unwrap();
    (model.lines, model.offset_ns) = (Some(lines), vec![vec![0.0]; 64]);
    assert!(refused(&machine).ends_with("; place without homes"), "64 lines were tried already");
}

fn clock<'a>(
    machine: &'a Profile,
    pattern: &'a Pattern,
) -> impl Fn(&[u32]) -> Result<f64, String> + Sync + 'a {
    move |placement| {
        let known = machine.core_distance.as_ref().unwrap();
        let at = |task: usize| known.index_of(placement[task]).unwrap();
        let ns = |edge: &Edge| edge.bytes * known.median_ns[(at(edge.from), at(edge.to))];
        Ok(pattern.edges.iter().map(ns).sum())
    }
}

#[test]
fn small_search_space_runs_every_placement() {
    let machine = machine(XEON);
    let pattern = generate("stencil2d:2x2").unwrap();
    let mut request = PlaceRequest::new(&machine, &pattern);
    request.cpus = Some(vec![0, 1, 8, 9, 16]);
    request.limit = SearchLimit::kicks(1000);
    let exact = request.place().unwrap();
    let by_runs = run(&request, &clock(&machine, &pattern)).unwrap();
    assert!(exact.optimal && by_runs.optimal);
    let difference = (by_runs.cost - exact.cost).abs();
    assert!(difference < 1e-6 * exact.cost, "{} and {}", by_runs.cost, exact.cost);
    assert_eq!(by_runs.method, "all 120 placements run");
    assert_eq!(by_runs.lower_bound, by_runs.cost);
}

#[test]
fn placement_by_runs_is_independent_of_thread_count() {
    let machine = machine("graviton3");
    let pattern = generate("ring:9").unwrap();
    let time_ns = clock(&machine, &pattern);
    let found = |threads: usize| {
        let mut request = PlaceRequest::new(&machine, &pattern);
        (request.threads, request.fixed, request.limit) =
            (threads, vec![(3, 60)], SearchLimit::kicks(200));
        request.place_by(TrialJudge { time_ns: &time_ns, floor_ns: 1.0 }).unwrap()
    };
    let one = found(1);
    let four = found(4);
    assert_eq!(one, four);
    assert_eq!(one.placement[3], 60);
    assert!(!one.optimal && one.cost <= one.baselines.random.best, "{one:?}");
}

#[test]
fn placement_by_runs_respects_partition() {
    let machine = machine(XEON);
    let pattern = generate("ring:8").unwrap();
    let mut request = PlaceRequest::new(&machine, &pattern);
    (request.method, request.limit) = (PlaceMethod::Partition, SearchLimit::kicks(100));
    let answer = run(&request, &clock(&machine, &pattern)).unwrap();
    assert_eq!((on_first(&answer.placement), answer.optimal), (4, false));
}

#[test]
fn a_pattern_without_messages_costs_nothing() {
    let answer = placed(&machine(XEON), &Pattern::gathered("silent", 4, []), |_| ()).unwrap();
    let are_positive =
        [answer.cost, answer.baselines.os].iter().all(|cost| cost.is_sign_positive());
    assert!(answer.optimal && are_positive, "{answer:?}");
}

#[test]
fn placement_by_runs_requires_cpu_per_task() {
    let machine = machine(XEON);
    let pattern = generate("ring:40").unwrap();
    let error = run(&PlaceRequest::new(&machine, &pattern), &|_| Ok(1.0)).unwrap_err();
    assert_eq!(error.to_string(), "40 tasks on 32 PUs: a run needs a PU for each task");
}

#[test]
fn failed_run_is_reported() {
    let machine = machine("graviton3");
    let pattern = generate("ring:4").unwrap();
    let mut request = PlaceRequest::new(&machine, &pattern);
    let refused = run(&request, &|_| Err("no such seat".to_owned())).unwrap_err();
    assert_eq!(refused, PlaceError::Unfit("no such seat".to_owned()));
    request.objective = Objective::Simulated;
    assert!(request.place().unwrap_err().to_string().contains("runs the program"));
}

fn is_next(pair: &[u32]) -> bool {
    matches!((pair[1] + 32 - pair[0]) % 32, 8 | 25)
}

#[test]
fn result_never_exceeds_usual_placements() {
    let check = |answer: PlacementResult| {
        let usual = &answer.baselines;
        assert!(answer.cost <= usual.os.min(usual.compact).min(usual.scatter), "{answer:?}");
    };
    let congested = placed_on("core-i9-12900k", "ring:24", |request| {
        request.objective = Objective::Congestion;
        request.limit = SearchLimit::kicks(1);
    });
    check(congested.unwrap());
    // Best scattered, which no distance shows.
    let machine = machine(XEON);
    let pattern = generate("ring:24").unwrap();
    let mut request = PlaceRequest::new(&machine, &pattern);
    request.limit = SearchLimit::kicks(1);
    let apart = |placement: &[u32]| placement.windows(2).filter(|pair| !is_next(pair)).count();
    check(run(&request, &|placement| Ok(apart(placement) as f64)).unwrap());
}

/// Wakeups of 5 us on the same CPU and 39 us across, as on a virtual machine.
pub fn two_cpus() -> Profile {
    let origin =
        Origin { kind: OriginKind::Measured, source: "test".into(), date: None, tool: None };
    let mut profile = Profile::new("two", origin, Topology::unknown([0, 1]));
    let mut median_ns = Matrix::filled(2, 0.0);
    median_ns.set_both(0, 1, 80.0);
    profile.core_distance = Some(CoreDistance::imported(vec![0, 1], median_ns));
    let pair = |pus, median_ns| WakeupPair { pus, median_ns, ..Default::default() };
    let pairs = vec![pair([0, 0], 5e3), pair([1, 1], 5e3), pair([0, 1], 39e3)];
    profile.wakeups = Some(Wakeups { pairs, ..Default::default() });
    profile
}

fn edge(from: usize, to: usize) -> Edge {
    Edge { from, to, bytes: 64e3, messages: 1000.0 }
}

/// Readers 0 to 3 and writers 4 to 7, 1000 messages each way.
pub fn sleeping_pairs() -> Pattern {
    let edges = (0..4).flat_map(|pair| [edge(pair, pair + 4), edge(pair + 4, pair)]);
    let mut pattern = Pattern::gathered("pairs", 8, edges);
    let methods = vec!["wakeups".to_owned()];
    pattern.observation = Some(PatternObservation { methods, ..Default::default() });
    pattern
}

#[test]
fn sleeping_partners_share_one_cpu() {
    let machine = two_cpus();
    let pattern = sleeping_pairs();
    let answer = placed(&machine, &pattern, |_| ()).unwrap();
    let is_together = (0..4).all(|pair| answer.placement[pair] == answer.placement[pair + 4]);
    assert!(is_together && answer.optimal, "{answer:?}");
    assert_eq!(answer.cost, 8000.0 * 5e3);
    let on_one = answer.placement.iter().filter(|os| **os == 0).count();
    assert_eq!(on_one, 4, "the work is spread evenly");
    let spinning =
        placed(&machine, &pattern, |request| request.waiting = MessageWait::Spinning).unwrap();
    let mut without = machine.clone();
    without.wakeups = None;
    assert_eq!(
        placed(&without, &pattern, |_| ()).unwrap(),
        spinning,
        "distances where no wakeup is known"
    );
    assert_eq!(spinning.cost, 8.0 * 64e3 * 80.0);
}

#[test]
fn time_objective_weighs_wakeups_against_load() {
    let machine = two_cpus();
    let two = |load_ns: f64, objective: Objective, fixed: &[(usize, u32)]| {
        let mut pattern = sleeping_pairs();
        pattern.edges.truncate(1);
        pattern.edges[0].to = 1;
        (pattern.tasks, pattern.load_ns) = (2, Some(load_ns));
        placed(&machine, &pattern, |request| {
            (request.objective, request.fixed) = (objective, fixed.to_vec());
        })
    };
    let is_together = |answer: &PlacementResult| answer.placement[0] == answer.placement[1];
    // 500 round trips: 2.5 ms on one CPU, 19.5 ms across.
    let idle = two(0.0, Objective::Time, &[]).unwrap();
    assert_eq!((idle.cost, is_together(&idle)), (2.5e6, true));
    let on_one = two(20e6, Objective::Time, &[(0, 1), (1, 1)]).unwrap();
    assert_eq!((on_one.placement, on_one.cost), (vec![1, 1], 42.5e6), "as the user wants it");
    let crowded = two(20e6, Objective::Distance, &[(0, 1), (1, 1)]).unwrap_err().to_string();
    assert!(crowded.contains("each PU takes at most 1 task;"), "{crowded}");
    let busy = two(20e6, Objective::Time, &[]).unwrap();
    assert_eq!((busy.cost, is_together(&busy), busy.optimal), (39.5e6, false, true));
}
