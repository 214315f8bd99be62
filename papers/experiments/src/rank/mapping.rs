//! A mapping of tasks to threads, and its index among all of them.

use std::fmt;

/// The most tasks: the number of their mappings, 20!, just fits 64 bits.
pub const MOST_TASKS: usize = 21;

/// Each thread's task: in `[a0...a(k-1)]` thread i, on worker i, executes task a_i (Keller &
/// Varbanescu 2010, section 2.2). Task 0 stays with thread 0, because turning the ring only changes
/// the order of threads; this leaves (k-1)! mappings.
///
/// ```
/// use seatmap_experiments::rank::TaskMapping;
/// let mapping = TaskMapping::nth(6, 119).unwrap();
/// assert_eq!(mapping.to_string(), "[054321]");
/// // Task 5 is executed by thread 1, so it sits on the second worker.
/// assert_eq!(mapping.seats(&[10, 11, 12, 13, 14, 15])[5], 11);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskMapping(Vec<u8>);

impl TaskMapping {
    /// Mappings of this many tasks; `None` beyond [`MOST_TASKS`] and for 0.
    pub fn count(tasks: usize) -> Option<u64> {
        (1..=MOST_TASKS).contains(&tasks).then(|| factorial(tasks - 1))
    }

    /// The mapping at this index in lexicographic order, from 0; `None` beyond the last.
    pub fn nth(tasks: usize, index: u64) -> Option<Self> {
        if index >= Self::count(tasks)? {
            return None;
        }
        // The index in the factorial number system: each digit picks one of the remaining tasks.
        let mut left: Vec<u8> = (1..tasks as u8).collect();
        let mut rest = index;
        let mut mapping = vec![0];
        while !left.is_empty() {
            let following = factorial(left.len() - 1);
            mapping.push(left.remove((rest / following) as usize));
            rest %= following;
        }
        Some(TaskMapping(mapping))
    }

    /// The mapping with these tasks, thread by thread; `None` unless they are a permutation that
    /// begins with 0.
    pub fn new(tasks: Vec<u8>) -> Option<Self> {
        let mut sorted = tasks.clone();
        sorted.sort_unstable();
        let is_permutation = sorted.iter().enumerate().all(|(at, task)| at == usize::from(*task));
        (is_permutation && tasks.first() == Some(&0) && tasks.len() <= MOST_TASKS)
            .then_some(TaskMapping(tasks))
    }

    /// Its index in lexicographic order, from 0.
    pub fn index(&self) -> u64 {
        // The digits: how many smaller tasks remained when each was picked.
        (0..self.0.len())
            .map(|at| {
                (self.0[at + 1..].iter().filter(|later| **later < self.0[at]).count() as u64)
                    * factorial(self.0.len() - 1 - at)
            })
            .sum()
    }

    /// Each task's seat, if thread i has `pus[i]`.
    ///
    /// # Panics
    /// There are fewer PUs than tasks.
    pub fn seats(&self, pus: &[u32]) -> Vec<u32> {
        let mut seats = vec![0; self.0.len()];
        for (thread, task) in self.0.iter().enumerate() {
            seats[usize::from(*task)] = pus[thread];
        }
        seats
    }

    /// The inverse mapping: thread a_i executes task i.
    pub fn inverse(&self) -> Self {
        let threads: Vec<u32> = (0..self.0.len() as u32).collect();
        TaskMapping(self.seats(&threads).into_iter().map(|thread| thread as u8).collect())
    }

    /// The ring in the other direction: a bidirectional ring is its own mirror image.
    pub fn mirrored(&self) -> Self {
        let tasks = self.0.len() as u8;
        // Task t becomes task -t on the ring, and task 0 stays.
        TaskMapping(self.0.iter().map(|task| (tasks - task) % tasks).collect())
    }
}

impl fmt::Display for TaskMapping {
    /// The paper's notation; with spaces from eleven tasks on, to separate the digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let between = if self.0.len() > 10 { " " } else { "" };
        let tasks: Vec<String> = self.0.iter().map(u8::to_string).collect();
        write!(f, "[{}]", tasks.join(between))
    }
}

fn factorial(n: usize) -> u64 {
    (1..=n as u64).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn mappings_are_in_lexicographic_order() {
        let all: Vec<TaskMapping> =
            (0..120).map(|index| TaskMapping::nth(6, index).unwrap()).collect();
        assert!(
            all.is_sorted()
                && all.iter().all(|mapping| TaskMapping::new(mapping.0.clone()).is_some())
        );
        assert_eq!(
            (all[0].to_string(), all[1].to_string()),
            ("[012345]".into(), "[012354]".into())
        );
        assert_eq!(TaskMapping::nth(6, 120), None);
        assert_eq!(
            (TaskMapping::count(1), TaskMapping::count(8), TaskMapping::count(22)),
            (Some(1), Some(5040), None)
        );
        assert_eq!(TaskMapping::nth(12, 0).unwrap().to_string(), "[0 1 2 3 4 5 6 7 8 9 10 11]");
    }

    #[test]
    fn invalid_mappings_are_refused() {
        for bad in [vec![], vec![1, 0], vec![0, 0], vec![0, 2], vec![0, 1, 1]] {
            assert_eq!(TaskMapping::new(bad), None);
        }
    }

    #[test]
    fn mapping_assigns_tasks_to_seats() {
        let mapping = TaskMapping::new(vec![0, 2, 4, 5, 3, 1]).unwrap();
        assert_eq!(mapping.seats(&[7, 8, 9, 10, 11, 12]), [7, 12, 8, 11, 9, 10]);
        assert_eq!(mapping.inverse().to_string(), "[051423]");
        assert_eq!(mapping.mirrored().to_string(), "[042135]");
    }

    proptest! {
        #[test]
        fn index_and_mapping_are_inverse(tasks in 1usize..=MOST_TASKS, any in any::<u64>()) {
            let index = any % TaskMapping::count(tasks).unwrap();
            let mapping = TaskMapping::nth(tasks, index).unwrap();
            prop_assert_eq!(mapping.index(), index);
            prop_assert_eq!(mapping.inverse().inverse(), mapping.clone());
            prop_assert_eq!(mapping.mirrored().mirrored(), mapping);
        }
    }
}
