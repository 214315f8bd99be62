//! The available seats.

use crate::sets::KeptWords;
use seatmap_data::plan::Plan;
use seatmap_os::{CpuList, CpuSet};
use std::ops::Range;

/// A thread's CPUs, often a single one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    /// Its task, from 0. `None` for a seat shared by any number of threads: a rule's
    /// (`io*=cpus:14-15`), or a starting program's whole set.
    pub task: Option<usize>,
    /// The CPUs.
    pub cpus: CpuSet,
}

impl Seat {
    /// A seat for any number of threads.
    pub fn shared(cpus: CpuSet) -> Self {
        Seat { task: None, cpus }
    }
}

/// The treatment of threads beyond the last seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// The list starts again.
    Cycle,
    /// The kernel places them.
    Leave,
}

/// The seats of a plan, or of a list of CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatList {
    /// The CPUs of each task.
    pub cpus: Vec<CpuSet>,
    /// The tasks' names, if any.
    pub names: Vec<String>,
    /// Each task's path: `0.2` is the third thread or process created by the first. Empty if
    /// unknown.
    pub paths: Vec<String>,
    /// Tasks among which none is preferred: the members of `0-7` or `l3:*`. There, free seats come
    /// before those of other runs.
    pub choices: Vec<Range<usize>>,
    /// The tasks of this start, if the others belong to other ranks.
    pub own: Range<usize>,
    /// The treatment of further threads.
    pub beyond: Beyond,
    /// The words that named the CPUs, if any did.
    pub kept: Option<KeptWords>,
}

impl SeatList {
    /// The seats of a plan, one per task.
    pub fn of_plan(plan: &Plan) -> Self {
        let tasks = 0..plan.placement.len();
        let cpus = tasks.map(|task| plan.seat(task).iter().copied().collect()).collect();
        let names = plan.names.clone();
        let paths = plan.paths.clone();
        let kept = KeptWords::in_plan(plan);
        SeatList { names, paths, kept, ..SeatList::of_sets(cpus, Beyond::Leave) }
    }

    /// Single CPUs in the order of seating; entry k is task k.
    pub fn of_cpus(list: &CpuList, beyond: Beyond) -> Self {
        SeatList::of_sets(list.0.iter().copied().map(CpuSet::single).collect(), beyond)
    }

    /// Sets of CPUs in the order of seating; entry k is task k.
    pub fn of_sets(cpus: Vec<CpuSet>, beyond: Beyond) -> Self {
        let own = 0..cpus.len();
        let names = Vec::new();
        let paths = Vec::new();
        SeatList { cpus, names, paths, choices: Vec::new(), own, beyond, kept: None }
    }

    /// Members in the order of seating. Among several sets of a member, any may be chosen.
    pub fn of_members(members: Vec<Vec<CpuSet>>, beyond: Beyond) -> Self {
        let mut choices = Vec::new();
        let mut end = 0;
        for member in &members {
            choices.push(end..end + member.len());
            end += member.len();
        }
        choices.retain(|choice| choice.len() > 1);
        SeatList { choices, ..SeatList::of_sets(members.concat(), beyond) }
    }

    pub(crate) fn choice(&self, task: usize) -> Range<usize> {
        let choice = self.choices.iter().find(|choice| choice.contains(&task));
        choice.cloned().unwrap_or(task..task + 1)
    }

    /// The seat of a task, if it exists.
    pub fn of(&self, task: usize) -> Option<Seat> {
        self.cpus.get(task).map(|cpus| Seat { task: Some(task), cpus: cpus.clone() })
    }

    /// The seats of this start.
    pub fn own(&self) -> &[CpuSet] {
        self.cpus.get(self.own.clone()).unwrap_or_default()
    }

    /// All CPUs of this start's seats.
    pub fn whole(&self) -> CpuSet {
        self.own().iter().flat_map(|cpus| cpus.list().0).collect()
    }

    /// `reader#3` is the fourth of several called `reader`.
    pub fn called<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.names
            .iter()
            .enumerate()
            .filter(move |(_, known)| {
                let number = known.strip_prefix(name).and_then(|rest| rest.strip_prefix('#'));
                *known == name || number.is_some_and(|number| number.parse::<usize>().is_ok())
            })
            .map(|(task, _)| task)
    }

    /// The task of this name or number. Numbers count this start's tasks, because all ranks of a
    /// job have the same command line.
    pub fn task(&self, text: &str) -> Option<usize> {
        let named = self.names.iter().position(|name| name == text);
        named.or_else(|| self.numbered(text.parse().ok()?)).filter(|task| self.own.contains(task))
    }

    pub(crate) fn numbered(&self, number: usize) -> Option<usize> {
        self.own.clone().nth(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_found_by_name_then_number() {
        let names = ["left", "right", "7", "d"].map(str::to_owned).to_vec();
        let seats =
            SeatList { names, ..SeatList::of_cpus(&CpuList(vec![3, 2, 1, 0]), Beyond::Leave) };
        assert_eq!(["right", "left", "3"].map(|text| seats.task(text)), [1, 0, 3].map(Some));
        assert_eq!(seats.task("7"), Some(2), "a name goes before a number");
        assert_eq!(["4", "up", "", "2-3"].map(|text| seats.task(text)), [None; 4]);
        assert_eq!(seats.whole().list().0, [0, 1, 2, 3]);
        let second = SeatList { own: 2..4, ..seats };
        assert_eq!(second.whole().list().0, [0, 1]);
        assert_eq!(
            ["right", "0", "1", "2"].map(|text| second.task(text)),
            [None, Some(2), Some(3), None]
        );
    }
}
