//! The CPUs of controller and workers.

use crate::cellule::CelluleError;
use seatmap_os::affinity;
use seatmap_os::partners::Loss;
use seatmap_worker::{Polling, Runtime, ThreadContext, WorkerOptions};
use std::time::Duration;

/// How long a reader polls before it sleeps if a worker shares the controller's CPU: two spinning
/// threads on one CPU would wait for each other's time slices.
const SHARED_SPIN: Duration = Duration::from_micros(20);
/// How long a controller polls for a program's end before it sleeps. Waking it takes a few
/// microseconds, little compared with this.
const PROGRAM_SPIN: Duration = Duration::from_micros(200);

/// The CPUs of the controller and of the workers, one each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerSeats {
    /// The controller's CPU.
    pub controller: u32,
    /// The workers' CPUs; with as many workers as CPUs, the last is the controller's.
    pub workers: Vec<u32>,
}

impl WorkerSeats {
    /// The first CPU is the controller's, the others are for workers; with as many workers as CPUs,
    /// one shares the controller's.
    ///
    /// # Errors
    /// [`CelluleError::Workers`].
    pub fn new(cpus: &[u32], workers: usize) -> Result<Self, CelluleError> {
        match cpus.split_first() {
            Some((controller, others)) if (1..=cpus.len()).contains(&workers) => {
                let workers = others.iter().chain([controller]).copied().take(workers).collect();
                Ok(WorkerSeats { controller: *controller, workers })
            }
            _ => Err(CelluleError::Workers { workers, cpus: cpus.len() }),
        }
    }

    /// One worker for each CPU except the controller's, but at least one.
    pub fn usual_workers(cpus: &[u32]) -> usize {
        cpus.len().saturating_sub(1).max(1)
    }

    /// The options for timing calls: all threads spin, unless a worker shares the controller's CPU.
    pub fn for_calls(&self) -> WorkerOptions {
        WorkerOptions { polling: self.polling(Polling::Spin), ..WorkerOptions::default() }
    }

    /// The options for running programs: long waits sleep.
    pub fn for_programs(&self) -> WorkerOptions {
        WorkerOptions {
            polling: self.polling(Polling::Adaptive(PROGRAM_SPIN)),
            ..WorkerOptions::default()
        }
    }

    fn polling(&self, alone: Polling) -> Polling {
        if self.workers.contains(&self.controller) { Polling::Adaptive(SHARED_SPIN) } else { alone }
    }

    /// Workers on these CPUs.
    ///
    /// # Errors
    /// A CPU is not usable.
    pub fn runtime(&self, options: WorkerOptions) -> Result<Runtime, CelluleError> {
        Ok(Runtime::new(&self.workers, options)?)
    }

    /// Contexts with a new thread for each run, on the same CPUs.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn threads(&self, options: WorkerOptions) -> Result<Vec<ThreadContext>, CelluleError> {
        self.workers.iter().map(|cpu| Ok(ThreadContext::new(*cpu, options)?)).collect()
    }

    /// Does the controller's work on its CPU.
    ///
    /// # Errors
    /// As [`on`].
    pub fn control<T: Send>(
        &self,
        work: impl FnOnce() -> Result<T, CelluleError> + Send,
    ) -> Result<T, CelluleError> {
        on(&[self.controller], work)
    }
}

/// Does work in a new thread on these CPUs, which its threads inherit; the caller's affinity does
/// not change.
///
/// # Errors
/// The CPUs are not usable, or were lost during the work; or the work failed.
pub fn on<T: Send>(
    cpus: &[u32],
    work: impl FnOnce() -> Result<T, CelluleError> + Send,
) -> Result<T, CelluleError> {
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    let ended = std::thread::scope(|scope| {
        let started = std::thread::Builder::new().spawn_scoped(scope, || {
            affinity::pin(cpus)
                .map_err(|error| CelluleError::System("cannot get the CPUs", error))?;
            let done = work()?;
            // A changed cpuset has moved the thread: the figures would be those of other CPUs.
            match affinity::current() {
                Ok(mask) if mask != sorted => Err(Loss::moved(cpus).into()),
                _ => Ok(done),
            }
        });
        let thread =
            started.map_err(|error| CelluleError::System("cannot start a thread", error))?;
        Ok::<_, CelluleError>(thread.join())
    })?;
    ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controller_has_exclusive_cpu_if_possible() {
        let seats = |workers| WorkerSeats::new(&[4, 5, 6], workers);
        assert_eq!(seats(2).unwrap(), WorkerSeats { controller: 4, workers: vec![5, 6] });
        assert_eq!(seats(2).unwrap().for_calls().polling, Polling::Spin);
        assert_eq!(seats(2).unwrap().for_programs().polling, Polling::Adaptive(PROGRAM_SPIN));
        assert_eq!(seats(3).unwrap().workers, [5, 6, 4]);
        let shared = seats(3).unwrap();
        assert_eq!(
            [shared.for_calls(), shared.for_programs()].map(|of| of.polling),
            [Polling::Adaptive(SHARED_SPIN); 2]
        );
        assert_eq!(
            seats(4).unwrap_err().to_string(),
            "4 workers do not fit these CPUs; give 1 to 3, one per CPU"
        );
        assert!(seats(0).is_err() && WorkerSeats::new(&[], 1).is_err());
        assert_eq!([&[0][..], &[0, 1], &[0, 1, 2]].map(WorkerSeats::usual_workers), [1, 1, 2]);
    }
}
