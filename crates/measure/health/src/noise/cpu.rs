//! The operations that the meters need of a CPU.

/// A CPU as its meters see it: a clock, and work that takes time. The real one is `HostCpu`; tests
/// have a synthetic one whose gaps are known.
pub(super) trait MeteredCpu {
    /// The clock, in ticks. Never runs backwards.
    fn ticks(&mut self) -> u64;

    /// Does this many steps of integer work, each as long as the others.
    fn work(&mut self, steps: u64);

    /// Nanoseconds a tick.
    fn ns_per_tick(&self) -> f64;

    /// The smallest step that the clock takes, in nanoseconds.
    fn step_ns(&self) -> f64;

    /// The time for which the thread has been ready while another had the CPU, in nanoseconds;
    /// `None` where the kernel does not count it.
    fn waited_ns(&mut self) -> Option<u64>;
}
