//! Bounds against all placements of small problems, and against known answers.

use super::*;
use crate::for_tests::{ENDLESS, cheapest_of_all, ring, traffic};
use crate::{Traffic, Zones};
use proptest::prelude::*;
use seatmap_data::pattern::qaplib::Instance;
use seatmap_data::statistics::Xoshiro;

#[test]
fn a_ring_on_a_uniform_machine_is_bounded_exactly_or_trivially_without_time() {
    let uniform = Square::from_fn(8, |i, j| if i == j { 0.0 } else { 7.0 });
    let problem = Problem::new(ring(6), uniform);
    assert_eq!(lower_bound(&problem, &ENDLESS), 42.0);
    let late = SearchLimit::seconds(0.0);
    assert_eq!(lower_bound(&problem, &late), 0.0);
    let qap = |cell: f64| {
        Qap::new(Square::filled(2, 3.0), Square::from_fn(2, |i, j| if i < j { cell } else { 1.0 }))
    };
    assert_eq!(gilmore_lawler_dense(&qap(2.0), &late), 0.0);
    assert_eq!(gilmore_lawler_dense(&qap(-2.0), &late), -24.0);
}

proptest! {
    #[test]
    fn bounds_never_exceed_random_placements(n in 2..9_usize, more in 0..3_usize, seed: u64) {
        let mut rng = Xoshiro::new(seed);
        let edges = (0..2 * n).map(|_| (rng.below(n), rng.below(n), rng.below(9) as f64));
        let traffic = Traffic::new(n, edges.collect::<Vec<_>>());
        let mut distance = Square::filled(n + more, 0.0_f32);
        for i in 0..n + more {
            (0..i).for_each(|j| distance.set_both(i, j, (1 + rng.below(98)) as f32));
        }
        let is_pair = |i: usize, j: usize| i.max(j) < n && i != j;
        let dense = Qap::new(
            Square::from_fn(n + more, |i, j| {
                if is_pair(i, j) { 0.5 * traffic.between(i, j) } else { 0.0 }
            }),
            Square::from_fn(n + more, |i, j| f64::from(distance[(i, j)])),
        );
        let problem = Problem::new(traffic, distance);
        let bound = lower_bound(&problem, &ENDLESS);
        let dense_bound = gilmore_lawler_dense(&dense, &ENDLESS);
        for _ in 0..20 {
            let slot_of = crate::seed::random(&problem, &mut rng);
            prop_assert!(bound <= problem.cost(&slot_of) + 1e-9);
            prop_assert!(dense_bound <= dense.cost(&slot_of) + 1e-9);
        }
    }
}

fn small(rng: &mut Xoshiro) -> Problem {
    let pus = 3 + rng.below(4);
    let copies = 1 + rng.below(2);
    let slots = if copies == 2 { 2 * pus.min(3) } else { pus };
    let pus = slots / copies;
    let tasks = 2 + rng.below(slots.min(6) - 1);
    let scale = [1.0, 1e-3, 1e9][rng.below(3)];
    let group = 1 + rng.below(3);
    let sort = rng.below(4);
    let mut distance = Square::filled(pus, 0.0_f32);
    for (i, j) in (0..pus).flat_map(|i| (0..=i).map(move |j| (i, j))) {
        let ns = match sort {
            0 => rng.below(100) as f64,
            1 => 100.0 * rng.unit().powi(8),
            _ if i / group == j / group => 10.0 + 3.0 * rng.unit(),
            _ => 100.0 + 20.0 * rng.unit(),
        };
        let ns = if i == j && copies == 1 { 0.0 } else { ns };
        distance.set_both(i, j, (scale * ns) as f32);
    }
    let heavy = [1.0, 1.0, 1e30, 1e-9][rng.below(4)];
    let sort = rng.below(3);
    let edges: Vec<(usize, usize, f64)> = (0..1 + rng.below(3 * tasks))
        .map(|_| {
            let weight = match sort {
                0 => 1.0,
                1 => rng.below(4) as f64,
                _ => rng.unit().powi(6),
            };
            (rng.below(tasks), rng.below(tasks), heavy * weight)
        })
        .collect();
    let mut problem = Problem::new(Traffic::new(tasks, edges), distance);
    problem.pu_of_slot = (0..slots as u32).map(|slot| slot % pus as u32).collect();
    problem.zones = Zones::free(slots);
    if tasks <= pus && rng.below(3) == 0 {
        let zone_of_slot = problem.pu_of_slot.clone();
        let zones = crate::build::count(&zone_of_slot);
        problem.zones = Zones { zone_of_slot, least: vec![0; zones], most: vec![1; zones] };
    }
    if rng.below(4) == 0 {
        problem.fixed[rng.below(tasks)] = Some(rng.below(slots) as u32);
    }
    problem
}

#[test]
fn bound_never_exceeds_exhaustive_minimum() {
    let mut rng = Xoshiro::new(9);
    let mut better = 0;
    for _ in 0..600 {
        let problem = small(&mut rng);
        let bound = lower_bound(&problem, &ENDLESS);
        assert_eq!(lower_bound(&problem, &ENDLESS), bound, "again");
        let least = cheapest_of_all(&problem, &mut Vec::new());
        assert!(bound <= least * (1.0 + 1e-12), "{bound} over {least}: {problem:?}");
        better += usize::from(bound > 1.000_001 * gilmore_lawler(&problem, &ENDLESS));
    }
    // Fewer cases would make this test meaningless.
    assert!(better > 100, "{better}");
}

fn deep(a: usize, b: usize) -> f32 {
    match (a / 16 == b / 16, a / 8 == b / 8) {
        _ if a == b => 0.0,
        (true, true) => 20.0,
        (true, false) => 100.0,
        (false, _) => 200.0,
    }
}

#[test]
fn nested_groups_are_bounded_tightly() {
    for (spec, least) in [
        ("ring:32", 1.0),
        ("binomial-tree:32", 1.0),
        ("butterfly:32", 1.0),
        ("stencil2d:4x8", 0.97),
    ] {
        let problem = Problem::new(traffic(spec), Square::from_fn(32, deep));
        let cost =
            crate::portfolio::portfolio(&problem, &SearchLimit::kicks(2000), 1).solution.cost;
        let bound = lower_bound(&problem, &ENDLESS);
        assert!(bound <= cost && bound > (least - 1e-6) * cost, "{spec}: {bound} of {cost}");
    }
}

#[test]
fn bound_respects_deadline() {
    let n = 128;
    let edges = (0..n).flat_map(|a| (1..9).map(move |b| (a, (a * 5 + b * b * b) % n, b as f64)));
    let distance = Square::from_fn(n, |a, b| deep(a % 32, b % 32) + if a == b { 0.0 } else { 9.0 });
    let problem = Problem::new(Traffic::new(n, edges), distance);
    let timed = |limit| {
        let began = std::time::Instant::now();
        let bound = lower_bound(&problem, &limit);
        assert!(bound > 0.0);
        began.elapsed()
    };
    // Without a deadline it takes so much longer that other programs do not reverse that.
    let [short, endless] = [SearchLimit::seconds(0.01), SearchLimit::kicks(5)].map(timed);
    assert!(short < endless, "{short:?} and {endless:?}");
}

#[test]
fn bound_never_exceeds_qaplib_optima() {
    let Some(folder) = seatmap_needs::published("qaplib") else { return };
    let known = std::fs::read_to_string(folder.join("best_known.tsv")).unwrap();
    let mut held = 0;
    for line in known.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let file = folder.join(format!("{}.dat", fields[0]));
        let (Ok(text), Ok(best)) = (std::fs::read_to_string(file), fields[2].parse::<f64>()) else {
            continue;
        };
        let instance = Instance::read(&text).unwrap();
        let n = instance.n;
        let [a, b] = [&instance.a, &instance.b].map(|m| Square::from_fn(n, |i, j| m[i * n + j]));
        let solved = crate::solve::solve(&Qap::new(a, b), &SearchLimit::kicks(1), 1, 1);
        assert!(solved.lower_bound <= best, "{}: {} over {best}", fields[0], solved.lower_bound);
        held += 1;
    }
    assert!(held > 10, "{held}");
}
