//! The seats there are: a CPU for each task.

use seatmap_machine::CpuList;
use seatmap_plan::Plan;

/// One seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    /// Which task it is of, counted from 0.
    pub task: usize,
    /// The CPU's OS index.
    pub cpu: u32,
}

/// What happens to threads beyond the last seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// The list starts again.
    Cycle,
    /// They are left where the kernel puts them.
    Leave,
}

/// The seats of a plan, or of a list of CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seats {
    /// The CPU of each task.
    pub cpus: Vec<u32>,
    /// What the tasks are called; empty where they have no names.
    pub names: Vec<String>,
    /// What happens to threads beyond the last seat.
    pub beyond: Beyond,
}

impl Seats {
    /// The seats of a plan, one a task.
    #[must_use]
    pub fn of_plan(plan: &Plan) -> Self {
        Seats { cpus: plan.placement.clone(), names: plan.names.clone(), beyond: Beyond::Leave }
    }

    /// A list of CPUs in the order of seating; entry k is task k.
    #[must_use]
    pub fn of_cpus(list: CpuList, beyond: Beyond) -> Self {
        Seats { cpus: list.0, names: Vec::new(), beyond }
    }

    /// The seat of a task, if there is such a task.
    #[must_use]
    pub fn of(&self, task: usize) -> Option<Seat> {
        self.cpus.get(task).map(|&cpu| Seat { task, cpu })
    }

    /// The tasks that a list names: task names, numbers and ranges, such as `left,2,4-7`. A name goes before a number.
    #[must_use]
    pub fn tasks(&self, list: &str) -> Option<Vec<usize>> {
        let mut tasks = Vec::new();
        for member in list.split(',').map(str::trim) {
            match self.names.iter().position(|name| name == member) {
                Some(task) => tasks.push(task),
                None => tasks.extend(member.parse::<CpuList>().ok()?.0.iter().map(|task| *task as usize)),
            }
        }
        tasks.iter().all(|task| *task < self.cpus.len()).then_some(tasks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_go_by_name_and_number() {
        let names = ["left", "right", "7", "d"].map(str::to_owned).to_vec();
        let seats = Seats { cpus: vec![3, 2, 1, 0], names, beyond: Beyond::Leave };
        assert_eq!(seats.tasks("right, left,3"), Some(vec![1, 0, 3]));
        assert_eq!(seats.tasks("1-3"), Some(vec![1, 2, 3]));
        assert_eq!(seats.tasks("7"), Some(vec![2]), "a name goes before a number");
        for bad in ["4", "up", "", "0,", "2-9"] {
            assert_eq!(seats.tasks(bad), None, "{bad}");
        }
    }
}
