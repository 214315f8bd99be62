//! Machines that run workloads.

use crate::port::Workload;

/// A machine that runs workloads under a placement: this computer, or a simulated one.
pub trait Testbed {
    /// The error of a failed run.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Runs all tasks concurrently, task r on PU `seats[r]` (an OS index), and returns their
    /// results. Shared memory starts as zeros, and keeps its contents from run to run.
    ///
    /// # Errors
    /// An unavailable seat, or an unfinished task. No task has run on any other PU.
    fn run<W: Workload>(
        &mut self,
        seats: &[u32],
        workload: &W,
    ) -> Result<Vec<W::Output>, Self::Error>;

    /// The PUs for tasks, by OS index.
    fn pus(&self) -> &[u32];

    /// Nanoseconds per tick of its clock.
    fn ns_per_tick(&self) -> f64;

    /// Ticks per core cycle, if the clock has a finer resolution than a cycle.
    fn ticks_per_cycle(&self) -> u32 {
        1
    }

    /// Whether a hypervisor may run two PUs on one physical CPU. A model has no hypervisor.
    fn has_hosts(&self) -> bool {
        false
    }

    /// The smallest step of its clock in nanoseconds.
    fn clock_step_ns(&self) -> f64;
}
