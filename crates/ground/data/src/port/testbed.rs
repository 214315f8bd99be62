//! Machines that run workloads.

use crate::port::Workload;

/// A machine that runs workloads under a placement: this computer, or a simulated one.
pub trait Testbed {
    /// The error of a failed run.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Runs every task of the workload at once, task r on PU `seats[r]` (an OS index), and returns
    /// their reports. Shared memory starts as zeros and keeps its contents from run to run.
    ///
    /// # Errors
    /// A seat is not available, or a task did not finish. No task ran on any other PU.
    fn run<W: Workload>(
        &mut self,
        seats: &[u32],
        workload: &W,
    ) -> Result<Vec<W::Output>, Self::Error>;

    /// The PUs for tasks, by OS index.
    fn pus(&self) -> &[u32];

    /// Nanoseconds per tick of its clock.
    fn ns_per_tick(&self) -> f64;

    /// Clock ticks in a core cycle, if the clock counts parts of one.
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
