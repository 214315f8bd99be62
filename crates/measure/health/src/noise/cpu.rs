//! The operations that the meters need.

/// `HostCpu` is the real one; tests use a synthetic one with known gaps.
pub trait MeteredCpu {
    /// It never runs backwards.
    fn ticks(&mut self) -> u64;

    fn work(&mut self, steps: u64);

    fn ns_per_tick(&self) -> f64;

    fn step_ns(&self) -> f64;

    /// How long the thread was ready while another had the CPU; `None` if the kernel does not count
    /// it.
    fn waited_ns(&mut self) -> Option<u64>;
}
