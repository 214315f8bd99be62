//! The runtime: a set of workers to borrow.

use crate::pool::WorkerPool;
use crate::{BorrowedWorker, WorkerError, WorkerOptions};
use seatmap_os::affinity;
use std::sync::{Arc, Mutex};

/// The CPUs that this process may use, ascending.
///
/// # Errors
/// [`WorkerError::Cpus`].
pub fn allowed_cpus() -> Result<Vec<u32>, WorkerError> {
    affinity::current().map_err(WorkerError::Cpus)
}

/// Pinned workers, one on each CPU, until it and all its contexts are dropped.
pub struct Runtime {
    pool: Arc<WorkerPool>,
}

impl Runtime {
    /// Creates a worker on each CPU, with a store placed near it.
    ///
    /// # Errors
    /// A CPU is unavailable or given twice, or there is no memory.
    pub fn new(cpus: &[u32], options: WorkerOptions) -> Result<Self, WorkerError> {
        if cpus.is_empty() {
            return Err(WorkerError::NoCpus);
        }
        if let Some(cpu) =
            cpus.iter().enumerate().find_map(|(at, cpu)| cpus[..at].contains(cpu).then_some(*cpu))
        {
            return Err(WorkerError::Shared(cpu));
        }
        let pool = WorkerPool { free: Mutex::default(), workers: cpus.len() };
        for (worker, cpu) in cpus.iter().enumerate() {
            pool.hire(worker, *cpu, options)?;
        }
        // The first worker is borrowed first.
        pool.seats().reverse();
        Ok(Runtime { pool: Arc::new(pool) })
    }

    /// Workers.
    pub fn workers(&self) -> usize {
        self.pool.workers
    }

    /// Borrows a worker with a scrubbed store.
    ///
    /// # Errors
    /// All workers are borrowed.
    pub fn context(&self) -> Result<BorrowedWorker, WorkerError> {
        let seat = self.pool.seats().pop().ok_or(WorkerError::Busy(self.workers()))?;
        Ok(BorrowedWorker::new(Arc::clone(&self.pool), seat))
    }
}

#[cfg(test)]
mod tests;
