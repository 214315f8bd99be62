//! The host as a `Testbed`.

use crate::host::HostClock;
use crate::host::arena::Arena;
use crate::host::crew::{Crew, CrewError};
use crate::host::port::HostPort;
use seatmap_data::port::{Testbed, Workload};
use seatmap_os::CpuError;
use seatmap_os::cpus::Cpus;
use seatmap_os::partners::PartnerThread;
use std::io;
use std::sync::atomic::AtomicU64;

/// This computer, with a pinned thread for each PU in use and shared lines that stay in place from
/// run to run.
pub struct HostTestbed {
    pus: Vec<u32>,
    clock: HostClock,
    arena: Arena,
    crew: Crew,
}

/// Why the host could not run a workload.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// A CPU is not available.
    #[error(transparent)]
    Cpu(#[from] CpuError),
    /// The CPUs or the shared memory are not available.
    #[error("{what}")]
    System {
        /// Action that failed.
        what: &'static str,
        /// Kernel's error.
        source: io::Error,
    },
    /// A thread could not be pinned, or failed.
    #[error(transparent)]
    Crew(#[from] CrewError),
    /// The numbers of tasks and seats differ.
    #[error("each task needs a seat; tasks: {tasks}, seats: {seats}")]
    Seats {
        /// Tasks of the workload.
        tasks: usize,
        /// Seats given.
        seats: usize,
    },
    /// The workload needs more shared lines than the testbed has.
    #[error("the workload needs {} of shared memory, but the testbed has {lines}",
        seatmap_data::statistics::words::counted(*.needed, "line"))]
    Lines {
        /// Lines that the workload needs.
        needed: u32,
        /// Lines that the testbed has.
        lines: u32,
    },
}

impl HostTestbed {
    /// A testbed on these CPUs, with this many lines of shared memory. Calibrates the clock, which
    /// takes about 20 ms.
    ///
    /// # Errors
    /// [`HostError`], if a CPU is absent, offline or out of bounds, or if memory cannot be mapped.
    pub fn new(pus: Vec<u32>, lines: u32) -> Result<Self, HostError> {
        let cpus = Cpus::read().map_err(|source| HostError::System {
            what: "cannot read this process's CPUs",
            source,
        })?;
        cpus.check(&pus)?;
        let arena = Arena::new(lines)
            .map_err(|source| HostError::System { what: "cannot map shared memory", source })?;
        Ok(HostTestbed { pus, clock: HostClock::calibrated(), arena, crew: Crew::default() })
    }

    /// The shared memory, for code that must use the same line as a workload: two lines may have
    /// two homes.
    pub fn words(&self) -> &[AtomicU64] {
        self.arena.words()
    }

    /// The clock.
    pub fn clock(&self) -> &HostClock {
        &self.clock
    }
}

impl Testbed for HostTestbed {
    type Error = HostError;

    fn run<W: Workload>(
        &mut self,
        seats: &[u32],
        workload: &W,
    ) -> Result<Vec<W::Output>, HostError> {
        if seats.len() != workload.tasks() {
            return Err(HostError::Seats { tasks: workload.tasks(), seats: seats.len() });
        }
        let lines = self.arena.end().line_index();
        if workload.lines() > lines {
            return Err(HostError::Lines { needed: workload.lines(), lines });
        }
        let port = HostPort::new(self.arena.words(), &self.clock);
        Ok(self.crew.run_together(seats, &|seat: &PartnerThread| {
            workload.task(&port.seated(seat), seat.rank())
        })?)
    }

    fn pus(&self) -> &[u32] {
        &self.pus
    }

    fn ns_per_tick(&self) -> f64 {
        self.clock.ns_per_tick()
    }

    fn has_hosts(&self) -> bool {
        true
    }

    fn clock_step_ns(&self) -> f64 {
        self.clock.step_ns()
    }
}
