//! A request for seats of ranks.

use crate::ranks::ClusterNodes;
use crate::search::SearchLimit;
use crate::{PlaceError, Traffic, unfit};
use seatmap_data::pattern::Pattern;
use seatmap_data::statistics::words::counted;

/// The most seats: the search's table has a cell for each rank on each node.
pub const MOST_SEATS: usize = 1 << 17;

/// Wishes for the ranks of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankWishes {
    /// CPUs per rank.
    pub cpus_per_rank: usize,
    /// The most ranks per node; by default all seats.
    pub ranks_per_node: Option<usize>,
    /// Whether each node gets consecutive ranks, so that only the order of nodes is open. Some
    /// launchers require this.
    pub in_blocks: bool,
    /// Ranks with required nodes.
    pub fixed: Vec<(usize, String)>,
    /// Nodes to leave out, by name.
    pub without: Vec<String>,
}

impl Default for RankWishes {
    fn default() -> Self {
        RankWishes {
            cpus_per_rank: 1,
            ranks_per_node: None,
            in_blocks: false,
            fixed: Vec::new(),
            without: Vec::new(),
        }
    }
}

/// Where should the ranks of a pattern run?
#[derive(Clone, Debug)]
pub struct RankRequest<'a> {
    /// The cluster.
    pub nodes: &'a ClusterNodes,
    /// The traffic between the ranks.
    pub pattern: &'a Pattern,
    /// The wishes for the ranks.
    pub wishes: RankWishes,
    /// When to stop.
    pub limit: SearchLimit,
    /// The number of parallel searches.
    pub threads: usize,
    /// The seed of the random choices.
    pub seed: u64,
}

impl<'a> RankRequest<'a> {
    /// One CPU per rank, all nodes, one second.
    pub fn new(nodes: &'a ClusterNodes, pattern: &'a Pattern) -> Self {
        RankRequest {
            nodes,
            pattern,
            wishes: RankWishes::default(),
            limit: SearchLimit::seconds(1.0),
            threads: 1,
            seed: 1,
        }
    }

    /// Messages above the measured size count as several.
    pub(crate) fn traffic(&self) -> Traffic {
        // Smaller messages cost about as much as the measured size.
        let whole = f64::from(self.nodes.message_bytes.max(1));
        let edges = self.pattern.edges.iter();
        Traffic::new(
            self.pattern.tasks,
            edges.map(|edge| (edge.from, edge.to, edge.messages.max(edge.bytes / whole))),
        )
    }

    /// The number of seats per node; 0 on nodes left out.
    ///
    /// # Errors
    /// [`PlaceError`]: too few seats, or an unknown name.
    pub fn seats(&self) -> Result<Vec<usize>, PlaceError> {
        let nodes = &self.nodes.nodes;
        for name in self.wishes.without.iter().chain(self.wishes.fixed.iter().map(|(_, name)| name))
        {
            if nodes.iter().all(|node| node.name != *name) {
                return unfit(format!(
                    "the cluster has no node {name}; 'seatmap show FILE' lists its nodes"
                ));
            }
        }
        let most = self.wishes.ranks_per_node.unwrap_or(usize::MAX);
        let per_rank = self.wishes.cpus_per_rank;
        let seats: Vec<usize> = nodes
            .iter()
            .map(|node| {
                let most = if self.wishes.without.contains(&node.name) { 0 } else { most };
                most.min(node.usable_cpus() / per_rank.max(1))
            })
            .collect();
        let sum: usize = seats.iter().sum();
        if sum > MOST_SEATS {
            return unfit(format!(
                "{} are too many; this search handles at most {MOST_SEATS}",
                counted(sum, "seat")
            ));
        }
        if sum < self.pattern.tasks {
            let nodes = seats.iter().filter(|seats| **seats > 0).count();
            return self.too_few(nodes, sum);
        }
        self.check_fixed(&seats)?;
        Ok(seats)
    }

    pub(crate) fn too_few<T>(&self, nodes: usize, seats: usize) -> Result<T, PlaceError> {
        unfit(format!(
            "{} of {} do not fit on {} with room for {seats}",
            counted(self.pattern.tasks, "rank"),
            counted(self.wishes.cpus_per_rank, "CPU"),
            counted(nodes, "node")
        ))
    }

    fn check_fixed(&self, seats: &[usize]) -> Result<(), PlaceError> {
        if self.wishes.in_blocks && !self.wishes.fixed.is_empty() {
            return unfit(
                "ranks in consecutive blocks cannot be fixed one by one; leave out --blocks or \
                 --fix-node",
            );
        }
        let mut is_fixed = vec![false; self.pattern.tasks];
        for (rank, _) in &self.wishes.fixed {
            let Some(fixed) = is_fixed.get_mut(*rank) else {
                let ranks = counted(self.pattern.tasks, "rank");
                return unfit(format!(
                    "rank {rank} is fixed, but the pattern has {ranks}, counted from 0"
                ));
            };
            if std::mem::replace(fixed, true) {
                return unfit(format!("rank {rank} is fixed twice"));
            }
        }
        for (node, seats) in self.nodes.nodes.iter().zip(seats) {
            let fixed = self.wishes.fixed.iter().filter(|(_, name)| *name == node.name).count();
            if fixed > *seats {
                return unfit(format!(
                    "{} are fixed on {}, which only has {}",
                    counted(fixed, "rank"),
                    node.name,
                    counted(*seats, "seat")
                ));
            }
        }
        Ok(())
    }
}
