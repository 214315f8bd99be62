//! Machines that run programs over channels.

use super::Channels;

/// The tasks and memory that a program needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramNeeds {
    /// Tasks; task `rank` runs on seat `rank`.
    pub tasks: usize,
    /// Bytes used in each task's local store.
    pub local_bytes: u32,
    /// Bytes used in each memory module.
    pub memory_bytes: u32,
    /// Whether signal registers gather bits (OR) instead of being overwritten.
    pub signals_or: bool,
}

/// A program of several tasks over [`Channels`].
pub trait ChannelProgram: Sync {
    /// A task's result.
    type Output: Send;

    /// The tasks and memory that it needs.
    fn shape(&self) -> ProgramNeeds;

    /// A task's body.
    fn task<C: Channels>(&self, channels: &C, rank: usize) -> Self::Output;
}

/// A machine that runs such programs: this computer, or a model.
pub trait Bed {
    /// A failed run's error.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Runs all tasks concurrently, task r on PU `seats[r]` (an OS index), and returns their
    /// results. Local stores and memory start as zeros; `seed` determines random choices.
    ///
    /// # Errors
    /// An unavailable seat, a transfer that hardware would reject, or an unfinished task.
    fn run<P: ChannelProgram>(
        &mut self,
        seats: &[u32],
        program: &P,
        seed: u64,
    ) -> Result<Vec<P::Output>, Self::Error>;

    /// Nanoseconds per decrementer tick.
    fn ns_per_tick(&self) -> f64;

    /// Nanoseconds per cycle of [`Channels::cycles`].
    fn ns_per_cycle(&self) -> f64;

    /// Memory modules.
    fn modules(&self) -> usize;
}
