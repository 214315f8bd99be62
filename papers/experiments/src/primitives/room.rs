//! Threads, clock and batches for primitives.

use super::Primitive;
use seatmap_data::port::{ENOUGH_OVERLAP, Stamp, TaskBeats, overlap};
use seatmap_data::statistics::words::agreeing;
use seatmap_machines::host::HostClock;
use seatmap_machines::host::crew::{Crew, CrewError};
use seatmap_machines::host::together::Together;
use seatmap_os::partners::{Loss, PartnerThread};
use std::io;

/// A run gets this many lengths, each twice the one before, and this many attempts at each.
const LENGTHS: u32 = 9;
const ATTEMPTS: usize = 4;

/// Pinned threads, kept between primitives, and a clock.
pub struct PrimitiveThreads {
    crew: Crew,
    clock: HostClock,
}

/// Operations, and operations between two clock readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchPlan {
    /// Batches before the first counted batch.
    pub warmup: u32,
    /// Counted batches.
    pub batches: u32,
    /// Operations of a batch.
    pub operations: u32,
}

/// The measured times: nanoseconds for each operation, one value for each batch, by task in the
/// order of its CPUs. Both ends of a round trip see the same time; take the median of either.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskSamples {
    /// By task, then by batch.
    pub by_task_ns: Vec<Vec<f64>>,
    /// The smallest share of a task's batches during which all tasks worked; at least
    /// [`ENOUGH_OVERLAP`].
    pub overlap: f64,
}

/// A primitive's times, or why there are none.
pub type SamplesResult = Result<TaskSamples, PrimitiveError>;

/// Why a primitive could not be timed.
#[derive(Debug, thiserror::Error)]
pub enum PrimitiveError {
    /// The primitive does not take this number of CPUs.
    // Plural: every primitive takes at least two CPUs at most.
    #[error(
        "{name} takes {} to {} CPUs, but {given} {} given",
        .takes.start(), .takes.end(), agreeing(*.given, "was", "were")
    )]
    Cpus {
        /// The primitive.
        name: String,
        /// The allowed numbers of CPUs.
        takes: std::ops::RangeInclusive<usize>,
        /// The given CPUs.
        given: usize,
    },
    /// A thread could not be pinned.
    #[error(transparent)]
    Crew(#[from] CrewError),
    /// A thread ran on a CPU other than its own.
    #[error("the thread on CPU {cpu} was moved to CPU {found}: its times are invalid")]
    Moved {
        /// Its CPU.
        cpu: u32,
        /// The CPU on which it ran.
        found: u32,
    },
    /// The threads did not work at the same time, so the times are not those of concurrent
    /// operations.
    #[error(
        "{name}: other programs used the CPUs, so its threads ran together for only {:.0} % of \
         the time ({:.0} % are needed); try again on a quieter machine",
        100.0 * .overlap, 100.0 * ENOUGH_OVERLAP
    )]
    Apart {
        /// The primitive.
        name: String,
        /// The largest share of several attempts, 0 to 1.
        overlap: f64,
    },
    /// A system call failed.
    #[error("{what}")]
    System {
        /// The action that failed.
        what: String,
        /// The kernel's error.
        source: io::Error,
    },
}

impl PrimitiveError {
    pub(super) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> PrimitiveError {
        let what = what.into();
        move |source| PrimitiveError::System { what, source }
    }
}

impl Default for PrimitiveThreads {
    fn default() -> Self {
        PrimitiveThreads::new()
    }
}

impl PrimitiveThreads {
    /// Calibrates the clock, which takes about 20 ms, and starts no thread yet.
    pub fn new() -> Self {
        PrimitiveThreads { crew: Crew::default(), clock: HostClock::calibrated() }
    }

    /// Runs a closure on one CPU. Memory that it writes first is allocated on that CPU's node.
    pub(super) fn on<T: Send>(
        &mut self,
        cpu: u32,
        work: impl Fn() -> T + Sync,
    ) -> Result<T, PrimitiveError> {
        let mut results = self.crew.run(&[cpu], &|_| work())?;
        results.pop().ok_or(PrimitiveError::Crew(CrewError::Lost(Loss::Ended { cpu })))
    }

    /// Times the work that `prepare(rank)` gives each thread. All threads begin at one value of the
    /// clock. A thread that has finished its batches continues until all have, unless the threads
    /// take turns. A thread that fails drops its work, which must release the others.
    pub(super) fn time<F>(
        &mut self,
        primitive: &impl Primitive,
        cpus: &[u32],
        plan: BatchPlan,
        prepare: impl Fn(usize) -> F + Sync,
    ) -> SamplesResult
    where
        F: FnMut() -> io::Result<()>,
    {
        primitive.check(cpus)?;
        let clock = &self.clock;
        let together = Together::default();
        let threads = cpus.len();
        let goes_on = !primitive.takes_turns();
        let stays = self.crew.run_together(cpus, &|seat: &PartnerThread| {
            let mut stay = Stay::new(clock, plan, prepare(seat.rank()));
            together.begin(threads, clock, || seat.check());
            let done = stay.work();
            if goes_on {
                // The others also wait for a failed thread, which then does nothing.
                together.keep_on(threads, clock, || {
                    seat.check();
                    let _ = done.is_ok().then(|| stay.batch());
                });
            }
            done.map(|()| stay.stamps)
        })?;
        let failed = PrimitiveError::system(format!("{} failed", primitive.name()));
        let stays: io::Result<Vec<Vec<Stamp>>> = stays.into_iter().collect();
        self.samples(primitive, cpus, plan, &stays.map_err(failed)?)
    }

    fn samples(
        &self,
        primitive: &impl Primitive,
        cpus: &[u32],
        plan: BatchPlan,
        stays: &[Vec<Stamp>],
    ) -> SamplesResult {
        for (cpu, stamps) in cpus.iter().zip(stays) {
            if let Some(stamp) = stamps.iter().find(|stamp| stamp.pu != *cpu) {
                return Err(PrimitiveError::Moved { cpu: *cpu, found: stamp.pu });
            }
        }
        let counted = plan.warmup as usize..(plan.warmup + plan.batches) as usize;
        let overlap = overlap(
            &stays
                .iter()
                .map(|stamps| {
                    let beats = stamps.iter().map(|stamp| stamp.ticks).collect();
                    TaskBeats { beats, counted: counted.clone() }
                })
                .collect::<Vec<_>>(),
        );
        if overlap < ENOUGH_OVERLAP {
            return Err(PrimitiveError::Apart { name: primitive.name(), overlap });
        }
        let ns = self.clock.ns_per_tick() / f64::from(plan.operations.max(1));
        Ok(TaskSamples {
            by_task_ns: stays
                .iter()
                .map(|stamps| {
                    stamps[counted.start..=counted.end]
                        .windows(2)
                        .map(|two| two[1].ticks.wrapping_sub(two[0].ticks) as f64 * ns)
                        .collect()
                })
                .collect(),
            overlap,
        })
    }
}

struct Stay<'a, F> {
    clock: &'a HostClock,
    plan: BatchPlan,
    operation: F,
    stamps: Vec<Stamp>,
}

impl<'a, F: FnMut() -> io::Result<()>> Stay<'a, F> {
    fn new(clock: &'a HostClock, plan: BatchPlan, operation: F) -> Self {
        // Room for twice the counted batches; more is allocated if needed.
        let stamps = Vec::with_capacity(plan.warmup as usize + 2 * plan.batches as usize + 1);
        Stay { clock, plan, operation, stamps }
    }

    fn work(&mut self) -> io::Result<()> {
        self.stamps.push(self.clock.stamp());
        (0..self.plan.warmup + self.plan.batches).try_for_each(|_| self.batch())
    }

    fn batch(&mut self) -> io::Result<()> {
        (0..self.plan.operations).try_for_each(|_| (self.operation)())?;
        self.stamps.push(self.clock.stamp());
        Ok(())
    }
}

/// Repeats a run if its threads did not work at the same time: first with the same length, because
/// another program may have interrupted it, and then with twice the operations, because there may
/// have been too few.
pub fn repeated(
    plan: BatchPlan,
    mut attempt: impl FnMut(BatchPlan) -> SamplesResult,
) -> SamplesResult {
    let lengths = (0..LENGTHS).flat_map(|times| [1 << times; ATTEMPTS]);
    let mut largest: Option<(String, f64)> = None;
    for times in lengths {
        match attempt(BatchPlan { operations: plan.operations.saturating_mul(times), ..plan }) {
            Err(PrimitiveError::Apart { name, overlap }) => {
                let overlap = largest.map_or(overlap, |(_, before)| before.max(overlap));
                largest = Some((name, overlap));
            }
            found => return found,
        }
    }
    let (name, overlap) = largest.unwrap_or_default();
    Err(PrimitiveError::Apart { name, overlap })
}

trait Check {
    fn check(&self, cpus: &[u32]) -> Result<(), PrimitiveError>;
}

impl<P: Primitive> Check for P {
    fn check(&self, cpus: &[u32]) -> Result<(), PrimitiveError> {
        if self.cpus().contains(&cpus.len()) {
            Ok(())
        } else {
            Err(PrimitiveError::Cpus { name: self.name(), takes: self.cpus(), given: cpus.len() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: BatchPlan = BatchPlan { warmup: 1, batches: 2, operations: 3 };

    fn apart<T>(overlap: f64) -> Result<T, PrimitiveError> {
        Err(PrimitiveError::Apart { name: "swap shared".into(), overlap })
    }

    #[test]
    fn cpu_count_error_agrees_in_number() {
        let given =
            |given| PrimitiveError::Cpus { name: "ring".into(), takes: 2..=8, given }.to_string();
        assert_eq!(given(1), "ring takes 2 to 8 CPUs, but 1 was given");
        assert_eq!(given(9), "ring takes 2 to 8 CPUs, but 9 were given");
    }

    #[test]
    fn non_overlapping_run_is_repeated_and_lengthened() {
        let mut tried = Vec::new();
        let samples = repeated(PLAN, |plan| {
            tried.push(plan.operations);
            if plan.operations < 6 { apart(0.5) } else { Ok(TaskSamples::default()) }
        });
        assert_eq!((samples.unwrap(), tried), (TaskSamples::default(), vec![3, 3, 3, 3, 6]));
    }

    #[test]
    fn never_overlapping_run_is_refused() {
        let mut tries = 0;
        let refused = repeated(PLAN, |_| {
            tries += 1;
            apart(if tries == 2 { 0.125 } else { 0.0 })
        });
        assert_eq!(tries, LENGTHS as usize * ATTEMPTS);
        insta::assert_snapshot!(refused.unwrap_err(), @"swap shared: other programs used the CPUs, so its threads ran together for only 12 % of the time (90 % are needed); try again on a quieter machine");
    }

    #[test]
    fn other_errors_are_returned_immediately() {
        let mut tries = 0;
        let refused = repeated(PLAN, |_| {
            tries += 1;
            Err(PrimitiveError::Moved { cpu: 1, found: 0 })
        });
        assert!(matches!(refused, Err(PrimitiveError::Moved { .. })) && tries == 1);
    }
}
