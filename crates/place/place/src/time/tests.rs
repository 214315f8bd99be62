//! The objective, its search and its bound against all placements.

use super::*;
use crate::PlaceMethod;
use crate::search::SearchLimit;
use proptest::prelude::*;
use seatmap_data::machine::{
    CoreDistance, CoreKind, Origin, OriginKind, Profile, Pu, SeatSpeed, Topology, catalog,
};
use seatmap_data::pattern::{Edge, Pattern, generate};
use seatmap_data::plan::Objective;
use seatmap_data::statistics::Xoshiro;

/// Performance cores have two threads.
fn hybrid(performance: u32, efficiency: u32, rng: &mut Xoshiro) -> Profile {
    let pu = |os: u32| {
        let is_fast = os < 2 * performance;
        let core = if is_fast { os / 2 } else { os - performance };
        let kind = if is_fast { CoreKind::Performance } else { CoreKind::Efficiency };
        Pu { os, core: Some(core), kind: Some(kind), ..Pu::default() }
    };
    let pus: Vec<Pu> = (0..2 * performance + efficiency).map(pu).collect();
    let n = pus.len();
    let mut distance = Matrix::filled(n, 0.0);
    for (a, b) in (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))) {
        let base = match (pus[a].core == pus[b].core, pus[a].kind == pus[b].kind) {
            (true, _) => 10.0,
            (_, true) => 60.0,
            _ => 100.0,
        };
        distance.set_both(a, b, base + 20.0 * rng.unit());
    }
    let slow = 0.4 + 0.5 * rng.unit();
    let alone: Vec<f64> = pus
        .iter()
        .map(|pu| if pu.kind == Some(CoreKind::Efficiency) { slow } else { 1.0 - 0.1 * rng.unit() })
        .collect();
    let os: Vec<u32> = pus.iter().map(|pu| pu.os).collect();
    let origin =
        Origin { kind: OriginKind::Model, source: "made up".into(), date: None, tool: None };
    let mut profile = Profile::new("hybrid", origin, Topology { pus });
    profile.core_distance = Some(CoreDistance::imported(os.clone(), distance));
    profile.speed = Some(SeatSpeed { pus: os, alone, together: None, work: None });
    profile
}

fn busy(tasks: usize, rng: &mut Xoshiro) -> Pattern {
    let mut pattern = Pattern::gathered("busy", tasks, []);
    for (from, to) in (0..tasks).flat_map(|from| (0..tasks).map(move |to| (from, to))) {
        if from != to && rng.below(3) == 0 {
            let messages = 1.0 + rng.below(5) as f64;
            pattern.edges.push(Edge { from, to, bytes: 1.0, messages });
        }
    }
    pattern.loads = (0..tasks).map(|_| 1.0 + rng.below(4) as f64).collect();
    pattern.load_ns = Some(50.0 + 400.0 * rng.unit());
    pattern
}

fn request<'a>(machine: &'a Profile, pattern: &'a Pattern) -> PlaceRequest<'a> {
    let mut request = PlaceRequest::new(machine, pattern);
    (request.objective, request.limit) = (Objective::Time, SearchLimit::kicks(100));
    request
}

fn least_ns(model: &TimeModel) -> f64 {
    fn try_all(model: &TimeModel, seating: &mut TimedPlacement, task: usize, best: &mut f64) {
        if task == model.tasks() {
            *best = best.min(seating.score().most);
            return;
        }
        for pu in 0..model.pus() {
            if seating.has_room(task, pu) {
                seating.put(task, pu);
                try_all(model, seating, task + 1, best);
                seating.lift(task);
            }
        }
    }
    let mut best = f64::INFINITY;
    try_all(model, &mut TimedPlacement::empty(model), 0, &mut best);
    best
}

fn pattern(spec: &str, load_ns: f64) -> Pattern {
    Pattern { load_ns: Some(load_ns), ..generate(spec).unwrap() }
}

fn with_model<T>(request: &PlaceRequest, work: impl FnOnce(&TimeModel, &PlaceGround) -> T) -> T {
    let ground = PlaceGround::of(request).unwrap();
    work(&TimeModel::new(&ground).unwrap(), &ground)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn result_is_proven_optimal_and_bounded_below(tasks in 1..6_usize, performance in 1..3_u32, efficiency in 1..4_u32, seed: u64) {
        let mut rng = Xoshiro::new(seed);
        let machine = hybrid(performance, efficiency, &mut rng);
        let pattern = busy(tasks, &mut rng);
        let mut request = request(&machine, &pattern);
        let least = with_model(&request, |model, _| least_ns(model));
        let floor = with_model(&request, |model, _| bound::bound(model));
        prop_assert!(floor <= least, "{floor} {least}");
        request.limit = SearchLimit::kicks(9_000);
        let answer = request.place().unwrap();
        prop_assert!((answer.cost / least - 1.0).abs() < 1e-9, "{} {least}", answer.cost);
        prop_assert!(answer.optimal && answer.lower_bound <= answer.cost);
        for usual in [answer.baselines.os, answer.baselines.compact, answer.baselines.scatter, answer.baselines.random.best] {
            prop_assert!(usual >= least * (1.0 - 1e-9));
        }
    }

    #[test]
    fn cost_is_independent_of_task_numbering(tasks in 2..7_usize, seed: u64) {
        let mut rng = Xoshiro::new(seed);
        let machine = hybrid(2, 3, &mut rng);
        let pattern = busy(tasks, &mut rng);
        let mut to: Vec<usize> = (0..tasks).collect();
        rng.shuffle(&mut to);
        let edges = pattern.edges.iter().map(|edge| Edge { from: to[edge.from], to: to[edge.to], ..*edge });
        let mut renamed = Pattern::gathered("renamed", tasks, edges);
        renamed.load_ns = pattern.load_ns;
        renamed.loads = vec![0.0; tasks];
        pattern.loads.iter().enumerate().for_each(|(task, load)| renamed.loads[to[task]] = *load);
        let cost = |pattern: &Pattern| {
            let mut request = request(&machine, pattern);
            request.limit = SearchLimit::kicks(9_000);
            request.place().unwrap().cost
        };
        prop_assert!((cost(&pattern) / cost(&renamed) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn incremental_score_matches_recomputed_score(seed: u64) {
        let mut rng = Xoshiro::new(seed);
        let machine = hybrid(3, 4, &mut rng);
        let pattern = busy(8, &mut rng);
        with_model(&request(&machine, &pattern), |model, _| {
            let mut seating = TimedPlacement::of(model, &(0..8).collect::<Vec<usize>>());
            for _ in 0..200 {
                let task = rng.below(8);
                let to = rng.below(10);
                if seating.has_room(task, to) {
                    seating.shift(task, to);
                } else {
                    seating.swap(task, (task + 1 + rng.below(7)) % 8);
                }
            }
            let kept = seating.score();
            let anew = seating.renewed().score();
            prop_assert!((kept.most / anew.most - 1.0).abs() < 1e-9 && (kept.sum / anew.sum - 1.0).abs() < 1e-9);
            Ok(())
        })?;
    }
}

#[test]
fn search_is_within_one_percent_of_optimum() {
    for seed in 0..12 {
        let mut rng = Xoshiro::new(seed);
        let machine = hybrid(2, 3, &mut rng);
        let pattern = busy(6, &mut rng);
        let request = request(&machine, &pattern);
        let (cost, floor) = with_model(&request, |model, ground| {
            let starts = start::starts(ground, model, &request.limit);
            let (_, pu_of, _) = search::search(model, &starts, &request.limit, request.seed);
            (model.cost(&pu_of), bound::bound(model))
        });
        let least = with_model(&request, |model, _| least_ns(model));
        assert!(cost <= 1.01 * least, "seed {seed}: {cost} found, {least} is the least");
        assert!(floor <= least, "seed {seed}");
    }
}

#[test]
fn heavy_tasks_get_separate_fast_cores() {
    let machine = catalog::load("core-i9-12900k").unwrap();
    let mut pattern = pattern("idle:12", 1000.0);
    pattern.loads = (0..12).map(|task| if task < 4 { 1.0 } else { 4.0 }).collect();
    let request = request(&machine, &pattern);
    let answer = request.place().unwrap();
    let kind = |os: &u32| machine.topology.pu(*os).unwrap().kind.unwrap();
    let kinds: Vec<CoreKind> = answer.placement.iter().map(kind).collect();
    let wanted = [vec![CoreKind::Efficiency; 4], vec![CoreKind::Performance; 8]].concat();
    assert_eq!((kinds, answer.cost, answer.optimal), (wanted, 4000.0, true));
    let slowest = request.slowest(&answer.placement).unwrap();
    assert_eq!(
        (slowest.work_ns, slowest.messages_ns, slowest.speed, slowest.tasks.len()),
        (4000.0, 0.0, 1.0, 1)
    );
}

#[test]
fn excess_tasks_share_fast_cpus() {
    let machine = hybrid(2, 1, &mut Xoshiro::new(1));
    let pattern = pattern("idle:30", 1000.0);
    let answer = request(&machine, &pattern).place().unwrap();
    assert!(answer.lower_bound <= answer.cost && answer.cost < answer.baselines.os, "{answer:?}");
    assert!(answer.placement.len() == 30 && answer.placement.iter().all(|os| *os < 5));
}

/// Users do not share spare cores.
#[test]
fn usual_placements_fill_cores_before_siblings() {
    let machine = catalog::load("xeon-e5-2680-2s").unwrap();
    let usual = |tasks: usize| {
        let pattern = pattern(&format!("idle:{tasks}"), 1000.0);
        request(&machine, &pattern).place().unwrap().baselines
    };
    for tasks in [1, 4, 16] {
        let usual = usual(tasks);
        assert_eq!([usual.os, usual.compact, usual.scatter], [1000.0; 3], "{tasks} tasks");
    }
    assert!(usual(17).compact > 1000.0, "one core is shared");
}

#[test]
fn idle_task_does_not_slow_sibling() {
    let machine = catalog::load("xeon-e5-2680-2s").unwrap();
    let pattern = pattern("idle:2", 1000.0);
    let siblings = [0, 16];
    let cost = |loads: [f64; 2]| {
        let pattern = Pattern { loads: loads.to_vec(), ..pattern.clone() };
        with_model(&request(&machine, &pattern), |model, ground| {
            model.cost(&siblings.map(|os| ground.pus.index_of(os).unwrap()))
        })
    };
    assert_eq!(cost([1.0, 0.0]), 1000.0);
    assert_eq!(cost([0.0, 1.0]), 1000.0);
    assert!(cost([1.0, 0.5]) > 1500.0);
}

#[test]
fn time_objective_requires_load_ns() {
    let machine = catalog::load("core-i9-12900k").unwrap();
    let pattern = generate("ring:4").unwrap();
    let error = request(&machine, &pattern).place().unwrap_err().to_string();
    assert!(error.contains("--load-ns 5000"), "{error}");
}

#[test]
fn time_objective_respects_one_per_and_fixed() {
    let machine = catalog::load("ryzen-7950x3d").unwrap();
    let pattern = pattern("ring:2", 500.0);
    let mut request = request(&machine, &pattern);
    request.one_per = Some(Level::L3);
    let placement = request.place().unwrap().placement;
    let l3 = |task: usize| machine.topology.pu(placement[task]).unwrap().l3;
    assert_ne!(l3(0), l3(1));
    request.fixed = vec![(1, 2)];
    assert_eq!(request.place().unwrap().placement[1], 2);
    request.method = PlaceMethod::Partition;
    assert!(request.place().unwrap_err().to_string().contains("--method auto"));
}

#[test]
fn core_gain_is_shared_by_hardware_threads() {
    let core = Core { threads: 2, gain: 1.3 };
    assert_eq!((core.share(0), core.share(1), core.share(2)), (1.0, 1.0, 0.65));
    let four = Core { threads: 4, gain: 1.6 };
    assert!((four.work(2) - 1.2).abs() < 1e-12 && (four.share(4) - 0.4).abs() < 1e-12);
    let mut machine = hybrid(1, 1, &mut Xoshiro::new(3));
    let speed = machine.speed.as_mut().unwrap();
    speed.together = Some(speed.alone.iter().map(|alone| 0.8 * alone).collect());
    let pattern = busy(2, &mut Xoshiro::new(3));
    with_model(&request(&machine, &pattern), |model, _| {
        assert!((model.cores[0].gain - 1.6).abs() < 1e-9, "measured together: {:?}", model.cores);
        assert_eq!(model.cores[1], Core { threads: 1, gain: 1.0 });
    });
}
