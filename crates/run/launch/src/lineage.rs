//! Creation paths, by which a second run finds the same tasks.
//!
//! Threads race to be created, so their order differs between runs. Their number among their
//! creator's children does not.

use seatmap_data::words::joined;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;

/// A task's number among its creator's children, after the creator's path: `0.2` is the third
/// thread or process created by the first one. A path sorts after its creator's.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskPath(Vec<usize>);

impl TaskPath {
    fn child(&self, number: usize) -> TaskPath {
        TaskPath([&self.0[..], &[number]].concat())
    }
}

impl fmt::Display for TaskPath {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&joined(&self.0, "."))
    }
}

#[derive(Debug)]
struct Ancestor {
    path: TaskPath,
    children: usize,
}

/// Paths of tasks reported one by one, each after its creator.
#[derive(Debug)]
pub struct Lineage<K> {
    ancestors: HashMap<K, Ancestor>,
    roots: usize,
}

impl<K> Default for Lineage<K> {
    fn default() -> Self {
        Lineage { ancestors: HashMap::new(), roots: 0 }
    }
}

impl<K: Copy + Eq + Hash> Lineage<K> {
    /// Whether no task was reported yet.
    pub fn is_empty(&self) -> bool {
        self.ancestors.is_empty()
    }

    /// A reported task's path.
    pub fn path(&self, task: K) -> Option<&TaskPath> {
        self.ancestors.get(&task).map(|ancestor| &ancestor.path)
    }

    /// Adds a task. Without a reported creator it has no ancestors.
    pub fn born(&mut self, task: K, creator: Option<K>) {
        let path = match creator.and_then(|creator| self.ancestors.get_mut(&creator)) {
            Some(creator) => {
                creator.children += 1;
                creator.path.child(creator.children - 1)
            }
            None => {
                self.roots += 1;
                TaskPath(vec![self.roots - 1])
            }
        };
        self.ancestors.insert(task, Ancestor { path, children: 0 });
    }

    fn born_late(&mut self, task: K, creator: Option<K>, early: &mut HashMap<K, Vec<K>>) {
        let mut ahead = vec![(task, creator)];
        while let Some((task, creator)) = ahead.pop() {
            if self.path(task).is_none() {
                self.born(task, creator);
                let children = early.remove(&task).unwrap_or_default();
                ahead.extend(children.into_iter().rev().map(|child| (child, Some(task))));
            }
        }
    }
}

/// The paths, in the order of creation. If numbers were reused, tasks may be named as each other's
/// creators; the first one of such a cycle then has none.
pub fn paths<K: Copy + Eq + Hash>(
    order: &[K],
    creator: impl Fn(K) -> Option<K>,
) -> HashMap<K, TaskPath> {
    let mut lineage = Lineage::default();
    // Clocks may show a child before its creator.
    let mut early: HashMap<K, Vec<K>> = HashMap::new();
    for task in order {
        match creator(*task) {
            Some(creator) if lineage.path(creator).is_none() => {
                early.entry(creator).or_default().push(*task);
            }
            creator => lineage.born_late(*task, creator, &mut early),
        }
    }
    for task in order {
        lineage.born_late(*task, None, &mut early);
    }
    lineage.ancestors.into_iter().map(|(task, ancestor)| (task, ancestor.path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn paths_of(order: &[u8], creators: &[(u8, u8)]) -> Vec<String> {
        let creators: HashMap<u8, u8> = creators.iter().copied().collect();
        let paths = paths(order, |task| creators.get(&task).copied());
        order.iter().map(|task| paths[task].to_string()).collect()
    }

    #[test]
    fn path_lists_birth_numbers_of_ancestors() {
        assert_eq!(
            paths_of(&[1, 2, 3, 4, 5], &[(2, 1), (3, 1), (4, 2)]),
            ["0", "0.0", "0.1", "0.0.0", "1"]
        );
    }

    #[test]
    fn children_may_precede_their_creator() {
        assert_eq!(
            paths_of(&[4, 3, 1, 2], &[(4, 3), (3, 1), (2, 1)]),
            ["0.0.0", "0.0", "0", "0.1"]
        );
    }

    #[test]
    fn circular_or_unknown_creators_get_last_paths() {
        assert_eq!(paths_of(&[1, 2, 3, 4], &[(1, 2), (2, 1), (3, 9)]), ["1", "1.0", "2", "0"]);
    }

    proptest! {
        #[test]
        fn every_task_has_one_path(creators in prop::collection::vec(0_usize..12, 1..12)) {
            let order: Vec<usize> = (0..creators.len()).collect();
            let paths = paths(&order, |task| Some(creators[task]).filter(|creator| *creator != task));
            let different: std::collections::BTreeSet<&TaskPath> = paths.values().collect();
            prop_assert_eq!((paths.len(), different.len()), (order.len(), order.len()));
        }
    }
}
