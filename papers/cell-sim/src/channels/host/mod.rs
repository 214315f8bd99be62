//! The host as a machine for programs over channels.

mod error;
#[cfg(target_arch = "x86_64")]
mod halves;
mod port;

pub use error::BedError;

use crate::channels::lines::{self, ChannelLayout, DECREMENTER_SHIFT, OnLines};
use crate::channels::{Bed, ChannelProgram, DmaError};
use port::BedPort;
use seatmap_data::port::Addr;
use seatmap_machines::host::arena::Arena;
use seatmap_machines::host::crew::Crew;
use seatmap_machines::host::together::Together;
use seatmap_machines::host::{HostClock, topology};
use seatmap_os::cpus::Cpus;
use seatmap_os::partners::is_gone;
use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;

const PAGE_WORDS: u32 = 512;

/// This computer as a machine. A seat is a CPU with a pinned thread, and a local store is on its
/// task's NUMA node. The memory modules are the NUMA nodes of the CPUs for tasks, in ascending
/// order.
///
/// Each run gets fresh memory; the threads are reused.
pub struct HostBed {
    cpus: Cpus,
    pus: Vec<u32>,
    modules: Vec<u32>,
    clock: HostClock,
    crew: Crew,
}

enum End {
    /// Another task failed.
    Followed,
    Refused(DmaError),
    Panicked,
}

impl HostBed {
    /// Uses the CPUs of this process's affinity mask. Calibrates the clock, which takes about 20
    /// ms.
    ///
    /// # Errors
    /// [`BedError`] if the kernel does not report CPUs or nodes.
    pub fn new() -> Result<Self, BedError> {
        let cpus = cpus()?;
        let pus = cpus.allowed.clone();
        Self::of(cpus, pus)
    }

    /// Uses these CPUs, which may be outside this process's affinity mask.
    ///
    /// # Errors
    /// [`BedError`] if a CPU is unavailable, or the kernel does not report CPUs or nodes.
    pub fn on(pus: Vec<u32>) -> Result<Self, BedError> {
        let cpus = cpus()?;
        cpus.check(&pus)?;
        Self::of(cpus, pus)
    }

    fn of(cpus: Cpus, pus: Vec<u32>) -> Result<Self, BedError> {
        let mut nodes = BTreeMap::new();
        let all = topology::reachable()?.pus.into_iter();
        for pu in all.filter(|pu| pus.contains(&pu.os)) {
            nodes.entry(pu.numa).or_insert(pu.os);
        }
        Ok(HostBed {
            cpus,
            pus,
            modules: nodes.into_values().collect(),
            clock: HostClock::calibrated(),
            crew: Crew::default(),
        })
    }

    /// The CPUs for tasks.
    pub fn pus(&self) -> &[u32] {
        &self.pus
    }

    /// The clock.
    pub fn clock(&self) -> &HostClock {
        &self.clock
    }

    fn check(&self, seats: &[u32], tasks: usize) -> Result<(), BedError> {
        let cpus = self.pus.len();
        if tasks > cpus {
            return Err(BedError::TooMany { tasks, cpus });
        }
        if seats.len() != tasks {
            return Err(BedError::Seats { tasks, seats: seats.len() });
        }
        Ok(self.cpus.check(seats)?)
    }

    fn place(
        &mut self,
        arena: &Arena,
        layout: &ChannelLayout,
        seats: &[u32],
    ) -> Result<(), BedError> {
        let shape = layout.shape();
        self.crew.run(seats, &|rank| touch(arena, layout.local(rank), shape.local_bytes))?;
        let modules = self.modules.clone();
        self.crew
            .run(&modules, &|module| touch(arena, layout.memory(module), shape.memory_bytes))?;
        Ok(())
    }
}

fn cpus() -> Result<Cpus, BedError> {
    let what = "cannot read this process's CPUs";
    Cpus::read().map_err(|source| BedError::System { what, source })
}

fn touch(arena: &Arena, start: Addr, bytes: u32) {
    let pages = (0..bytes.div_ceil(8)).step_by(PAGE_WORDS as usize);
    pages.for_each(|word| arena.words()[start.word(word).0 as usize].store(0, Ordering::Release));
}

impl Bed for HostBed {
    type Error = BedError;

    fn run<P: ChannelProgram>(
        &mut self,
        seats: &[u32],
        program: &P,
        _seed: u64,
    ) -> Result<Vec<P::Output>, BedError> {
        self.check(seats, program.shape().tasks)?;
        let workload = OnLines::new(program, self.modules.len())?;
        let layout = workload.layout();
        let arena = Arena::new(layout.lines()).map_err(|source| BedError::System {
            what: "cannot map the memory that tasks share",
            source,
        })?;
        self.place(&arena, &layout, seats)?;
        let together = Together::default();
        let port = BedPort::new(arena.words(), &self.clock, layout.ended(), &together);
        sorted(self.crew.run_together(seats, &|seat| {
            let port = port.seated(seat);
            let done = catch_unwind(AssertUnwindSafe(|| workload.task_on(&port, seat.rank())));
            done.or_else(|payload| {
                if is_gone(&*payload) { resume_unwind(payload) } else { Err(End::of(payload)) }
            })
        })?)
    }

    fn ns_per_tick(&self) -> f64 {
        self.clock.ns_per_tick() * f64::from(1 << DECREMENTER_SHIFT)
    }

    fn ns_per_cycle(&self) -> f64 {
        self.clock.ns_per_tick()
    }

    fn modules(&self) -> usize {
        self.modules.len()
    }
}

impl End {
    fn of(payload: Box<dyn Any + Send>) -> End {
        match lines::refused(&*payload) {
            Some(error) => End::Refused(error.clone()),
            None if payload.is::<lines::PartnerFailure>() => End::Followed,
            None => End::Panicked,
        }
    }
}

/// The results, or the first failure by rank. Tasks that stopped because another failed do not
/// count.
fn sorted<T>(ends: Vec<Result<T, End>>) -> Result<Vec<T>, BedError> {
    let failure = ends.iter().enumerate().find_map(|(rank, end)| match end {
        Err(End::Refused(source)) => Some(BedError::Refused { rank, source: source.clone() }),
        Err(End::Panicked) => Some(BedError::Panicked { rank }),
        Ok(_) | Err(End::Followed) => None,
    });
    let results: Option<Vec<T>> = ends.into_iter().map(Result::ok).collect();
    match (failure, results) {
        (None, Some(results)) => Ok(results),
        (Some(failure), _) => Err(failure),
        (None, None) => Err(BedError::Panicked { rank: 0 }),
    }
}
