//! The plan file for ranks.

use crate::PlaceError;
use crate::ranks::{RankRequest, inside, over_nodes};
use seatmap_data::document::DocumentError;
use seatmap_data::statistics::words::counted;
use seatmap_os::cpu_list::MAX_CPU;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The format's name and version.
pub const FORMAT: &str = "seatmap-ranks/1";

/// The most ranks in a plan.
pub const MOST_RANKS: usize = 1 << 20;

/// The time for spreading ranks over nodes with core distances; the rest is for placing them on
/// CPUs.
const SPREAD_PART: u32 = 2;

/// The seat of each rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankPlan {
    /// Name and version of the format.
    pub format: String,
    /// The nodes of the cluster, by host name.
    pub nodes: Vec<String>,
    /// The group of each node, such as its switch.
    pub group_of_node: Vec<usize>,
    /// The node of each rank, as an index into `nodes`.
    pub node_of_rank: Vec<usize>,
    /// The CPUs of each rank on its node.
    pub cpus_of_rank: Vec<Vec<u32>>,
    /// The name of the placed pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The size of the measured messages, in bytes.
    pub message_bytes: u32,
    /// Whether MPI carried these messages.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_mpi: bool,
    /// The cost of this order.
    pub costs: OrderCosts,
    /// Every order costs at least this, in nanoseconds.
    pub lower_bound_ns: f64,
    /// Whether this order is proven cheapest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optimal: bool,
    /// The costs of the usual orders of launchers, and of random orders.
    pub orders: Vec<NamedOrder>,
    /// The method that found this order.
    pub method: String,
    /// The duration of the search, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The seed of the random choices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The date, as `YYYY-MM-DD`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The tool and its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

/// An order with its cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedOrder {
    /// Its name in launchers.
    pub name: String,
    /// Its cost.
    pub costs: OrderCosts,
}

/// The cost of an order, and its messages' destinations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OrderCosts {
    /// The sum of all messages' round trips, in nanoseconds.
    pub total_ns: f64,
    /// The share of messages inside a node.
    pub in_node: f64,
    /// The share of messages between nodes of a group.
    pub in_group: f64,
    /// The share of messages between groups.
    pub between_groups: f64,
}

impl OrderCosts {
    pub(crate) fn as_shares(self, all: f64) -> Self {
        let [in_node, in_group, between_groups] =
            [self.in_node, self.in_group, self.between_groups]
                .map(|messages| if all > 0.0 { messages / all } else { 0.0 });
        OrderCosts { total_ns: self.total_ns, in_node, in_group, between_groups }
    }

    /// Shares are sums of rounded numbers.
    fn impossible(&self) -> Option<(&'static str, f64)> {
        let shares = [
            ("in_node", self.in_node),
            ("in_group", self.in_group),
            ("between_groups", self.between_groups),
        ];
        let share = shares.into_iter().find(|(_, share)| !(0.0..=1.001).contains(share));
        share.or(Some(("total_ns", self.total_ns)).filter(|(_, ns)| !is_amount(*ns)))
    }

    pub(crate) fn mean(all: &[OrderCosts]) -> Self {
        let mean =
            |of: fn(&OrderCosts) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
        OrderCosts {
            total_ns: mean(|costs| costs.total_ns),
            in_node: mean(|costs| costs.in_node),
            in_group: mean(|costs| costs.in_group),
            between_groups: mean(|costs| costs.between_groups),
        }
    }
}

impl RankRequest<'_> {
    /// Places the ranks. The caller adds duration, date and tool.
    ///
    /// # Errors
    /// [`PlaceError`].
    pub fn place(&self) -> Result<RankPlan, PlaceError> {
        let has_profiles = self.nodes.nodes.iter().any(|node| node.profile.is_some());
        let mut over = self.clone();
        if has_profiles {
            over.limit = self.limit.part(SPREAD_PART);
        }
        let spread = over_nodes::spread(&over)?;
        let cpus_of_rank = inside::cpus(self, &spread.node_of_rank, &self.limit);
        Ok(RankPlan { cpus_of_rank, ..spread })
    }

    /// Without CPUs and costs.
    pub(crate) fn plan(&self, method: String, node_of_rank: Vec<usize>) -> RankPlan {
        RankPlan {
            format: FORMAT.to_owned(),
            nodes: self.nodes.nodes.iter().map(|node| node.name.clone()).collect(),
            group_of_node: self.nodes.group.clone(),
            node_of_rank,
            cpus_of_rank: Vec::new(),
            pattern: Some(self.pattern.name.clone()),
            message_bytes: self.nodes.message_bytes,
            by_mpi: self.nodes.by_mpi,
            costs: OrderCosts::default(),
            lower_bound_ns: 0.0,
            optimal: false,
            orders: Vec::new(),
            method,
            seconds: None,
            seed: Some(self.seed),
            date: None,
            tool: None,
        }
    }
}

impl RankPlan {
    /// Reads a plan.
    ///
    /// # Errors
    /// [`DocumentError`]: the text is not JSON, has another format, or contradicts itself.
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        let plan: RankPlan = seatmap_data::document::read(text, FORMAT)?;
        plan.check().map_err(DocumentError::Inconsistent)?;
        Ok(plan)
    }

    /// The plan as JSON.
    pub fn to_json(&self) -> String {
        seatmap_data::document::written(self)
    }

    /// Whether a file claims to be a plan, of any version.
    pub fn is_plan(bytes: &[u8]) -> bool {
        seatmap_data::document::is_kind(bytes, "seatmap-ranks/")
    }

    /// The name of a rank's node.
    ///
    /// # Panics
    /// There is no such rank.
    pub fn node(&self, rank: usize) -> &str {
        &self.nodes[self.node_of_rank[rank]]
    }

    /// The ranks of each node, ascending.
    pub fn ranks_of_nodes(&self) -> Vec<Vec<usize>> {
        let mut ranks = vec![Vec::new(); self.nodes.len()];
        self.node_of_rank.iter().enumerate().for_each(|(rank, node)| ranks[*node].push(rank));
        ranks
    }

    fn check(&self) -> Result<(), String> {
        let nodes = self.nodes.len();
        let ranks = self.node_of_rank.len();
        if ranks == 0 || ranks > MOST_RANKS {
            let ranks = counted(ranks, "rank");
            return Err(format!("{ranks}; 1 to {MOST_RANKS} are supported"));
        }
        // Names go into launchers' files and a script.
        if let Some(name) = self.nodes.iter().find(|name| !is_host_name(name)) {
            return Err(format!("'{name}' is not a host name"));
        }
        let mut names = BTreeSet::new();
        if let Some(twice) = self.nodes.iter().find(|name| !names.insert(*name)) {
            return Err(format!("two nodes have the name {twice}"));
        }
        if self.group_of_node.len() != nodes {
            let groups = counted(self.group_of_node.len(), "group");
            return Err(format!("{groups} for {}; each node needs one", counted(nodes, "node")));
        }
        if let Some(node) = self.node_of_rank.iter().find(|node| **node >= nodes) {
            return Err(format!("a rank is on node {node}, but there are {nodes}, counted from 0"));
        }
        if self.cpus_of_rank.len() != ranks || self.cpus_of_rank.iter().any(Vec::is_empty) {
            let ranks = counted(ranks, "rank");
            return Err(format!("cpus_of_rank must list CPUs for exactly {ranks}"));
        }
        for (rank, cpus) in self.cpus_of_rank.iter().enumerate() {
            if let Some(cpu) = cpus.iter().find(|cpu| **cpu > MAX_CPU) {
                return Err(format!(
                    "cpus_of_rank[{rank}]: CPU {cpu} is beyond the largest index, {MAX_CPU}"
                ));
            }
        }
        self.check_costs()
    }

    fn check_costs(&self) -> Result<(), String> {
        let orders = self.orders.iter().enumerate();
        let orders = orders.map(|(at, order)| (format!("orders[{at}].costs"), order.costs));
        let all = std::iter::once(("costs".to_owned(), self.costs)).chain(orders);
        let costs = all.flat_map(|(part, costs)| {
            let wrong = costs.impossible();
            wrong.map(|(key, figure)| (format!("{part}.{key}"), figure))
        });
        let seconds = self.seconds.unwrap_or(0.0);
        let alone = [("lower_bound_ns", self.lower_bound_ns), ("seconds", seconds)];
        let alone = alone.into_iter().filter(|(_, figure)| !is_amount(*figure));
        match costs.chain(alone.map(|(key, figure)| (key.to_owned(), figure))).next() {
            Some((key, figure)) => Err(format!("{key} is {figure:e}, out of range")),
            None => Ok(()),
        }
    }
}

fn is_amount(figure: f64) -> bool {
    figure.is_finite() && figure >= 0.0
}

fn is_host_name(name: &str) -> bool {
    // The limit of DNS (RFC 1035: 255 bytes with the lengths of the labels).
    !name.is_empty()
        && name.len() <= 253
        && !name.starts_with('-')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter))
}
