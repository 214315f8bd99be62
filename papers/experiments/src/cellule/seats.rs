//! Where controller and workers sit.

use crate::cellule::CelluleError;
use seatmap_os::affinity;
use seatmap_os::partners::Loss;
use seatmap_worker::{Polling, Runtime, ThreadContext, WorkerOptions};
use std::time::Duration;

/// How long a reader looks before it sleeps where the controller's CPU holds a worker too: two
/// threads that spin on one CPU wait for the end of each other's time slices.
const SHARED_SPIN: Duration = Duration::from_micros(20);
/// How long a controller looks for a program's end before it sleeps and leaves its CPU to others.
/// Waking it takes a few microseconds, which is little compared with a wait this long.
const PROGRAM_SPIN: Duration = Duration::from_micros(200);

/// The CPUs of the controller and of the workers, one each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerSeats {
    /// Where the controller sits.
    pub controller: u32,
    /// Where the workers sit; the controller's CPU comes last, where there are as many workers as
    /// CPUs.
    pub workers: Vec<u32>,
}

impl WorkerSeats {
    /// The first CPU for the controller, the others for workers; where the workers are as many as
    /// the CPUs, one shares the controller's.
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

    /// As many workers as CPUs beside the controller's, or one.
    #[must_use]
    pub fn usual_workers(cpus: &[u32]) -> usize {
        cpus.len().saturating_sub(1).max(1)
    }

    /// How calls are timed: everyone spins, unless a worker shares the controller's CPU.
    #[must_use]
    pub fn for_calls(&self) -> WorkerOptions {
        WorkerOptions { polling: self.polling(Polling::Spin), ..WorkerOptions::default() }
    }

    /// The options for running programs: long waits sleep.
    #[must_use]
    pub fn for_programs(&self) -> WorkerOptions {
        WorkerOptions {
            polling: self.polling(Polling::Adaptive(PROGRAM_SPIN)),
            ..WorkerOptions::default()
        }
    }

    fn polling(&self, alone: Polling) -> Polling {
        if self.workers.contains(&self.controller) { Polling::Adaptive(SHARED_SPIN) } else { alone }
    }

    /// Workers on these seats.
    ///
    /// # Errors
    /// A CPU that cannot be had.
    pub fn runtime(&self, options: WorkerOptions) -> Result<Runtime, CelluleError> {
        Ok(Runtime::new(&self.workers, options)?)
    }

    /// Contexts that threads answer, on the same seats.
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

/// Does work in a thread of its own on these CPUs, which the threads that it makes inherit; the
/// caller keeps its own.
///
/// # Errors
/// The CPUs cannot be had, or were taken away meanwhile; or what the work says.
pub fn on<T: Send>(
    cpus: &[u32],
    work: impl FnOnce() -> Result<T, CelluleError> + Send,
) -> Result<T, CelluleError> {
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    let ended = std::thread::scope(|scope| {
        let started = std::thread::Builder::new().spawn_scoped(scope, || {
            affinity::pin(cpus)
                .map_err(|error| CelluleError::System("the CPUs cannot be had", error))?;
            let done = work()?;
            // A cpuset that changed meanwhile has moved the thread: the figures would be those of
            // other CPUs.
            match affinity::current() {
                Ok(mask) if mask != sorted => Err(Loss::moved(cpus).into()),
                _ => Ok(done),
            }
        });
        let thread =
            started.map_err(|error| CelluleError::System("a thread cannot be started", error))?;
        Ok::<_, CelluleError>(thread.join())
    })?;
    // A panic of the work's own goes on where it came from.
    ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_controller_has_its_cpu_alone_while_there_are_others() {
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
            "4 is not a number of workers for these CPUs; it is between 1 and 3, one on a CPU"
        );
        assert!(seats(0).is_err() && WorkerSeats::new(&[], 1).is_err());
        assert_eq!([&[0][..], &[0, 1], &[0, 1, 2]].map(WorkerSeats::usual_workers), [1, 1, 2]);
    }
}
