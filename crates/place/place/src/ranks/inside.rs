//! The CPUs of the ranks on one node.

use crate::ranks::{RankNode, RankRequest};
use crate::search::SearchLimit;
use crate::solve::cheapest;
use crate::{Problem, Traffic};
use seatmap_data::machine::{Profile, Square};
use std::collections::BTreeMap;

type Talk = Vec<(usize, usize, u64)>;

/// The CPUs of each rank, by the cheapest placement on each node's core distances; in order without
/// distances.
pub fn cpus(request: &RankRequest, node_of: &[usize], limit: &SearchLimit) -> Vec<Vec<u32>> {
    let traffic = request.traffic();
    let mut ranks_of = BTreeMap::<usize, Vec<usize>>::new();
    for (rank, node) in node_of.iter().enumerate() {
        ranks_of.entry(*node).or_default().push(rank);
    }
    let mut cpus = vec![Vec::new(); node_of.len()];
    // Equal nodes whose ranks communicate alike share an answer.
    let mut known = Vec::<(&RankNode, Talk, Vec<Vec<u32>>)>::new();
    for (at, (node, ranks)) in ranks_of.iter().enumerate() {
        let own = &request.nodes.nodes[*node];
        let talk = talk(&traffic, ranks);
        let alike = known.iter().find(|(other, talked, seats)| {
            let are_alike = own.cpus == other.cpus && own.profile == other.profile;
            seats.len() == ranks.len() && *talked == talk && are_alike
        });
        let seats = if let Some((.., seats)) = alike {
            seats.clone()
        } else {
            let part = limit.part((ranks_of.len() - at) as u32);
            let seats = on_node(request, own, ranks.len(), &talk, &part);
            known.push((own, talk, seats.clone()));
            seats
        };
        ranks.iter().zip(seats).for_each(|(rank, seat)| cpus[*rank] = seat);
    }
    cpus
}

fn talk(traffic: &Traffic, ranks: &[usize]) -> Talk {
    let edges = ranks.iter().enumerate().flat_map(|(at, rank)| {
        let inside = traffic.of(*rank).filter(|(with, _)| with > rank);
        inside.filter_map(move |(with, weight)| {
            // Ranks ascend. Bits have a total order; floats do not.
            Some((at, ranks.binary_search(&with).ok()?, weight.to_bits()))
        })
    });
    edges.collect()
}

fn on_node(
    request: &RankRequest,
    node: &RankNode,
    ranks: usize,
    talk: &Talk,
    limit: &SearchLimit,
) -> Vec<Vec<u32>> {
    let seats = seats(node, request.wishes.cpus_per_rank, ranks);
    let Some(profile) = node.profile.as_ref().filter(|_| !talk.is_empty()) else {
        return seats.into_iter().take(ranks).collect();
    };
    let edges = talk.iter().map(|(a, b, bits)| (*a, *b, f64::from_bits(*bits)));
    let problem = Problem::new(
        Traffic::new(ranks, edges),
        Square::from_fn(seats.len(), |i: usize, j: usize| {
            if i == j { 0.0 } else { apart(profile, &seats[i], &seats[j]) as f32 }
        }),
    );
    let best = cheapest(&problem, 0.0, limit, request.threads, request.seed);
    best.solution.slot_of[..ranks].iter().map(|slot| seats[*slot as usize].clone()).collect()
}

/// CPUs that share as much as possible, but whole cores while these suffice.
fn seats(node: &RankNode, per_rank: usize, ranks: usize) -> Vec<Vec<u32>> {
    let thread = |os: u32| node.profile.as_ref()?.topology.pu(os)?.smt;
    let all = node.compact();
    let mut cpus = all.clone();
    cpus.retain(|os| thread(*os).is_none_or(|thread| thread == 0));
    let cpus = if cpus.len() >= per_rank * ranks { cpus } else { all };
    cpus.chunks_exact(per_rank.max(1)).map(<[u32]>::to_vec).collect()
}

fn apart(profile: &Profile, a: &[u32], b: &[u32]) -> f64 {
    let Some(known) = &profile.core_distance else { return 0.0 };
    let [a, b] =
        [a, b].map(|seat| seat.iter().filter_map(|os| known.index_of(*os)).collect::<Vec<usize>>());
    let pairs = a.iter().flat_map(|i| b.iter().map(move |j| (*i, *j)));
    let distances: Vec<f64> =
        pairs.map(|pair| known.median_ns[pair]).filter(|ns| ns.is_finite()).collect();
    distances.iter().sum::<f64>() / distances.len().max(1) as f64
}
