//! One pinned thread for each PU, kept from run to run.

use seatmap_os::affinity;
use std::collections::HashMap;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// The work that a worker is given.
type Job = Box<dyn FnOnce() + Send + 'static>;

/// Pinned worker threads, made on first use and kept: a matrix visits each PU thousands of times, and making a thread
/// costs more than a visit. Idle workers sleep.
#[derive(Default)]
pub struct Crew {
    workers: HashMap<u32, Worker>,
}

struct Worker {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

/// Why the crew could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum CrewError {
    /// The kernel refused to pin a thread, or pinned it elsewhere.
    #[error("no thread could be pinned to CPU {cpu}")]
    Pin {
        /// The CPU.
        cpu: u32,
        /// The kernel's error.
        source: io::Error,
    },
    /// One run has the same CPU twice.
    #[error("CPU {0} is asked to hold two tasks at once")]
    Shared(u32),
    /// A task ended without a result.
    #[error("the task on CPU {0} panicked")]
    Lost(u32),
}

impl Crew {
    /// Runs `work(rank)` for every rank at once, rank r on the CPU `seats[r]`. Returns the results by rank.
    ///
    /// # Errors
    /// [`CrewError`]. No work begins if a thread cannot be pinned. A panic in one rank becomes an error after all
    /// ranks have ended.
    pub fn run<T: Send>(&mut self, seats: &[u32], work: &(impl Fn(usize) -> T + Sync)) -> Result<Vec<T>, CrewError> {
        if let Some(cpu) = seats.iter().enumerate().find_map(|(at, cpu)| seats[..at].contains(cpu).then_some(*cpu)) {
            return Err(CrewError::Shared(cpu));
        }
        seats.iter().try_for_each(|cpu| self.hire(*cpu))?;
        let (report, reports) = channel();
        for (rank, cpu) in seats.iter().enumerate() {
            let report = report.clone();
            let job = move || {
                let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(rank))).ok();
                // The receiver lives until every rank has reported.
                let _ = report.send((rank, result));
            };
            self.dispatch(*cpu, lend(Box::new(job)));
        }
        drop(report);
        collect(seats, &reports)
    }

    fn hire(&mut self, cpu: u32) -> Result<(), CrewError> {
        if self.workers.contains_key(&cpu) {
            return Ok(());
        }
        let (jobs, inbox) = channel::<Job>();
        let (seated, answer) = channel();
        let body = move || work_through(cpu, &seated, &inbox);
        let name = format!("seatmap-cpu{cpu}");
        let refused = |source| CrewError::Pin { cpu, source };
        let thread = std::thread::Builder::new().name(name).spawn(body).map_err(refused)?;
        answer.recv().unwrap_or_else(|_| Err(io::Error::other("the thread died"))).map_err(refused)?;
        self.workers.insert(cpu, Worker { jobs: Some(jobs), thread: Some(thread) });
        Ok(())
    }

    fn dispatch(&self, cpu: u32, job: Job) {
        let jobs = self.workers.get(&cpu).and_then(|worker| worker.jobs.as_ref());
        // A job that is not taken is dropped together with its `report`, and the rank counts as lost.
        if let Some(jobs) = jobs {
            let _ = jobs.send(job);
        }
    }
}

/// Hands out a job that borrows from its caller.
fn lend<'a>(job: Box<dyn FnOnce() + Send + 'a>) -> Job {
    // SAFETY: only the lifetime changes. `Crew::run` returns no sooner than `collect`, which waits until every job has
    // either sent its report as its last act or been dropped, so nothing borrowed is touched afterwards.
    unsafe { std::mem::transmute::<Box<dyn FnOnce() + Send + 'a>, Job>(job) }
}

fn work_through(cpu: u32, seated: &Sender<io::Result<()>>, inbox: &Receiver<Job>) {
    let pinned = affinity::pin(&[cpu]);
    let stays = pinned.is_ok();
    let _ = seated.send(pinned);
    while stays && let Ok(job) = inbox.recv() {
        job();
    }
}

/// Waits until every sender is gone, which means that every job has ended. Sorts the reports by rank.
fn collect<T>(seats: &[u32], reports: &Receiver<(usize, Option<T>)>) -> Result<Vec<T>, CrewError> {
    let mut results: Vec<Option<T>> = seats.iter().map(|_| None).collect();
    for (rank, result) in reports {
        results[rank] = result;
    }
    let lost = |(result, cpu): (Option<T>, &u32)| result.ok_or(CrewError::Lost(*cpu));
    results.into_iter().zip(seats).map(lost).collect()
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_runs_on_its_seat() {
        let cpus = affinity::current().unwrap();
        let mut crew = Crew::default();
        for _ in 0..3 {
            let masks = crew.run(&cpus, &|_| affinity::current().unwrap()).unwrap();
            assert_eq!(masks, cpus.iter().map(|cpu| vec![*cpu]).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_refused_seat_and_a_panic_are_errors() {
        let cpu = affinity::current().unwrap()[0];
        let mut crew = Crew::default();
        assert!(matches!(crew.run(&[cpu, 500_000], &|_| ()), Err(CrewError::Pin { cpu: 500_000, .. })));
        assert!(matches!(crew.run(&[cpu, cpu], &|_| ()), Err(CrewError::Shared(shared)) if shared == cpu));
        assert!(matches!(crew.run(&[cpu], &|_| panic!("on purpose")), Err(CrewError::Lost(lost)) if lost == cpu));
        assert_eq!(crew.run(&[cpu], &|rank| rank).unwrap(), [0]);
    }
}
