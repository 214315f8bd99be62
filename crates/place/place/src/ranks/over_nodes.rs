//! Which ranks share a node, and on which node they run.

use crate::bound::{dot, gilmore_lawler};
use crate::ranks::orders::{plane, random};
use crate::ranks::{NamedOrder, OrderCosts, RankPlan, RankRequest};
use crate::search::SearchLimit;
use crate::solve::cheapest;
use crate::{PlaceError, Problem, Traffic, Zones};
use seatmap_data::machine::Square;
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::Xoshiro;
use seatmap_data::statistics::least;
use std::collections::BTreeSet;

/// With more seats, cubic time is too long.
const MOST_ASSIGNED: usize = 512;

/// The bound may take 1/`BOUND_PART` of the time.
const BOUND_PART: u32 = 8;

const DRAWN: usize = 100;

/// The rounding of sums in single precision.
const ROUNDED: f64 = 1.0 + 1e-6;

/// The cheapest assignment found, never worse than an allowed order of launchers: a plan without
/// CPUs.
///
/// # Errors
/// [`PlaceError`].
pub fn spread(request: &RankRequest) -> Result<RankPlan, PlaceError> {
    let seats = request.seats()?;
    let judge = RoundTripJudge::new(request);
    let known = launchers(request, &seats);
    let mut rng = Xoshiro::new(request.seed);
    let drawn: Vec<OrderCosts> =
        (0..DRAWN).map(|_| judge.costs(&random(request.pattern.tasks, &seats, &mut rng))).collect();
    let mut orders: Vec<NamedOrder> = known
        .iter()
        .map(|(name, order)| NamedOrder { name: name.clone(), costs: judge.costs(order) })
        .collect();
    orders.push(NamedOrder {
        name: format!("random, mean of {DRAWN}"),
        costs: OrderCosts::mean(&drawn),
    });
    let mut found = if request.wishes.in_blocks {
        by_blocks(request, &seats)?
    } else {
        rank_by_rank(request, &judge, &seats)
    };
    // Orders are judged in double precision and with shares.
    found.costs = judge.costs(&found.node_of_rank);
    let usable = known.into_iter().zip(&orders).filter(|((_, order), _)| request.allows(order));
    for ((name, node_of), order) in usable {
        if order.costs.total_ns < found.costs.total_ns {
            let costs = order.costs;
            found = RankPlan { node_of_rank: node_of, costs, method: name, ..found };
        }
    }
    found.optimal |= found.costs.total_ns <= found.lower_bound_ns * ROUNDED;
    Ok(RankPlan { orders, ..found })
}

pub(crate) fn launchers(request: &RankRequest, seats: &[usize]) -> Vec<(String, Vec<usize>)> {
    let largest = seats.iter().copied().max().unwrap_or(0);
    // A larger plane is the block order.
    let planes = (1..usize::BITS).map(|bit| 1 << bit).take_while(|at_once| *at_once < largest);
    let planes = planes.map(|at_once| (format!("plane={at_once}"), at_once));
    let usual = [("block".to_owned(), usize::MAX), ("cyclic".to_owned(), 1)];
    let all = usual.into_iter().chain(planes);
    all.map(|(name, at_once)| (name, plane(request.pattern.tasks, seats, at_once))).collect()
}

impl RankRequest<'_> {
    pub(crate) fn allows(&self, node_of: &[usize]) -> bool {
        self.wishes.fixed.iter().all(|(rank, name)| self.nodes.nodes[node_of[*rank]].name == *name)
            && (!self.wishes.in_blocks || {
                let nodes: BTreeSet<&usize> = node_of.iter().collect();
                node_of.chunk_by(|a, b| a == b).count() == nodes.len()
            })
    }
}

pub(crate) struct RoundTripJudge<'a> {
    request: &'a RankRequest<'a>,
    traffic: Traffic,
}

impl<'a> RoundTripJudge<'a> {
    pub fn new(request: &'a RankRequest<'a>) -> Self {
        RoundTripJudge { request, traffic: request.traffic() }
    }

    /// The cost of an order.
    pub fn costs(&self, node_of: &[usize]) -> OrderCosts {
        let nodes = self.request.nodes;
        let mut costs = OrderCosts::default();
        let mut all = 0.0;
        for (rank, with, messages) in self.traffic.edges() {
            let [a, b] = [node_of[rank], node_of[with]];
            costs.total_ns += messages * f64::from(nodes.distance_ns[(a, b)]);
            all += messages;
            if a == b {
                costs.in_node += messages;
            } else if nodes.group[a] == nodes.group[b] {
                costs.in_group += messages;
            } else {
                costs.between_groups += messages;
            }
        }
        costs.as_shares(all)
    }
}

fn rank_by_rank(request: &RankRequest, judge: &RoundTripJudge, seats: &[usize]) -> RankPlan {
    let problem = problem(request, judge.traffic.clone(), seats);
    let lower_bound_ns = bound(&problem, seats, &request.limit.part(BOUND_PART));
    let best = cheapest(&problem, lower_bound_ns, &request.limit, request.threads, request.seed);
    let node_of = problem.pus_of(&best.solution.slot_of);
    RankPlan { lower_bound_ns, optimal: best.is_optimal, ..request.plan(best.method, node_of) }
}

fn by_blocks(request: &RankRequest, seats: &[usize]) -> Result<RankPlan, PlaceError> {
    let size = seats.iter().copied().filter(|seats| *seats > 0).min().unwrap_or(1);
    let ranks = request.pattern.tasks;
    let used = seats.iter().filter(|seats| **seats > 0).count();
    let blocks = ranks.div_ceil(size);
    if blocks > used {
        return request.too_few(used, used * size);
    }
    let whole = request.traffic();
    // Traffic inside a block is a self edge: it costs the same on every node.
    let edges = whole.edges().map(|(rank, with, messages)| (rank / size, with / size, messages));
    let one_each: Vec<usize> = seats.iter().map(|seats| usize::from(*seats > 0)).collect();
    let problem = problem(request, Traffic::new(blocks, edges), &one_each);
    let best = cheapest(&problem, 0.0, &request.limit, request.threads, request.seed);
    let node_of = (0..ranks).map(|rank| problem.pu(best.solution.slot_of[rank / size]));
    Ok(request.plan(format!("blocks of {size}, {}", best.method), node_of.collect()))
}

fn problem(request: &RankRequest, traffic: Traffic, seats: &[usize]) -> Problem {
    let pu_of_slot: Vec<u32> = seats
        .iter()
        .enumerate()
        .flat_map(|(node, seats)| std::iter::repeat_n(node as u32, *seats))
        .collect();
    let nodes = &request.nodes.nodes;
    let mut fixed = vec![None; traffic.tasks()];
    let mut taken = vec![0; nodes.len()];
    for (rank, name) in &request.wishes.fixed {
        let node = nodes.iter().position(|node| node.name == *name);
        let first = node
            .and_then(|node| Some((node, pu_of_slot.iter().position(|at| *at as usize == node)?)));
        if let Some((node, first)) = first {
            fixed[*rank] = Some((first + taken[node]) as u32);
            taken[node] += 1;
        }
    }
    let zones = Zones::free(pu_of_slot.len());
    Problem { traffic, distance: request.nodes.distance_ns.clone(), pu_of_slot, zones, fixed }
}

/// As [`gilmore_lawler`]. With too many seats, each rank takes its best node, its heaviest partners
/// the nearest seats.
fn bound(problem: &Problem, seats: &[usize], limit: &SearchLimit) -> f64 {
    if problem.slots() <= MOST_ASSIGNED {
        return gilmore_lawler(problem, limit);
    }
    let most = (0..problem.tasks()).map(|rank| problem.traffic.degree(rank)).max().unwrap_or(0);
    let used = (0..seats.len()).filter(|node| seats[*node] > 0);
    let near: Vec<Vec<f64>> =
        used.map(|node| nearest(&problem.distance, seats, node, most)).collect();
    let mut sum = 0.0;
    for rank in 0..problem.tasks() {
        // Without this rank the bound is weaker, but valid.
        if limit.is_late() {
            break;
        }
        let weights = problem.traffic.heaviest(rank);
        sum += least(near.iter().map(|near| dot(&weights, near)));
    }
    0.5 * sum
}

fn nearest(distance: &Square<f32>, seats: &[usize], node: usize, wanted: usize) -> Vec<f64> {
    let row = distance.row(node);
    let mut by_distance: Vec<usize> = (0..seats.len()).filter(|other| seats[*other] > 0).collect();
    by_distance.sort_by_key(|node| Ordered(row[*node].into()));
    let all = by_distance.into_iter().flat_map(|other| {
        let partners = seats[other] - usize::from(other == node);
        std::iter::repeat_n(f64::from(row[other]), partners)
    });
    all.take(wanted).collect()
}
