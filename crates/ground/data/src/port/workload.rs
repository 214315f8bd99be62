//! Workloads: programs that run on every machine behind a [`Port`].

use crate::port::Port;

/// A program of several tasks that share memory and run on any machine.
pub trait Workload: Sync {
    /// A task's result.
    type Output: Send;

    /// The number of tasks; task `rank` runs on seat `rank`.
    fn tasks(&self) -> usize;

    /// The cache lines of shared memory: all addresses are below `Addr::line(lines())`.
    fn lines(&self) -> u32;

    /// The body of a task.
    fn task<P: Port>(&self, port: &P, rank: usize) -> Self::Output;
}
