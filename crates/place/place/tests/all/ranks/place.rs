//! Ranks on clusters with known best orders.
#![expect(clippy::unwrap_used, reason = "a helper that finds its input broken fails the test")]

use proptest::prelude::*;
use seatmap_data::machine::{CoreDistance, Matrix, Origin, OriginKind, Profile, Square, Topology};
use seatmap_data::pattern::{Edge, Pattern, generate};
use seatmap_place::ranks::{ClusterNodes, RankNode, RankPlan, RankRequest};
use seatmap_place::search::SearchLimit;

/// 100 us inside a switch, 400 us between, 1 us in a node; shuffled names.
fn cluster(nodes: usize, per_switch: usize, cpus: usize) -> ClusterNodes {
    // Neighbours by number are on different switches.
    let switch = |node: usize| (node * 5 % nodes) / per_switch;
    ClusterNodes {
        nodes: (0..nodes)
            .map(|node| RankNode { name: format!("n{node}"), cpus, profile: None })
            .collect(),
        distance_ns: Square::from_fn(nodes, |a: usize, b: usize| {
            match (a == b, switch(a) == switch(b)) {
                (true, _) => 1e3,
                (_, true) => 1e5,
                (_, false) => 4e5,
            }
        }),
        message_bytes: 65536,
        by_mpi: false,
        group: (0..nodes).map(switch).collect(),
    }
}

fn placed<'a>(
    nodes: &'a ClusterNodes,
    pattern: &'a Pattern,
    change: impl Fn(&mut RankRequest<'a>),
) -> RankPlan {
    let mut request = RankRequest::new(nodes, pattern);
    request.limit = SearchLimit::kicks(200);
    change(&mut request);
    let plan = request.place().unwrap();
    let seats = request.seats().unwrap();
    for (ranks, seats) in plan.ranks_of_nodes().iter().zip(seats) {
        assert!(ranks.len() <= seats, "{ranks:?} on {seats} seats");
    }
    let found = RankPlan::from_json(&plan.to_json()).unwrap();
    assert_eq!(found, plan);
    plan
}

/// 8 messages inside nodes, 6 inside switches, 2 between them.
fn assert_best_ring(plan: &RankPlan) {
    let best_ns = 8.0 * 1e3 + 6.0 * 1e5 + 2.0 * 4e5;
    assert!((plan.costs.total_ns - best_ns).abs() < 1.0, "{:?}", plan.costs);
}

#[test]
fn ring_crosses_switches_only_twice() {
    let nodes = cluster(8, 4, 2);
    let pattern = generate("ring:16").unwrap();
    let plan = placed(&nodes, &pattern, |_| ());
    assert_best_ring(&plan);
    assert_eq!(plan.costs.between_groups, 2.0 / 16.0);
    assert!(plan.lower_bound_ns <= plan.costs.total_ns);
    let cost =
        |name: &str| plan.orders.iter().find(|order| order.name == name).unwrap().costs.total_ns;
    let costs = [cost("cyclic"), cost("block"), plan.costs.total_ns];
    assert!(costs[0] > costs[1] && costs[1] > costs[2], "{costs:?}");
    assert_eq!(plan.cpus_of_rank.iter().filter(|cpus| **cpus == [1]).count(), 8);
}

#[test]
fn block_order_keeps_ranks_of_node_consecutive() {
    let nodes = cluster(8, 4, 2);
    let pattern = generate("ring:16").unwrap();
    let plan = placed(&nodes, &pattern, |request| request.wishes.in_blocks = true);
    assert_best_ring(&plan);
    for ranks in plan.ranks_of_nodes() {
        assert!(ranks[0] % 2 == 0 && ranks[1] == ranks[0] + 1, "{ranks:?}");
    }
}

#[test]
fn rank_wishes_are_kept_or_rejected_with_reason() {
    let nodes = cluster(8, 4, 4);
    let pattern = generate("stencil2d:4x3").unwrap();
    let plan = placed(&nodes, &pattern, |request| {
        request.wishes.fixed = vec![(0, "n3".into()), (1, "n3".into()), (11, "n6".into())];
        request.wishes.without = vec!["n0".into(), "n5".into()];
        request.wishes.cpus_per_rank = 2;
    });
    assert_eq!([plan.node(0), plan.node(1), plan.node(11)], ["n3", "n3", "n6"]);
    assert!(plan.node_of_rank.iter().all(|node| ![0, 5].contains(node)));
    assert!(plan.cpus_of_rank.iter().all(|cpus| cpus.len() == 2));
    let refused = |change: &dyn Fn(&mut RankRequest)| {
        let mut request = RankRequest::new(&nodes, &pattern);
        request.limit = SearchLimit::kicks(0);
        change(&mut request);
        request.place().unwrap_err().to_string()
    };
    let absent = refused(&|it| it.wishes.without = vec!["n9".into()]);
    assert!(absent.starts_with("the cluster has no node n9;"), "{absent}");
    assert_eq!(
        refused(&|it| it.wishes.fixed = vec![(12, "n1".into())]),
        "rank 12 is fixed, but the pattern has 12 ranks, counted from 0"
    );
    assert_eq!(
        refused(&|it| it.wishes.fixed = vec![(1, "n1".into()), (1, "n2".into())]),
        "rank 1 is fixed twice"
    );
    let seats = refused(&|it| it.wishes.ranks_per_node = Some(1));
    assert_eq!(seats, "12 ranks of 1 CPU do not fit on 8 nodes with room for 8");
    let crowded = refused(&|it| {
        it.wishes.cpus_per_rank = 4;
        it.wishes.without.clear();
        it.wishes.ranks_per_node = Some(2);
    });
    assert_eq!(crowded, "12 ranks of 4 CPUs do not fit on 8 nodes with room for 8");
    let blocks = refused(&|it| {
        it.wishes.in_blocks = true;
        it.wishes.fixed = vec![(0, "n1".into())];
    });
    assert!(blocks.contains("cannot be fixed one by one"), "{blocks}");
}

#[test]
fn thousands_of_ranks_beat_launcher_orders() {
    let nodes = cluster(64, 8, 32);
    let pattern = generate("stencil2d:64x32").unwrap();
    let plan = placed(&nodes, &pattern, |request| request.limit = SearchLimit::kicks(20));
    let best = plan.orders.iter().map(|order| order.costs.total_ns).fold(f64::INFINITY, f64::min);
    assert!(plan.costs.total_ns < 0.8 * best, "{:?} against {best:.0}", plan.costs);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// No order is cheaper than the bound, and no launcher's order than the answer.
    #[test]
    fn plan_cost_is_between_bound_and_orders(
        nodes in 2..7_usize, cpus in 1..5_usize, part in 0.3..1.0_f32, edges in prop::collection::vec((0..24_usize, 0..24_usize, 1..9_u32), 1..40)
    ) {
        let places = cluster(nodes, 2, cpus);
        let ranks = ((nodes * cpus) as f64 * f64::from(part)).ceil() as usize;
        let edge = |(from, to, messages): &(usize, usize, u32)| Edge { messages: f64::from(*messages), ..Edge::unit(from % ranks, to % ranks) };
        let edges = edges.iter().map(edge).filter(|edge| edge.from != edge.to);
        let pattern = Pattern::gathered("any", ranks, edges);
        let plan = placed(&places, &pattern, |request| request.limit = SearchLimit::kicks(5));
        prop_assert!(plan.lower_bound_ns <= plan.costs.total_ns * 1.000_01);
        for order in &plan.orders {
            prop_assert!(order.costs.total_ns >= plan.costs.total_ns * 0.999_99, "{:?}", order);
        }
    }
}

#[test]
fn ranks_use_only_measured_cpus() {
    let origin =
        Origin { kind: OriginKind::Measured, source: "test".into(), date: None, tool: None };
    let mut profile = Profile::new("n", origin, Topology::unknown([4, 5]));
    profile.core_distance = Some(CoreDistance::imported(vec![4, 5], Matrix::filled(2, 80.0)));
    let mut nodes = cluster(2, 2, 4);
    nodes.nodes.iter_mut().for_each(|node| node.profile = Some(profile.clone()));
    let ring = generate("ring:4").unwrap();
    let plan = placed(&nodes, &ring, |_| ());
    let mut cpus = plan.cpus_of_rank.concat();
    cpus.sort_unstable();
    assert_eq!(cpus, [4, 4, 5, 5]);
    let more = generate("ring:5").unwrap();
    let refused = RankRequest::new(&nodes, &more).place().unwrap_err().to_string();
    assert!(refused.ends_with("with room for 4"), "{refused}");
}
