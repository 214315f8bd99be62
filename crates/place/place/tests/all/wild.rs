//! Numbers that no machine or program has, but files may: all searches end, without false claims.

use proptest::prelude::*;
use seatmap_data::machine::nanoseconds::MAX_ROUND_TRIP_NS;
use seatmap_data::machine::{CoreDistance, Matrix, Origin, OriginKind, Profile, Square, Topology};
use seatmap_data::pattern::{Edge, Pattern, edge::MAX_AMOUNT};
use seatmap_place::search::{Qap, SearchLimit};
use seatmap_place::{PlaceRequest, solve};

fn sized(largest: f64, orders: f64) -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(largest),
        (0.0..orders).prop_map(move |orders| largest * 10_f64.powf(-orders))
    ]
}

fn machine(pus: usize, ns: &[f64]) -> Profile {
    let origin =
        Origin { kind: OriginKind::Imported, source: "test".into(), date: None, tool: None };
    let mut profile = Profile::new("wild", origin, Topology::unknown(0..pus as u32));
    let mut median_ns = Matrix::filled(pus, 0.0);
    let pairs = (0..pus).flat_map(|i| (0..i).map(move |j| (i, j)));
    pairs.zip(ns.iter().cycle()).for_each(|((i, j), ns)| median_ns.set_both(i, j, *ns));
    profile.core_distance = Some(CoreDistance::imported((0..pus as u32).collect(), median_ns));
    profile
}

fn edges(tasks: usize, amounts: &[f64]) -> Vec<Edge> {
    let all = amounts
        .iter()
        .enumerate()
        .map(|(at, bytes)| (at % tasks, (at * 7 + at / tasks + 1) % tasks, *bytes))
        .filter(|(from, to, _)| from != to);
    all.map(|(from, to, bytes)| Edge { from, to, bytes, messages: 1.0 }).collect()
}

proptest! {
    #[test]
    fn extreme_weights_keep_result_finite_and_bounded(
        pus in 2..20_usize,
        tasks in 1..30_usize,
        ns in prop::collection::vec(sized(MAX_ROUND_TRIP_NS, 12.0), 1..200),
        amounts in prop::collection::vec(sized(MAX_AMOUNT, 36.0), 0..60),
        is_ring: bool,
    ) {
        let machine = machine(pus, &ns);
        let edges = edges(tasks, &amounts);
        let pattern = if is_ring && tasks > 1 { seatmap_data::pattern::generate(&format!("ring:{tasks}")).unwrap() } else { Pattern::gathered("wild", tasks, edges) };
        let mut request = PlaceRequest::new(&machine, &pattern);
        request.limit = SearchLimit::kicks(60);
        let answer = request.place().unwrap();
        prop_assert!(answer.cost.is_finite() && answer.cost >= 0.0);
        prop_assert!(answer.lower_bound <= answer.cost && answer.lower_bound >= 0.0);
    }

    #[test]
    fn extreme_matrices_keep_cost_consistent(
        n in 1..14_usize,
        cells in prop::collection::vec((sized(MAX_AMOUNT, 36.0), any::<bool>()), 2 * 14 * 14),
    ) {
        let cell = |at: usize| if cells[at].1 { -cells[at].0 } else { cells[at].0 };
        let qap = Qap::new(
            Square::from_fn(n, |i, j| cell(i * n + j)),
            Square::from_fn(n, |i, j| cell(14 * 14 + i * n + j)),
        );
        let solved = solve::solve(&qap, &SearchLimit::kicks(60), 1, 1);
        prop_assert_eq!(solved.solution.cost, qap.cost(&solved.solution.slot_of));
    }
}

#[test]
fn out_of_range_distance_is_rejected() {
    let pattern = seatmap_data::pattern::generate("ring:4").unwrap();
    for ns in [1e100, f64::INFINITY, -1.0] {
        let error = PlaceRequest::new(&machine(4, &[80.0, ns]), &pattern).place().unwrap_err();
        assert!(error.to_string().starts_with("PUs 0 and 2 are "), "{error}");
    }
}

#[test]
fn zero_seconds_still_return_placement() {
    let machine = seatmap_data::machine::catalog::load("graviton3").unwrap();
    for spec in ["ring:64", "ring:100", "stencil2d:8x8", "clusters:4x16"] {
        let pattern = seatmap_data::pattern::generate(spec).unwrap();
        let mut request = PlaceRequest::new(&machine, &pattern);
        request.limit = SearchLimit::seconds(0.0);
        let answer = request.place().unwrap();
        assert_eq!(answer.placement.len(), pattern.tasks);
        assert!(!answer.optimal && answer.lower_bound == 0.0, "{answer:?}");
    }
}
