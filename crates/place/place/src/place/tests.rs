//! Small cases with known answers, and rules for every answer.

use super::*;
use crate::search::SearchLimit;
use crate::{Level, MessageWait, Weight};
use seatmap_data::machine::{Profile, catalog};
use seatmap_data::pattern::{Pattern, generate};

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

#[test]
fn pair_is_placed_on_siblings() {
    let machine = machine("xeon-e5-2680-2s");
    let answer = placed(&machine, &generate("pairs:2").unwrap(), |_| ()).unwrap();
    assert!(machine.topology.are_smt_siblings(answer.placement[0], answer.placement[1]));
    assert!(answer.optimal && answer.cost == answer.lower_bound);
}

#[test]
fn one_per_core_uses_each_core_once() {
    let machine = machine("xeon-e5-2680-2s");
    let answer =
        placed(&machine, &generate("ring:16").unwrap(), |r| r.one_per = Some(Level::Core)).unwrap();
    let cores: std::collections::HashSet<_> =
        answer.placement.iter().map(|os| machine.topology.pu(*os).unwrap().core).collect();
    assert_eq!(cores.len(), 16);
    let refused =
        placed(&machine, &generate("ring:17").unwrap(), |r| r.one_per = Some(Level::Core));
    assert_eq!(refused, Err(PlaceError::TooFewGroups { tasks: 17, groups: 16 }));
}

#[test]
fn placement_respects_fixed_tasks_and_allowed_cpus() {
    let machine = machine("graviton3");
    let answer = placed(&machine, &generate("ring:5").unwrap(), |request| {
        request.cpus = Some(vec![9, 3, 4, 5, 6, 7]);
        request.fixed = vec![(2, 9), (0, 4)];
    })
    .unwrap();
    assert_eq!((answer.placement[2], answer.placement[0]), (9, 4));
    assert!(
        answer.placement.iter().all(|os| [3, 4, 5, 6, 7, 9].contains(os)),
        "{:?}",
        answer.placement
    );
    let crowded = placed(&machine, &generate("ring:5").unwrap(), |request: &mut PlaceRequest| {
        request.fixed = vec![(0, 1), (1, 1)];
    });
    let crowded = crowded.unwrap_err().to_string();
    assert!(crowded.contains("PU 1: with 5 tasks on 64 PUs, each PU takes at most 1 task;"));
}

#[test]
fn fixed_tasks_may_exceed_even_share_of_cpu() {
    let machine = machine("graviton3");
    let fixed_on_first = |tasks: usize, cpus: Vec<u32>, count: usize| {
        let pattern = generate(&format!("ring:{tasks}")).unwrap();
        let answer = placed(&machine, &pattern, |request: &mut PlaceRequest| {
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
    let machine = machine("graviton3");
    for tasks in [9_usize, 11, 16] {
        let pattern = generate(&format!("ring:{tasks}")).unwrap();
        let answer =
            placed(&machine, &pattern, |request| request.cpus = Some((0..4).collect())).unwrap();
        let load = |os: u32| answer.placement.iter().filter(|other| **other == os).count();
        assert!(
            (0..4).all(|os| (tasks / 4..=tasks.div_ceil(4)).contains(&load(os))),
            "{:?}",
            answer.placement
        );
    }
}

#[test]
fn partition_is_balanced_and_cuts_two_edges() {
    let machine = machine("xeon-e5-2680-2s");
    let answer =
        placed(&machine, &generate("ring:16").unwrap(), |r| r.method = PlaceMethod::Partition)
            .unwrap();
    let on_first = answer
        .placement
        .iter()
        .filter(|os| machine.topology.pu(**os).unwrap().package == Some(0))
        .count();
    assert_eq!((on_first, answer.crossing), (8, Some((2.0, 16.0))));
}

#[test]
fn pizza_method_keeps_clusters_in_one_section() {
    let machine = machine("graviton3");
    let answer =
        placed(&machine, &generate("clusters:4x16").unwrap(), |r| r.method = PlaceMethod::Pizza(4))
            .unwrap();
    assert_eq!(answer.crossing.unwrap().0, 0.0);
    let slices = |cluster: usize| {
        answer.placement[16 * cluster..16 * (cluster + 1)].iter().map(|os| os / 16)
    };
    assert!(
        (0..4).all(|cluster| slices(cluster).collect::<std::collections::HashSet<_>>().len() == 1)
    );
}

#[test]
fn congestion_objective_minimizes_busiest_link() {
    let machine = machine("xeon-e5-2680-2s");
    let pattern = generate("clusters:2x8").unwrap();
    let answer =
        placed(&machine, &pattern, |request| request.objective = Objective::Congestion).unwrap();
    assert_eq!(answer.cost, 0.0, "a cluster fits in a package: {:?}", answer.placement);
    assert!(answer.baselines.random.mean > 0.0);
}

#[test]
fn same_seed_and_kicks_repeat_result() {
    let machine = machine("graviton3");
    let pattern = generate("random:40:3:1").unwrap();
    let once =
        || placed(&machine, &pattern, |request| request.weight = Some(Weight::Messages)).unwrap();
    assert_eq!(once(), once());
}

#[test]
fn large_pattern_uses_multilevel_method() {
    let machine = machine("xeon-e5-2680-2s");
    let pattern = generate("stencil2d:48x40").unwrap();
    let answer =
        placed(&machine, &pattern, |request| request.limit = SearchLimit::kicks(3)).unwrap();
    assert!(
        answer.cost < 0.5 * answer.baselines.random.mean,
        "{} {:?}",
        answer.cost,
        answer.baselines
    );
    assert!(answer.method.starts_with("multilevel"));
}

#[test]
fn impossible_requests_are_rejected_with_reason() {
    let machine = machine("graviton3");
    let ring = generate("ring:4").unwrap();
    let refused = |change: &dyn Fn(&mut PlaceRequest)| {
        placed(&machine, &ring, change).unwrap_err().to_string()
    };
    assert!(refused(&|r| r.cpus = Some(vec![0, 99])).contains("PU 99"));
    assert!(refused(&|r| r.fixed = vec![(7, 0)]).contains("task 7"));
    assert!(refused(&|r| r.fixed = vec![(1, 0), (1, 2)]).contains("twice"));
    assert!(refused(&|r| r.homes = true).ends_with("homes of lines; place without homes"));
    assert!(
        refused(&|r| r.method = PlaceMethod::GetCore)
            .contains("does not distinguish homes of lines")
    );
    assert!(
        refused(&|r| r.method = PlaceMethod::Pizza(99))
            .contains("99 sections do not divide 64 cores; 2, 4, 8, 16, 32, 64 do")
    );
    assert!(refused(&|r| r.method = PlaceMethod::Partition).contains("two chips"));
}

#[test]
fn homes_error_suggests_measuring_only_if_useful() {
    let mut machine = machine("graviton3");
    let ring = generate("ring:4").unwrap();
    let refused = |machine: &Profile| {
        placed(machine, &ring, |request| request.homes = true).unwrap_err().to_string()
    };
    assert!(!refused(&machine).contains("measure"), "somebody else's file");
    machine.origin.kind = seatmap_data::machine::OriginKind::Measured;
    assert!(
        refused(&machine)
            .ends_with("; place without homes, or measure them with 'seatmap measure --homes 64'")
    );
    let lines = seatmap_data::machine::HomeLines {
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
        Ok(pattern
            .edges
            .iter()
            .map(|edge| edge.bytes * known.median_ns[(at(edge.from), at(edge.to))])
            .sum())
    }
}

#[test]
fn small_search_space_runs_every_placement() {
    let machine = machine("xeon-e5-2680-2s");
    let pattern = generate("stencil2d:2x2").unwrap();
    let time_ns = clock(&machine, &pattern);
    let mut request = PlaceRequest::new(&machine, &pattern);
    request.cpus = Some(vec![0, 1, 8, 9, 16]);
    request.limit = SearchLimit::kicks(1000);
    let exact = request.place().unwrap();
    let by_runs = request.place_by(TrialJudge { time_ns: &time_ns, floor_ns: 0.0 }).unwrap();
    assert!(exact.optimal && by_runs.optimal);
    assert!(
        (by_runs.cost - exact.cost).abs() < 1e-6 * exact.cost,
        "{} and {}",
        by_runs.cost,
        exact.cost
    );
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
    let machine = machine("xeon-e5-2680-2s");
    let pattern = generate("ring:8").unwrap();
    let time_ns = clock(&machine, &pattern);
    let mut request = PlaceRequest::new(&machine, &pattern);
    (request.method, request.limit) = (PlaceMethod::Partition, SearchLimit::kicks(100));
    let answer = request.place_by(TrialJudge { time_ns: &time_ns, floor_ns: 0.0 }).unwrap();
    let on_first = answer
        .placement
        .iter()
        .filter(|os| machine.topology.pu(**os).unwrap().package == Some(0))
        .count();
    assert_eq!((on_first, answer.optimal), (4, false));
}

#[test]
fn a_pattern_without_messages_costs_nothing() {
    let machine = machine("xeon-e5-2680-2s");
    let pattern = seatmap_data::pattern::Pattern::gathered("silent", 4, []);
    let answer = PlaceRequest::new(&machine, &pattern).place().unwrap();
    assert!(
        answer.optimal && answer.cost.is_sign_positive() && answer.baselines.os.is_sign_positive(),
        "{answer:?}"
    );
}

#[test]
fn placement_by_runs_requires_cpu_per_task() {
    let machine = machine("xeon-e5-2680-2s");
    let pattern = generate("ring:40").unwrap();
    let judge = TrialJudge { time_ns: &|_| Ok(1.0), floor_ns: 0.0 };
    let error = PlaceRequest::new(&machine, &pattern).place_by(judge).unwrap_err().to_string();
    assert_eq!(error, "40 tasks on 32 PUs: a run needs a PU for each task");
}

#[test]
fn failed_run_is_reported() {
    let machine = machine("graviton3");
    let pattern = generate("ring:4").unwrap();
    let refused = |time_ns: &(dyn Fn(&[u32]) -> Result<f64, String> + Sync)| {
        PlaceRequest::new(&machine, &pattern)
            .place_by(TrialJudge { time_ns, floor_ns: 0.0 })
            .unwrap_err()
    };
    assert_eq!(
        refused(&|_| Err("no such seat".to_owned())),
        PlaceError::Run("no such seat".to_owned())
    );
    let mut request = PlaceRequest::new(&machine, &pattern);
    request.objective = Objective::Simulated;
    assert!(request.place().unwrap_err().to_string().contains("runs the program"));
}

fn is_next(pair: &[u32]) -> bool {
    matches!((pair[1] + 32 - pair[0]) % 32, 8 | 25)
}

#[test]
fn result_never_exceeds_usual_placements() {
    let best = |answer: &PlacementResult| {
        answer.baselines.os.min(answer.baselines.compact).min(answer.baselines.scatter)
    };
    let machine = machine("core-i9-12900k");
    let pattern = generate("ring:24").unwrap();
    let answer = placed(&machine, &pattern, |request: &mut PlaceRequest| {
        request.objective = Objective::Congestion;
        request.limit = SearchLimit::kicks(1);
    })
    .unwrap();
    assert!(answer.cost <= best(&answer), "{} {:?}", answer.cost, answer.baselines);
    // Best scattered, which no distance shows.
    let machine = super::tests::machine("xeon-e5-2680-2s");
    let time_ns =
        |placement: &[u32]| Ok(placement.windows(2).filter(|pair| !is_next(pair)).count() as f64);
    let mut request = PlaceRequest::new(&machine, &pattern);
    request.limit = SearchLimit::kicks(1);
    let answer = request.place_by(TrialJudge { time_ns: &time_ns, floor_ns: 0.0 }).unwrap();
    assert!(answer.cost <= best(&answer), "{} {:?}", answer.cost, answer.baselines);
}

/// Wakeups of 5 us on the same CPU and 39 us across, as on a virtual machine.
pub fn two_cpus() -> Profile {
    let origin = seatmap_data::machine::Origin {
        kind: seatmap_data::machine::OriginKind::Measured,
        source: "test".into(),
        date: None,
        tool: None,
    };
    let mut profile = Profile::new("two", origin, seatmap_data::machine::Topology::unknown([0, 1]));
    let mut median_ns = seatmap_data::machine::Matrix::filled(2, 0.0);
    median_ns.set_both(0, 1, 80.0);
    profile.core_distance =
        Some(seatmap_data::machine::CoreDistance::imported(vec![0, 1], median_ns));
    let pair =
        |pus, median_ns| seatmap_data::machine::WakeupPair { pus, median_ns, ..Default::default() };
    let pairs = vec![pair([0, 0], 5e3), pair([1, 1], 5e3), pair([0, 1], 39e3)];
    profile.wakeups = Some(seatmap_data::machine::Wakeups { pairs, ..Default::default() });
    profile
}

fn edge(from: usize, to: usize) -> seatmap_data::pattern::Edge {
    seatmap_data::pattern::Edge { from, to, bytes: 64e3, messages: 1000.0 }
}

/// Readers 0 to 3 and writers 4 to 7, 1000 messages each way.
pub fn sleeping_pairs() -> seatmap_data::pattern::Pattern {
    let edges = (0..4).flat_map(|pair| [edge(pair, pair + 4), edge(pair + 4, pair)]);
    let mut pattern = seatmap_data::pattern::Pattern::gathered("pairs", 8, edges);
    let methods = vec!["wakeups".to_owned()];
    pattern.observation =
        Some(seatmap_data::pattern::PatternObservation { methods, ..Default::default() });
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
    let two = |load_ns: f64| {
        let mut pattern = sleeping_pairs();
        pattern.edges.truncate(1);
        pattern.edges[0].to = 1;
        (pattern.tasks, pattern.load_ns) = (2, Some(load_ns));
        placed(&machine, &pattern, |request| request.objective = Objective::Time).unwrap()
    };
    // 500 round trips: 2.5 ms on one CPU, 19.5 ms across.
    let idle = two(0.0);
    assert_eq!((idle.cost, idle.placement[0] == idle.placement[1]), (2.5e6, true));
    let fixed = |objective| {
        let mut pattern = sleeping_pairs();
        pattern.edges.truncate(1);
        pattern.edges[0].to = 1;
        (pattern.tasks, pattern.load_ns) = (2, Some(20e6));
        placed(&machine, &pattern, |request| {
            request.objective = objective;
            request.fixed = vec![(0, 1), (1, 1)];
        })
    };
    let on_one = fixed(Objective::Time).unwrap();
    assert_eq!((on_one.placement, on_one.cost), (vec![1, 1], 42.5e6), "as the user wants it");
    let crowded = fixed(Objective::Distance).unwrap_err().to_string();
    assert!(crowded.contains("each PU takes at most 1 task;"), "{crowded}");
    let busy = two(20e6);
    assert_eq!(
        (busy.cost, busy.placement[0] == busy.placement[1], busy.optimal),
        (39.5e6, false, true)
    );
}
