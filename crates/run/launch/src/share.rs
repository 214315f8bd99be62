//! The seats for this start among several on this node.
//!
//! | started by | this start takes |
//! |---|---|
//! | `mpirun`, `srun`, `torchrun`, with a rank here per task | the task of its rank on this node |
//! | the same, with a list or a multiple of tasks | an equal part, in order |
//! | `xargs -P N --process-slot-var=SLOT`, GNU parallel | as above, by the worker's slot |
//!
//! A start that would share seats with another is refused, because each would assume that it has
//! its CPU alone.

mod xargs;

use crate::seats::SeatList;
use seatmap_data::plan::local_rank::{ALL, LaunchInstance, LocalRank, LocalRankError, OWN};
use seatmap_data::words::{agreeing, counted};
use seatmap_os::Root;
use std::ops::Range;

/// Why this start has no seats.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum ShareError {
    /// A variable is damaged.
    #[error(transparent)]
    Variable(#[from] LocalRankError),
    /// Several workers are indistinguishable. Their number, in words.
    #[error(
        "xargs runs {0} at a time, and all would take the same seats: add --process-slot-var=SLOT \
         to xargs to give each worker its own, or set {OWN}={ALL}"
    )]
    Workers(String),
    /// Several starts would share seats or CPUs, or this one's task is missing.
    #[error("{0}")]
    Seats(String),
}

impl ShareError {
    fn of_starts(starts: &str, source: &str, why: &str) -> Self {
        ShareError::Seats(format!("{starts} start on this node ({source}), {why}"))
    }
}

/// Work on all CPUs of a node, which several starts would spoil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoleWork {
    /// `seatmap run --auto`.
    Auto,
    /// `seatmap bench`.
    Bench,
    /// `seatmap tune`.
    Tune,
    /// `seatmap noise`.
    Noise,
}

impl SoleWork {
    fn hint(self) -> &'static str {
        match self {
            SoleWork::Auto => {
                "try seats on the others' CPUs: seat the ranks of a job together ('seatmap run \
                 --auto --pid PID,PID'), or each by a plan ('seatmap run --plan')"
            }
            SoleWork::Bench => {
                "time its runs while the others run: start the whole job in each run ('seatmap \
                 bench -- mpirun ...')"
            }
            SoleWork::Tune => {
                "time its runs on CPUs that the others use: start the whole job in each run \
                 ('seatmap tune -- mpirun ...')"
            }
            SoleWork::Noise => {
                "measure the others as noise: start one on each node ('mpirun --map-by \
                 ppr:1:node', 'srun --ntasks-per-node=1')"
            }
        }
    }

    /// Checks that this process is the only start of the work.
    ///
    /// # Errors
    /// [`ShareError`]: it is, or the user names a task.
    pub fn check(self, root: &Root, here_cpus: usize) -> Result<(), ShareError> {
        self.check_start(this_start(root, here_cpus))
    }

    fn check_start(self, start: Result<LaunchInstance, ShareError>) -> Result<(), ShareError> {
        let (starts, source) = match start {
            Ok(LaunchInstance::Alone) => return Ok(()),
            Ok(LaunchInstance::Task(task)) => {
                return Err(ShareError::Seats(format!(
                    "there is no task {task} here ({OWN}={task}): {OWN} chooses among the tasks \
                     of a plan or the CPUs of a list; unset it, or set {OWN}={ALL}"
                )));
            }
            Ok(LaunchInstance::OneOf(rank)) => (counted_starts(&rank), rank.source),
            Err(ShareError::Workers(workers)) => (workers, "xargs".to_owned()),
            Err(error) => return Err(error),
        };
        let why = format!(
            "and each would {}, or set {OWN}={ALL} if only one of them runs at a time or each has \
             separate CPUs",
            self.hint()
        );
        Err(ShareError::of_starts(&starts, &source, &why))
    }
}

fn counted_seats(count: usize) -> String {
    format!("{} {}", agreeing(count, "is", "are"), counted(count, "seat"))
}

/// Identifies this process among the starts of one command.
///
/// # Errors
/// [`ShareError`]: a variable is damaged, or workers of `xargs` are indistinguishable.
pub fn this_start(root: &Root, here_cpus: usize) -> Result<LaunchInstance, ShareError> {
    let start = LaunchInstance::find(&variable, here_cpus)?;
    if start != LaunchInstance::Alone || variable(OWN).is_some_and(|own| !own.is_empty()) {
        return Ok(start);
    }
    let worker = xargs::worker(root, seatmap_os::task::own_tid(), &variable)?;
    Ok(worker.map_or(LaunchInstance::Alone, LaunchInstance::OneOf))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

impl SeatList {
    /// This start's part of the list. With `is_plan`, each seat is a placed task.
    ///
    /// # Errors
    /// [`ShareError`].
    pub fn shared_with(self, start: &LaunchInstance, is_plan: bool) -> Result<Self, ShareError> {
        let seats = self.cpus.len();
        let own = match start {
            LaunchInstance::Alone => self.own.clone(),
            LaunchInstance::Task(task) if *task < seats => *task..task + 1,
            LaunchInstance::Task(task) => {
                let there = counted_seats(seats);
                return Err(ShareError::Seats(format!(
                    "there is no task {task} ({OWN}={task}): there {there}"
                )));
            }
            LaunchInstance::OneOf(rank) => part(rank, seats, is_plan)?,
        };
        Ok(SeatList { own, ..self })
    }
}

fn part(rank: &LocalRank, seats: usize, is_plan: bool) -> Result<Range<usize>, ShareError> {
    let refused = |why: &str| ShareError::of_starts(&counted_starts(rank), &rank.source, why);
    if seats < rank.size.unwrap_or(rank.rank + 1).max(1) {
        return Err(refused(&format!(
            "but there {}: give each one its own, or set {OWN}={ALL} if only one of them runs at \
             a time",
            counted_seats(seats)
        )));
    }
    let Some(size) = rank.size else { return Ok(rank.rank..rank.rank + 1) };
    if is_plan && !seats.is_multiple_of(size) {
        return Err(refused(&format!(
            "but the plan has {}, not a multiple: make a plan with one task per rank, or set \
             {OWN} to the number of a task",
            counted(seats, "task")
        )));
    }
    Ok(rank.rank * seats / size..(rank.rank + 1) * seats / size)
}

fn counted_starts(rank: &LocalRank) -> String {
    match rank.size {
        Some(size) => format!("{size} {}s", rank.kind),
        None => format!("{} or more {}s", rank.rank + 1, rank.kind),
    }
}

/// Refuses rules that give the same CPUs to several starts.
///
/// # Errors
/// [`ShareError`]: there are some.
pub fn check_rules(start: &LaunchInstance, have_sets: bool) -> Result<(), ShareError> {
    match start {
        LaunchInstance::OneOf(rank) if have_sets => {
            let why = format!(
                "and each would take the CPUs of a rule: name tasks in --match, or set {OWN}={ALL}"
            );
            Err(ShareError::of_starts(&counted_starts(rank), &rank.source, &why))
        }
        _ => Ok(()),
    }
}

/// A start's seats; `None` if it takes all.
pub fn sentence(start: &LaunchInstance, seats: &SeatList) -> Option<String> {
    let of = seats.cpus.len();
    let takes = match seats.own.len() {
        1 => format!("takes task {} of {of}", seats.own.start),
        _ => format!(
            "takes tasks {} to {} of {of}",
            seats.own.start,
            seats.own.end.saturating_sub(1)
        ),
    };
    match start {
        LaunchInstance::Alone => None,
        LaunchInstance::Task(_) => Some(format!("this start {takes} ({OWN})")),
        LaunchInstance::OneOf(LocalRank { rank, size, kind, source }) => {
            let of_starts = size.map(|size| format!(" of {size}")).unwrap_or_default();
            Some(format!("{kind} {rank}{of_starts} on this node {takes} ({source})"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seats::Beyond;
    use seatmap_os::CpuSet;

    fn rank(rank: usize, size: Option<usize>) -> LaunchInstance {
        LaunchInstance::OneOf(LocalRank {
            rank,
            size,
            kind: "rank",
            source: format!("RANK={rank}"),
        })
    }

    fn taken(start: &LaunchInstance, seats: u32, is_plan: bool) -> Result<Range<usize>, String> {
        let list = SeatList::of_sets((0..seats).map(CpuSet::single).collect(), Beyond::Leave);
        list.shared_with(start, is_plan).map(|list| list.own).map_err(|error| error.to_string())
    }

    #[test]
    fn ranks_get_disjoint_tasks() {
        assert_eq!(taken(&rank(1, Some(2)), 2, true), Ok(1..2));
        assert_eq!(taken(&rank(1, Some(2)), 8, true), Ok(4..8));
        assert_eq!(taken(&rank(3, None), 8, true), Ok(3..4));
        assert_eq!(taken(&LaunchInstance::Task(5), 8, true), Ok(5..6));
        assert_eq!(taken(&LaunchInstance::Alone, 8, true), Ok(0..8));
        let parts: Vec<_> = (0..3).map(|it| taken(&rank(it, Some(3)), 8, false).unwrap()).collect();
        assert_eq!(parts, [0..2, 2..5, 5..8], "a list is divided as well as it can be");
    }

    #[test]
    fn overlapping_starts_are_rejected() {
        let refused =
            |start: LaunchInstance, seats, is_plan| taken(&start, seats, is_plan).unwrap_err();
        assert_eq!(
            [
                refused(rank(0, Some(2)), 1, false),
                refused(rank(2, None), 2, false),
                refused(rank(0, Some(2)), 3, true),
                refused(LaunchInstance::Task(3), 2, true)
            ],
            [
                "2 ranks start on this node (RANK=0), but there is 1 seat: give each one its own, or set SEATMAP_TASK=all if only one of them runs at a time",
                "3 or more ranks start on this node (RANK=2), but there are 2 seats: give each one its own, or set SEATMAP_TASK=all if only one of them runs at a time",
                "2 ranks start on this node (RANK=0), but the plan has 3 tasks, not a multiple: make a plan with one task per rank, or set SEATMAP_TASK to the number of a task",
                "there is no task 3 (SEATMAP_TASK=3): there are 2 seats",
            ]
        );
        assert!(
            check_rules(&rank(0, Some(2)), true).is_err()
                && check_rules(&LaunchInstance::Alone, true).is_ok()
        );
        assert!(check_rules(&rank(0, Some(2)), false).is_ok());
    }

    #[test]
    fn multiple_starts_of_sole_work_are_rejected() {
        let refused = |work: SoleWork, start| work.check_start(start).unwrap_err().to_string();
        assert_eq!(
            [
                refused(SoleWork::Auto, Ok(rank(0, Some(2)))),
                refused(SoleWork::Bench, Ok(rank(1, None))),
                refused(SoleWork::Tune, Err(ShareError::Workers("4 commands".to_owned()))),
                refused(SoleWork::Tune, Ok(LaunchInstance::Task(3))),
                refused(SoleWork::Noise, Ok(rank(0, Some(2))))
            ],
            [
                "2 ranks start on this node (RANK=0), and each would try seats on the others' CPUs: seat the ranks of a job together ('seatmap run --auto --pid PID,PID'), or each by a plan ('seatmap run --plan'), or set SEATMAP_TASK=all if only one of them runs at a time or each has separate CPUs",
                "2 or more ranks start on this node (RANK=1), and each would time its runs while the others run: start the whole job in each run ('seatmap bench -- mpirun ...'), or set SEATMAP_TASK=all if only one of them runs at a time or each has separate CPUs",
                "4 commands start on this node (xargs), and each would time its runs on CPUs that the others use: start the whole job in each run ('seatmap tune -- mpirun ...'), or set SEATMAP_TASK=all if only one of them runs at a time or each has separate CPUs",
                "there is no task 3 here (SEATMAP_TASK=3): SEATMAP_TASK chooses among the tasks of a plan or the CPUs of a list; unset it, or set SEATMAP_TASK=all",
                "2 ranks start on this node (RANK=0), and each would measure the others as noise: start one on each node ('mpirun --map-by ppr:1:node', 'srun --ntasks-per-node=1'), or set SEATMAP_TASK=all if only one of them runs at a time or each has separate CPUs",
            ]
        );
        assert_eq!(SoleWork::Bench.check_start(Ok(LaunchInstance::Alone)), Ok(()));
    }

    #[test]
    fn start_reports_its_share_of_tasks() {
        let list = SeatList::of_sets((0..4).map(CpuSet::single).collect(), Beyond::Leave);
        let told = |start: LaunchInstance| {
            super::sentence(&start, &list.clone().shared_with(&start, true).unwrap())
        };
        assert_eq!(
            told(rank(1, Some(2))).unwrap(),
            "rank 1 of 2 on this node takes tasks 2 to 3 of 4 (RANK=1)"
        );
        assert_eq!(told(rank(1, None)).unwrap(), "rank 1 on this node takes task 1 of 4 (RANK=1)");
        assert_eq!(told(LaunchInstance::Alone), None);
    }
}
