//! Where a program's memory is to come from: as people write it, and as a launch sets it.
//!
//! | written | policy of every thread |
//! |---|---|
//! | `local` | memory of the node whose CPU first touches a page |
//! | `node:0-1` | memory of these nodes only |
//! | `interleave`, `interleave:0-1` | pages from all nodes, or from these, in turn |
//! | `weighted`, `weighted:0-1` | the same by the nodes' weights (Linux 6.9) |
//! | `plan` | each thread that sits on a task's seat: memory of the task's nodes only |

use seatmap_os::mempolicy::{NodeError, Nodes, Policy};
use seatmap_os::{CpuList, CpuListError, CpuSet};
use seatmap_plan::Plan;
use std::fmt;
use std::str::FromStr;

/// Where memory is to come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// The node of the CPU that first touches a page.
    Local,
    /// These nodes only.
    Nodes(CpuSet),
    /// These nodes in turn; all that may be used where none is named.
    Interleave(Option<CpuSet>),
    /// The same, by weight.
    Weighted(Option<CpuSet>),
    /// The nodes that the plan gives to each task.
    Plan,
}

/// Why a wish cannot be read, or cannot be had here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WishError {
    /// The text has none of the known forms.
    #[error("'{0}': expected local, node:0, interleave, interleave:0-1, weighted, weighted:0-1 or plan")]
    Shape(String),
    /// The nodes are not a list of numbers.
    #[error("'{text}': {source}")]
    Nodes {
        /// The wish.
        text: String,
        /// The problem with the list.
        source: CpuListError,
    },
    /// A node that memory cannot come from.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// A plan that says nothing about memory.
    #[error("the plan does not say where the tasks' memory is; 'seatmap place --memory' makes plans that do")]
    NothingPlanned,
    /// The memory of a plan without a plan.
    #[error("plan takes the memory of each task from a plan; give one with --plan")]
    NoPlan,
}

/// The memory of a program that is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The wish, as it was typed.
    pub asked: String,
    /// The policy of each task's thread; empty where all threads have the same.
    pub tasks: Vec<Option<Policy>>,
    /// The policy of all threads, where it is the same.
    pub all: Option<Policy>,
    /// The nodes on which all pages should be; `None` where the wish does not say.
    pub nodes: Option<CpuSet>,
}

impl Wish {
    /// The memory that fulfils this wish here, with threads on these CPUs.
    ///
    /// # Errors
    /// [`WishError`]: a node that memory cannot come from, or a plan that says nothing.
    pub fn memory(&self, nodes: &Nodes, near: &CpuSet, plan: Option<&Plan>) -> Result<Memory, WishError> {
        let asked = self.to_string();
        let of_all = |policy: Policy, nodes: CpuSet| Memory {
            asked: asked.clone(),
            tasks: Vec::new(),
            all: Some(policy),
            nodes: Some(nodes),
        };
        let chosen = |wanted: &Option<CpuSet>| wanted.clone().unwrap_or_else(|| nodes.usable());
        let checked = |wanted: CpuSet| nodes.check(&wanted).map(|()| wanted);
        Ok(match self {
            Wish::Local => of_all(Policy::local(), near.clone()),
            Wish::Nodes(wanted) => of_all(Policy::bind(wanted.clone()), checked(wanted.clone())?),
            Wish::Interleave(wanted) => of_all(Policy::interleave(chosen(wanted)), checked(chosen(wanted))?),
            Wish::Weighted(wanted) => of_all(Policy::weighted_interleave(chosen(wanted)), checked(chosen(wanted))?),
            Wish::Plan => planned(asked, nodes, plan.ok_or(WishError::NoPlan)?)?,
        })
    }
}

fn planned(asked: String, nodes: &Nodes, plan: &Plan) -> Result<Memory, WishError> {
    let sets: Vec<CpuSet> = plan.memory.iter().map(|nodes| nodes.iter().copied().collect()).collect();
    let whole: CpuSet = sets.iter().flat_map(CpuSet::iter).collect();
    if whole.is_empty() {
        return Err(WishError::NothingPlanned);
    }
    nodes.check(&whole)?;
    let all_say = sets.iter().all(|nodes| !nodes.is_empty());
    let tasks = sets.into_iter().map(|nodes| (!nodes.is_empty()).then(|| Policy::bind(nodes))).collect();
    Ok(Memory { asked, tasks, all: None, nodes: all_say.then_some(whole) })
}

impl Memory {
    /// The policies that it sets, each once.
    #[must_use]
    pub fn policies(&self) -> Vec<&Policy> {
        let mut found: Vec<&Policy> = Vec::new();
        for policy in self.all.iter().chain(self.tasks.iter().flatten()) {
            if !found.contains(&policy) {
                found.push(policy);
            }
        }
        found
    }
}

impl FromStr for Wish {
    type Err = WishError;

    fn from_str(text: &str) -> Result<Self, WishError> {
        let (word, list) = text.split_once(':').map_or((text, None), |(word, list)| (word, Some(list)));
        let nodes = || -> Result<Option<CpuSet>, WishError> {
            let read = list.map(str::parse::<CpuList>).transpose();
            let read = read.map_err(|source| WishError::Nodes { text: text.to_owned(), source })?;
            Ok(read.map(|list| CpuSet::from(&list)))
        };
        match (word, list) {
            ("local", None) => Ok(Wish::Local),
            ("plan", None) => Ok(Wish::Plan),
            ("node", Some(_)) => Ok(Wish::Nodes(nodes()?.unwrap_or_default())),
            ("interleave", _) => Ok(Wish::Interleave(nodes()?)),
            ("weighted", _) => Ok(Wish::Weighted(nodes()?)),
            _ => Err(WishError::Shape(text.to_owned())),
        }
    }
}

impl fmt::Display for Wish {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, nodes) = match self {
            Wish::Local => ("local", None),
            Wish::Plan => ("plan", None),
            Wish::Nodes(nodes) => ("node", Some(nodes)),
            Wish::Interleave(nodes) => ("interleave", nodes.as_ref()),
            Wish::Weighted(nodes) => ("weighted", nodes.as_ref()),
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

    fn nodes() -> Nodes {
        Nodes { present: set("0-3"), with_memory: set("0-3"), allowed: set("0-2") }
    }

    #[test]
    fn wishes_are_policies() {
        let policy = |text: &str| {
            let memory = text.parse::<Wish>().unwrap().memory(&nodes(), &set("1"), None).unwrap();
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
    fn refusals_say_what_there_is() {
        let refusal = |text: &str| match text.parse::<Wish>() {
            Ok(wish) => wish.memory(&nodes(), &set("0"), None).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        insta::assert_snapshot!(refusal("near"), @"'near': expected local, node:0, interleave, interleave:0-1, weighted, weighted:0-1 or plan");
        insta::assert_snapshot!(refusal("node"), @"'node': expected local, node:0, interleave, interleave:0-1, weighted, weighted:0-1 or plan");
        insta::assert_snapshot!(refusal("local:0"), @"'local:0': expected local, node:0, interleave, interleave:0-1, weighted, weighted:0-1 or plan");
        assert!(refusal("node:x").starts_with("'node:x': column 1: 'x' is "));
        insta::assert_snapshot!(refusal("node:4"), @"NUMA node 4 does not exist: this machine has nodes 0-3");
        insta::assert_snapshot!(refusal("interleave:3"), @"NUMA node 3 is outside the nodes that this process may use, 0-2: its cpuset forbids it");
        insta::assert_snapshot!(refusal("plan"), @"plan takes the memory of each task from a plan; give one with --plan");
    }

    #[test]
    fn plans_say_for_each_task() {
        let planned = |memory: Vec<Vec<u32>>| {
            let plan = Plan { memory, ..Plan::new("host", vec![0, 1]) };
            Wish::Plan.memory(&nodes(), &set("0"), Some(&plan))
        };
        let both = planned(vec![vec![1], vec![0, 1]]).unwrap();
        assert_eq!(both.policies(), [&Policy::bind(set("1")), &Policy::bind(set("0,1"))]);
        assert_eq!((both.all, both.nodes), (None, Some(set("0,1"))));
        let one = planned(vec![vec![], vec![2]]).unwrap();
        assert_eq!((one.tasks, one.nodes), (vec![None, Some(Policy::bind(set("2")))], None));
        assert_eq!(planned(vec![]), Err(WishError::NothingPlanned));
        assert!(matches!(planned(vec![vec![], vec![3]]), Err(WishError::Node(NodeError::Forbidden { node: 3, .. }))));
    }

    proptest! {
        #[test]
        fn no_text_is_too_much(text in "[a-z0-9:,-]{0,20}") {
            let _ = text.parse::<Wish>();
        }

        #[test]
        fn what_is_written_is_read_back(list in prop::collection::btree_set(0_u32..1024, 1..9), kind in 0..5) {
            let nodes: CpuSet = list.into_iter().collect();
            let wish = match kind {
                0 => Wish::Local,
                1 => Wish::Nodes(nodes),
                2 => Wish::Interleave(Some(nodes)),
                3 => Wish::Weighted(None),
                _ => Wish::Plan,
            };
            prop_assert_eq!(wish.to_string().parse::<Wish>(), Ok(wish));
        }
    }
}
