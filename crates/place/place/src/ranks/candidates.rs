//! Orders worth a run: also those worse by the model, because no model is complete.

use crate::PlaceError;
use crate::ranks::over_nodes::{RoundTripJudge, launchers};
use crate::ranks::{RankPlan, RankRequest, RankWishes, inside, orders};
use seatmap_data::statistics::Xoshiro;

/// If these win the race, the pattern is wrong.
const RANDOM: usize = 2;

/// An order of ranks with its name.
#[derive(Clone, Debug)]
pub struct RankCandidate {
    /// Its name.
    pub name: String,
    /// The seat of each rank.
    pub plan: RankPlan,
}

impl RankRequest<'_> {
    /// Returns at most `most` different orders: block, the launchers' default; the cheapest; the
    /// cheapest of consecutive blocks, for collectives; other launchers' orders; random ones.
    ///
    /// # Errors
    /// [`PlaceError`].
    pub fn candidates(&self, most: usize) -> Result<Vec<RankCandidate>, PlaceError> {
        let seats = self.seats()?;
        let mut known = launchers(self, &seats).into_iter();
        let searched_in_blocks = self.wishes.fixed.is_empty() && !self.wishes.in_blocks;
        let parts = if searched_in_blocks { 3 } else { 2 };
        let measured =
            RankRequest { limit: self.limit.time_part(parts), ..self.clone() }.place()?;
        let mut all: Vec<RankCandidate> =
            known.next().map(|(name, order)| self.candidate(name, order)).into_iter().collect();
        all.push(RankCandidate { name: "measured".to_owned(), plan: measured });
        // Blocks exclude fixed ranks; `in_blocks` is in `measured` already.
        if searched_in_blocks {
            let wishes = RankWishes { in_blocks: true, ..self.wishes.clone() };
            let limit = self.limit.time_part(2);
            let plan = RankRequest { wishes, limit, ..self.clone() }.place()?;
            all.push(RankCandidate { name: "measured, in blocks".to_owned(), plan });
        }
        all.extend(known.map(|(name, order)| self.candidate(name, order)));
        let mut rng = Xoshiro::new(self.seed);
        for number in 1..=RANDOM {
            let order = orders::random(self.pattern.tasks, &seats, &mut rng);
            all.push(self.candidate(format!("random {number}"), order));
        }
        let mut kept: Vec<RankCandidate> = Vec::new();
        for candidate in all {
            // Of equal orders, block is easier to set up.
            let is_new =
                kept.iter().all(|other| other.plan.node_of_rank != candidate.plan.node_of_rank);
            if is_new && self.allows(&candidate.plan.node_of_rank) {
                kept.push(candidate);
            }
        }
        kept.truncate(most);
        Ok(kept)
    }

    fn candidate(&self, name: String, node_of: Vec<usize>) -> RankCandidate {
        let cpus = inside::cpus(self, &node_of, &self.limit);
        RankCandidate { plan: self.ordered(&name, node_of, cpus), name }
    }

    /// The plan for a given order, with its cost.
    ///
    /// # Panics
    /// The pattern has another number of ranks, or a node is not one of the cluster.
    pub fn ordered(&self, name: &str, node_of: Vec<usize>, cpus: Vec<Vec<u32>>) -> RankPlan {
        assert!(
            node_of.len() == self.pattern.tasks && cpus.len() == node_of.len(),
            "a seat for each rank"
        );
        let costs = RoundTripJudge::new(self).costs(&node_of);
        RankPlan { costs, cpus_of_rank: cpus, ..self.plan(name.to_owned(), node_of) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::{ClusterNodes, RankNode};
    use crate::search::SearchLimit;
    use seatmap_data::machine::Square;
    use seatmap_data::pattern::{Edge, Pattern};

    fn nodes() -> ClusterNodes {
        let group = vec![0, 1, 0, 1];
        let apart = |a: usize, b: usize| match (a == b, group[a] == group[b]) {
            (true, _) => 1.0,
            (false, true) => 10.0,
            (false, false) => 100.0,
        };
        ClusterNodes {
            nodes: (0..4)
                .map(|at| RankNode { name: format!("n{at}"), cpus: 2, profile: None })
                .collect(),
            distance_ns: Square::from_fn(4, apart),
            message_bytes: 8,
            by_mpi: false,
            group: group.clone(),
        }
    }

    fn ring() -> Pattern {
        Pattern::gathered(
            "ring:8",
            8,
            (0..8).map(|from| Edge { from, to: (from + 1) % 8, bytes: 8.0, messages: 1.0 }),
        )
    }

    #[test]
    fn rank_candidates_differ_and_measured_is_cheapest() {
        let nodes = nodes();
        let ring = ring();
        let request =
            RankRequest { limit: SearchLimit::kicks(50), ..RankRequest::new(&nodes, &ring) };
        let found = request.candidates(12).unwrap();
        let names: Vec<&str> = found.iter().map(|candidate| &*candidate.name).collect();
        assert_eq!(names[..2], ["block", "measured"]);
        assert!(names.contains(&"cyclic") && names.contains(&"random 1"), "{names:?}");
        let cost = |at: usize| found[at].plan.costs.total_ns;
        assert!((0..found.len()).all(|at| cost(1) <= cost(at)));
        // Four of the eight edges are inside nodes; a good order has two across switches.
        assert_eq!((cost(0), cost(1)), (4.0 + 400.0, 4.0 + 220.0));
        assert_eq!(request.candidates(2).unwrap().len(), 2);
    }

    #[test]
    fn fixed_ranks_keep_their_node_in_every_order() {
        let nodes = nodes();
        let ring = ring();
        let wishes = RankWishes { fixed: vec![(0, "n2".to_owned())], ..RankWishes::default() };
        let request = RankRequest {
            wishes,
            limit: SearchLimit::kicks(50),
            ..RankRequest::new(&nodes, &ring)
        };
        let found = request.candidates(12).unwrap();
        assert!(found.iter().all(|candidate| candidate.plan.node(0) == "n2"));
        assert!(found.iter().any(|candidate| candidate.name == "measured"));
    }
}
