//! Threads, clock and batches for primitives.

use super::Primitive;
use crate::HostClock;
use crate::crew::{Crew, CrewError};
use seatmap_port::Stamp;
use std::io;
use std::sync::Barrier;

/// Where primitives are run: pinned threads that are kept, and a clock.
pub struct Room {
    crew: Crew,
    clock: HostClock,
}

/// How many operations are done, and how many between two looks at the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batches {
    /// Batches before the first that counts.
    pub warmup: u32,
    /// Batches that count.
    pub batches: u32,
    /// Operations of a batch.
    pub operations: u32,
}

/// What was measured: for each task, in the order of its CPUs, nanoseconds an operation, one value a batch. Both ends of a
/// round trip see the same time; take the median of either, never a mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// By task, then by batch.
    pub by_task_ns: Vec<Vec<f64>>,
}

/// Why a primitive could not be timed.
#[derive(Debug, thiserror::Error)]
pub enum PrimitiveError {
    /// Another number of CPUs than it takes.
    #[error("{name} takes {} to {} CPUs, and {given} were given", .takes.start(), .takes.end())]
    Cpus {
        /// The primitive.
        name: String,
        /// How many it takes.
        takes: std::ops::RangeInclusive<usize>,
        /// How many were given.
        given: usize,
    },
    /// A thread could not be seated.
    #[error(transparent)]
    Crew(#[from] CrewError),
    /// A thread was found on another CPU than its own.
    #[error("the thread on CPU {cpu} was moved to CPU {found}: its times are worth nothing")]
    Moved {
        /// Its CPU.
        cpu: u32,
        /// Where it was.
        found: u32,
    },
    /// A system call failed.
    #[error("{what}")]
    System {
        /// What was tried.
        what: String,
        /// What the kernel says.
        source: io::Error,
    },
}

impl PrimitiveError {
    pub(super) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> PrimitiveError {
        let what = what.into();
        move |source| PrimitiveError::System { what, source }
    }
}

impl Default for Room {
    fn default() -> Self {
        Room::new()
    }
}

impl Room {
    /// A room without threads yet. Calibrates the clock, which takes about 20 ms.
    #[must_use]
    pub fn new() -> Self {
        Room { crew: Crew::default(), clock: HostClock::calibrated() }
    }

    /// Runs something on one CPU: memory that it writes first lies on that CPU's node.
    pub(super) fn on<T: Send>(&mut self, cpu: u32, work: impl Fn() -> T + Sync) -> Result<T, PrimitiveError> {
        let mut results = self.crew.run(&[cpu], &|_| work())?;
        results.pop().ok_or(PrimitiveError::Crew(CrewError::Lost(cpu)))
    }

    /// Times what `prepare(rank)` gives each thread to do, all at once. A thread that fails drops what it was given, which
    /// must let the others go.
    pub(super) fn time<F>(
        &mut self,
        primitive: &impl Primitive,
        cpus: &[u32],
        plan: Batches,
        prepare: impl Fn(usize) -> F + Sync,
    ) -> Result<Samples, PrimitiveError>
    where
        F: FnMut() -> io::Result<()>,
    {
        primitive.check(cpus)?;
        let (clock, start) = (&self.clock, Barrier::new(cpus.len()));
        let stamps = self.crew.run(cpus, &|rank| {
            let operation = prepare(rank);
            start.wait();
            stamps(clock, plan, operation)
        })?;
        let failed = PrimitiveError::system(format!("{} failed", primitive.name()));
        let stamps: io::Result<Vec<Vec<Stamp>>> = stamps.into_iter().collect();
        self.samples(cpus, plan, &stamps.map_err(failed)?)
    }

    fn samples(&self, cpus: &[u32], plan: Batches, stamps: &[Vec<Stamp>]) -> Result<Samples, PrimitiveError> {
        for (cpu, stamps) in cpus.iter().zip(stamps) {
            if let Some(stamp) = stamps.iter().find(|stamp| stamp.pu != *cpu) {
                return Err(PrimitiveError::Moved { cpu: *cpu, found: stamp.pu });
            }
        }
        let ns = self.clock.ns_per_tick() / f64::from(plan.operations.max(1));
        let batch_ns = |two: &[Stamp]| two[1].ticks.wrapping_sub(two[0].ticks) as f64 * ns;
        Ok(Samples { by_task_ns: stamps.iter().map(|stamps| stamps.windows(2).map(batch_ns).collect()).collect() })
    }
}

/// The clock before the first batch that counts, and after each.
fn stamps(clock: &HostClock, plan: Batches, mut operation: impl FnMut() -> io::Result<()>) -> io::Result<Vec<Stamp>> {
    let mut batch = || (0..plan.operations).try_for_each(|_| operation());
    (0..plan.warmup).try_for_each(|_| batch())?;
    let mut stamps = Vec::with_capacity(plan.batches as usize + 1);
    stamps.push(clock.stamp());
    for _ in 0..plan.batches {
        batch()?;
        stamps.push(clock.stamp());
    }
    Ok(stamps)
}

/// What every primitive asks first.
trait Check {
    fn check(&self, cpus: &[u32]) -> Result<(), PrimitiveError>;
}

impl<P: Primitive> Check for P {
    fn check(&self, cpus: &[u32]) -> Result<(), PrimitiveError> {
        match self.cpus().contains(&cpus.len()) {
            true => Ok(()),
            false => Err(PrimitiveError::Cpus { name: self.name(), takes: self.cpus(), given: cpus.len() }),
        }
    }
}
