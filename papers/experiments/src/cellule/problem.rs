//! A problem shared among workers.

use crate::cellule::CelluleError;
use seatmap_worker::{WorkerProgram, WorkerView};
use std::sync::Arc;

/// A problem of independent tasks.
///
/// Its program waits for a message with the number of repetitions, answers when all are done, and
/// ends with 0, or with 1 if its local store is too small.
pub trait ParallelProblem: Send + Sync {
    /// The program; its argument is a [`TaskStride`].
    fn program(&self) -> Arc<dyn WorkerProgram>;

    /// Tasks.
    fn tasks(&self) -> u32;

    /// Clears the results.
    fn clear(&self);

    /// Compares the results with those of plain code.
    ///
    /// # Errors
    /// [`CelluleError::Wrong`].
    fn check(&self) -> Result<(), CelluleError>;
}

/// A problem's program: `compute` does a task, and returns whether the store was large enough.
pub(crate) fn program(
    tasks: u32,
    compute: impl Fn(&mut WorkerView, u32) -> bool + Send + Sync + 'static,
) -> Arc<dyn WorkerProgram> {
    Arc::new(move |inside: &mut WorkerView, part: u64| {
        let iterations = inside.mailbox_read();
        let mut mine = (0..iterations).flat_map(|_| TaskStride::tasks(part, tasks));
        let has_room = mine.all(|task| compute(inside, task));
        inside.mailbox_write(u32::from(has_room));
        u32::from(!has_room)
    })
}

/// The tasks of one start of a program: every `step`-th task from `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskStride {
    /// The first task.
    pub first: u32,
    /// The step from a task to the next.
    pub step: u32,
}

impl TaskStride {
    /// A program's argument.
    pub fn argument(self) -> u64 {
        // A program has one argument of 64 bits, as with `spe_context_run`.
        u64::from(self.first) << 32 | u64::from(self.step)
    }

    /// An argument's tasks, out of this many.
    pub fn tasks(argument: u64, tasks: u32) -> impl Iterator<Item = u32> {
        ((argument >> 32) as u32..tasks).step_by((argument as u32).max(1) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_tasks_once() {
        let of = |part: TaskStride| TaskStride::tasks(part.argument(), 7).collect::<Vec<_>>();
        let both = [of(TaskStride { first: 0, step: 2 }), of(TaskStride { first: 1, step: 2 })];
        assert_eq!(both, [vec![0, 2, 4, 6], vec![1, 3, 5]]);
        assert_eq!(of(TaskStride { first: 6, step: 7 }), [6]);
        assert_eq!(of(TaskStride { first: 7, step: 0 }), [0; 0]);
    }
}
