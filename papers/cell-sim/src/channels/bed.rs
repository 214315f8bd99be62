//! Machines that run programs over channels.

use super::Channels;

/// The memory and tasks that a program needs of its machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramNeeds {
    /// Tasks; task `rank` is given seat `rank`.
    pub tasks: usize,
    /// Bytes of each task's local store that it uses.
    pub local_bytes: u32,
    /// Bytes of each memory module that it uses.
    pub memory_bytes: u32,
    /// Whether signal registers gather bits (OR) instead of being overwritten.
    pub signals_or: bool,
}

/// A program of several tasks over [`Channels`], written once and run on any machine.
pub trait ChannelProgram: Sync {
    /// The result that one task reports.
    type Output: Send;

    /// The memory and tasks that it needs.
    fn shape(&self) -> ProgramNeeds;

    /// The body of one task.
    fn task<C: Channels>(&self, channels: &C, rank: usize) -> Self::Output;
}

/// A machine that runs such programs: this computer, or a model.
pub trait Bed {
    /// Why a run failed.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Runs every task at once, task r on PU `seats[r]` (an OS index), and returns what each
    /// reports. Local stores and memory start as zeros. `seed` decides whatever the machine leaves
    /// to chance.
    ///
    /// # Errors
    /// A seat that cannot be had, a transfer that hardware would refuse, a task that did not
    /// finish.
    fn run<P: ChannelProgram>(
        &mut self,
        seats: &[u32],
        program: &P,
        seed: u64,
    ) -> Result<Vec<P::Output>, Self::Error>;

    /// Nanoseconds a tick of the decrementer.
    fn ns_per_tick(&self) -> f64;

    /// Nanoseconds a cycle of [`Channels::cycles`].
    fn ns_per_cycle(&self) -> f64;

    /// The number of memory modules.
    fn modules(&self) -> usize;
}
