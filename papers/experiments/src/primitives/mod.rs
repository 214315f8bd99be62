//! The primitives for communication between threads on Linux, each timed on given CPUs.
//!
//! | primitive | CPUs | one operation is |
//! |---|---|---|
//! | [`ThreadCreateJoin`] | 1 | creating, running and joining a thread |
//! | [`FutexPingPong`] | 2 | a round trip of sleeping and waking |
//! | [`Descriptors`] | 2 | a round trip of 8 bytes through two eventfds, pipes or Unix sockets |
//! | [`Atomics`] | 1 or more | a compare-exchange, fetch-add or swap, on one word or one each |
//! | [`CopyBytes`] | 1 or 2 | copying bytes from a buffer of the last CPU's node |
//! | [`ProcessVmReadv`] | 1 or 2 | the same by system call |
//!
//! [`survey`] runs all of them between CPUs of every kind.
//!
//! A round trip between two spinning threads is not one of them: it is a workload,
//! [`PingPong`](seatmap_machines::workload::PingPong).
//!
//! ```no_run
//! # use seatmap_experiments::primitives::{BatchPlan, DescriptorKind, Descriptors};
//! # use seatmap_experiments::primitives::{Primitive, PrimitiveThreads};
//! let mut room = PrimitiveThreads::new();
//! let plan = BatchPlan { warmup: 1, batches: 20, operations: 100 };
//! let samples = Descriptors(DescriptorKind::Pipe).run(&mut room, &[0, 1], plan)?;
//! let round_trips_ns = &samples.by_task_ns[0];
//! # Ok::<(), seatmap_experiments::primitives::PrimitiveError>(())
//! ```

mod atomics;
mod bytes;
mod descriptors;
mod futex;
mod room;
mod survey;
mod thread;

pub use atomics::{Atomics, ReadModifyWrite};
pub use bytes::{CopyBytes, ProcessVmReadv};
pub use descriptors::{DescriptorKind, Descriptors};
pub use futex::FutexPingPong;
pub use room::{BatchPlan, PrimitiveError, PrimitiveThreads, SamplesResult, TaskSamples};
pub use survey::{PrimitiveTimes, survey};
pub use thread::ThreadCreateJoin;

/// A primitive: one way for threads to communicate.
pub trait Primitive {
    /// The short name in tables.
    fn name(&self) -> String;

    /// How many CPUs it takes.
    fn cpus(&self) -> std::ops::RangeInclusive<usize>;

    /// Whether each operation of a thread waits for one of the other thread, so that no thread can
    /// continue alone.
    fn takes_turns(&self) -> bool {
        false
    }

    /// Times it once on these CPUs, one pinned thread each, for as long as the plan says.
    ///
    /// # Errors
    /// As [`Primitive::run`].
    fn attempt(&self, room: &mut PrimitiveThreads, cpus: &[u32], plan: BatchPlan) -> SamplesResult;

    /// Times it on these CPUs, one pinned thread each. If the threads do not work at the same time,
    /// it is repeated with more operations in each batch.
    ///
    /// # Errors
    /// A CPU is not available; the number of CPUs is wrong; a thread was moved; a system call
    /// failed; or the threads did not work at the same time however long they ran.
    fn run(&self, room: &mut PrimitiveThreads, cpus: &[u32], plan: BatchPlan) -> SamplesResult {
        room::repeated(plan, |plan| self.attempt(room, cpus, plan))
    }
}
