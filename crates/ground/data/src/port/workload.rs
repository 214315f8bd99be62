//! Workloads: programs that run on every machine behind a [`Port`].

use crate::port::Port;

/// A program of several tasks that share memory, written once and run on any machine.
pub trait Workload: Sync {
    /// The result that one task reports.
    type Output: Send;

    /// How many tasks it has. Task `rank` is given seat `rank`.
    fn tasks(&self) -> usize;

    /// Cache lines of shared memory that it touches: all its addresses lie below
    /// `Addr::line(lines())`.
    fn lines(&self) -> u32;

    /// The body of one task.
    fn task<P: Port>(&self, port: &P, rank: usize) -> Self::Output;
}
