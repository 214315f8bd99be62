//! The requested source of a program's memory.
//!
//! | written | policy of every thread |
//! |---|---|
//! | `local` | memory of the node whose CPU first touches a page |
//! | `node:0-1` | memory of these nodes only |
//! | `interleave`, `interleave:0-1` | pages from all nodes, or from these, in turn |
//! | `weighted`, `weighted:0-1` | the same by the nodes' weights (Linux 6.9) |
//! | `plan` | each thread on a task's seat: memory of the task's nodes only |

use seatmap_data::plan::Plan;
use seatmap_os::mempolicy::{MemoryNodes, MemoryPolicy, NodeError};
use seatmap_os::{CpuList, CpuListError, CpuSet};
use std::fmt;
use std::str::FromStr;

/// The requested source of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryWish {
    /// The node of the CPU that first touches a page.
    Local,
    /// These nodes only.
    Nodes(CpuSet),
    /// These nodes in turn; by default all usable ones.
    Interleave(Option<CpuSet>),
    /// These nodes in turn, by their weights; by default all usable ones.
    Weighted(Option<CpuSet>),
    /// The plan's nodes for each task.
    Plan,
}

/// Why a request is malformed or cannot be met.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum MemoryWishError {
    /// The text has no known form.
    #[error(
        "'{0}': expected local, node:0, interleave, interleave:0-1, weighted, weighted:0-1 or plan"
    )]
    Shape(String),
    /// The nodes are not a list of numbers.
    #[error("'{text}': {source}")]
    Nodes {
        /// The request.
        text: String,
        /// The problem with the list.
        source: CpuListError,
    },
    /// Memory cannot come from the node.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The plan has no memory.
    #[error(
        "the plan has no memory nodes for the tasks; 'seatmap place --memory' makes such plans"
    )]
    NothingPlanned,
    /// The request needs a plan.
    #[error("'plan' takes each task's memory from a plan; give one with --plan")]
    NoPlan,
}

/// A program's memory.
#[derive(Debug, PartialEq)]
pub struct ProgramMemory {
    /// The request as typed.
    pub wish: String,
    /// The tasks' policies; empty if all are the same.
    pub tasks: Vec<Option<MemoryPolicy>>,
    /// The policy of all threads, if the same.
    pub all: Option<MemoryPolicy>,
    /// The nodes for all pages, if requested.
    pub nodes: Option<CpuSet>,
}

impl MemoryWish {
    /// Meets this request here, with threads near these nodes.
    ///
    /// # Errors
    /// `MemoryWishError`: memory cannot come from a node, or the plan has none.
    pub fn memory(
        &self,
        nodes: &MemoryNodes,
        near: &CpuSet,
        plan: Option<&Plan>,
    ) -> Result<ProgramMemory, MemoryWishError> {
        let wish = self.to_string();
        let (policy, nodes) = match self {
            MemoryWish::Local => (MemoryPolicy::local(), near.clone()),
            MemoryWish::Nodes(named) => {
                (MemoryPolicy::bind(named.clone()), checked(nodes, named.clone())?)
            }
            MemoryWish::Interleave(named) => {
                let chosen = checked(nodes, chosen(nodes, named))?;
                (MemoryPolicy::interleave(chosen.clone()), chosen)
            }
            MemoryWish::Weighted(named) => {
                let chosen = checked(nodes, chosen(nodes, named))?;
                (MemoryPolicy::weighted_interleave(chosen.clone()), chosen)
            }
            MemoryWish::Plan => return planned(wish, nodes, plan.ok_or(MemoryWishError::NoPlan)?),
        };
        Ok(ProgramMemory { wish, tasks: Vec::new(), all: Some(policy), nodes: Some(nodes) })
    }
}

fn chosen(nodes: &MemoryNodes, named: &Option<CpuSet>) -> CpuSet {
    named.clone().unwrap_or_else(|| nodes.usable())
}

fn checked(nodes: &MemoryNodes, named: CpuSet) -> Result<CpuSet, MemoryWishError> {
    nodes.check(&named)?;
    Ok(named)
}

fn planned(
    wish: String,
    nodes: &MemoryNodes,
    plan: &Plan,
) -> Result<ProgramMemory, MemoryWishError> {
    let sets: Vec<CpuSet> =
        plan.memory.iter().map(|nodes| nodes.iter().copied().collect()).collect();
    let whole: CpuSet = sets.iter().flat_map(CpuSet::iter).collect();
    if whole.is_empty() {
        return Err(MemoryWishError::NothingPlanned);
    }
    nodes.check(&whole)?;
    let all_say = sets.iter().all(|nodes| !nodes.is_empty());
    let tasks = sets
        .into_iter()
        .map(|nodes| (!nodes.is_empty()).then(|| MemoryPolicy::bind(nodes)))
        .collect();
    Ok(ProgramMemory { wish, tasks, all: None, nodes: all_say.then_some(whole) })
}

impl ProgramMemory {
    /// The distinct policies.
    pub fn policies(&self) -> Vec<&MemoryPolicy> {
        let mut found: Vec<&MemoryPolicy> = Vec::new();
        for policy in self.all.iter().chain(self.tasks.iter().flatten()) {
            if !found.contains(&policy) {
                found.push(policy);
            }
        }
        found
    }
}

impl FromStr for MemoryWish {
    type Err = MemoryWishError;

    fn from_str(text: &str) -> Result<Self, MemoryWishError> {
        let (word, list) =
            text.split_once(':').map_or((text, None), |(word, list)| (word, Some(list)));
        match (word, list) {
            ("local", None) => Ok(MemoryWish::Local),
            ("plan", None) => Ok(MemoryWish::Plan),
            ("node", Some(_)) => {
                Ok(MemoryWish::Nodes(listed_nodes(text, list)?.unwrap_or_default()))
            }
            ("interleave", _) => Ok(MemoryWish::Interleave(listed_nodes(text, list)?)),
            ("weighted", _) => Ok(MemoryWish::Weighted(listed_nodes(text, list)?)),
            _ => Err(MemoryWishError::Shape(text.to_owned())),
        }
    }
}

fn listed_nodes(text: &str, list: Option<&str>) -> Result<Option<CpuSet>, MemoryWishError> {
    let read = list.map(str::parse::<CpuList>).transpose();
    let read = read.map_err(|source| MemoryWishError::Nodes { text: text.to_owned(), source })?;
    Ok(read.map(|list| CpuSet::from(&list)))
}

impl fmt::Display for MemoryWish {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let (word, nodes) = match self {
            MemoryWish::Local => ("local", None),
            MemoryWish::Plan => ("plan", None),
            MemoryWish::Nodes(nodes) => ("node", Some(nodes)),
            MemoryWish::Interleave(nodes) => ("interleave", nodes.as_ref()),
            MemoryWish::Weighted(nodes) => ("weighted", nodes.as_ref()),
        };
        out.write_str(word)?;
        nodes.map_or(Ok(()), |nodes| write!(out, ":{nodes}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(list: &str) -> CpuSet {
        CpuSet::of_list(list).unwrap()
    }

    fn nodes() -> MemoryNodes {
        MemoryNodes { present: set("0-3"), with_memory: set("0-3"), allowed: set("0-2") }
    }

    #[test]
    fn memory_options_become_policies() {
        let policy = |text: &str| {
            let memory =
                text.parse::<MemoryWish>().unwrap().memory(&nodes(), &set("1"), None).unwrap();
            (memory.all.unwrap().to_string(), memory.nodes.unwrap().to_string())
        };
        let told = |policy: &str, nodes: &str| (policy.to_owned(), nodes.to_owned());
        assert_eq!(policy("local"), told("local", "1"));
        assert_eq!(policy("node:0,2"), told("bind:0,2", "0,2"));
        assert_eq!(policy("interleave"), told("interleave:0-2", "0-2"));
        assert_eq!(policy("interleave:1"), told("interleave:1", "1"));
        assert_eq!(policy("weighted:0-1"), told("weighted interleave:0-1", "0,1"));
    }

    #[test]
    fn invalid_memory_options_are_rejected_with_choices() {
        let refusal = |text: &str| match text.parse::<MemoryWish>() {
            Ok(wish) => wish.memory(&nodes(), &set("0"), None).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(
            ["near", "node", "local:0"].map(refusal),
            [
                "'near': expected local, node:0, interleave, interleave:0-1, weighted, weighted:0-1 or plan",
                "'node': expected local, node:0, interleave, interleave:0-1, weighted, weighted:0-1 or plan",
                "'local:0': expected local, node:0, interleave, interleave:0-1, weighted, weighted:0-1 or plan",
            ]
        );
        assert!(refusal("node:x").starts_with("'node:x': column 1: 'x' is "));
        assert_eq!(
            ["node:4", "interleave:3", "plan"].map(refusal),
            [
                "NUMA node 4 does not exist: this machine has nodes 0-3",
                "NUMA node 3 is outside the nodes that this process may use, 0-2: its cpuset forbids it",
                "'plan' takes each task's memory from a plan; give one with --plan",
            ]
        );
    }

    #[test]
    fn plan_sets_memory_policy_per_task() {
        let planned = |memory: Vec<Vec<u32>>| {
            let plan = Plan { memory, ..Plan::new("host", vec![0, 1]) };
            MemoryWish::Plan.memory(&nodes(), &set("0"), Some(&plan))
        };
        let both = planned(vec![vec![1], vec![0, 1]]).unwrap();
        assert_eq!(
            both.policies(),
            [&MemoryPolicy::bind(set("1")), &MemoryPolicy::bind(set("0,1"))]
        );
        assert_eq!((both.all, both.nodes), (None, Some(set("0,1"))));
        let one = planned(vec![vec![], vec![2]]).unwrap();
        assert_eq!((one.tasks, one.nodes), (vec![None, Some(MemoryPolicy::bind(set("2")))], None));
        assert_eq!(planned(vec![]), Err(MemoryWishError::NothingPlanned));
        assert!(matches!(
            planned(vec![vec![], vec![3]]),
            Err(MemoryWishError::Node(NodeError { node: 3, .. }))
        ));
    }

    proptest! {
        #[test]
        fn arbitrary_memory_option_never_panics(text in "[a-z0-9:,-]{0,20}") {
            let _ = text.parse::<MemoryWish>();
        }

        #[test]
        fn memory_options_round_trip(list in prop::collection::btree_set(0_u32..1024, 1..9), kind in 0..5) {
            let nodes: CpuSet = list.into_iter().collect();
            let wish = match kind {
                0 => MemoryWish::Local,
                1 => MemoryWish::Nodes(nodes),
                2 => MemoryWish::Interleave(Some(nodes)),
                3 => MemoryWish::Weighted(None),
                _ => MemoryWish::Plan,
            };
            prop_assert_eq!(wish.to_string().parse::<MemoryWish>(), Ok(wish));
        }
    }
}
