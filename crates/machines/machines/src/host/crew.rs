//! One pinned thread for each PU, kept from run to run.

use seatmap_os::affinity;
use seatmap_os::partners::{Loss, PartnerThread, Partners};
use std::collections::HashMap;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

type Job = Box<dyn FnOnce() + Send + 'static>;

/// Pinned worker threads, created on first use and kept: a matrix visits each PU thousands of
/// times, and creating a thread costs more than a visit.
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
    #[error("cannot pin a thread to CPU {cpu}")]
    Pin {
        /// CPU.
        cpu: u32,
        /// Kernel's error.
        source: io::Error,
    },
    /// One run has the same CPU twice.
    #[error("CPU {0} was given two tasks at once")]
    Shared(u32),
    /// A thread lost its CPU or panicked, and the others stopped waiting for it.
    #[error(transparent)]
    Lost(#[from] Loss),
}

impl Crew {
    /// Runs `work(rank)` for every rank at once, rank r on the CPU `seats[r]`. Returns the results
    /// by rank.
    ///
    /// # Errors
    /// The errors of [`Crew::run_together`].
    pub fn run<T: Send>(
        &mut self,
        seats: &[u32],
        work: &(impl Fn(usize) -> T + Sync),
    ) -> Result<Vec<T>, CrewError> {
        self.run_together(seats, &|seat: &PartnerThread| work(seat.rank()))
    }

    /// [`Crew::run`] for work that waits for other ranks: its waits check their CPU
    /// ([`PartnerThread::check`]), and end if another rank has panicked or lost its CPU.
    ///
    /// # Errors
    /// [`CrewError`]. No work begins if a thread cannot be pinned. A panic in one rank, or a CPU
    /// lost during the run, becomes an error after all ranks have ended.
    pub fn run_together<T: Send>(
        &mut self,
        seats: &[u32],
        work: &(impl Fn(&PartnerThread) -> T + Sync),
    ) -> Result<Vec<T>, CrewError> {
        if let Some(cpu) =
            seats.iter().enumerate().find_map(|(at, cpu)| seats[..at].contains(cpu).then_some(*cpu))
        {
            return Err(CrewError::Shared(cpu));
        }
        seats.iter().try_for_each(|cpu| self.hire(*cpu))?;
        let partners = Partners::default();
        let (report, reports) = channel();
        for (rank, cpu) in seats.iter().enumerate() {
            let report = report.clone();
            let partners = &partners;
            self.dispatch(
                *cpu,
                lend(Box::new(move || {
                    let result = partners.work(rank, *cpu, work);
                    // The receiver lives until every rank has reported.
                    let _ = report.send((rank, result));
                })),
                partners,
            );
        }
        drop(report);
        collect(seats, &reports, &partners)
    }

    fn hire(&mut self, cpu: u32) -> Result<(), CrewError> {
        if self.workers.contains_key(&cpu) {
            return Ok(());
        }
        let (jobs, inbox) = channel::<Job>();
        let (seated, answer) = channel();
        let name = format!("seatmap-cpu{cpu}");
        let thread = std::thread::Builder::new()
            .name(name)
            .spawn(move || work_through(cpu, &seated, &inbox));
        let thread = thread
            .and_then(|thread| {
                let pinned = answer.recv();
                pinned.unwrap_or_else(|_| Err(io::Error::other("the thread exited")))?;
                Ok(thread)
            })
            .map_err(|source| CrewError::Pin { cpu, source })?;
        self.workers.insert(cpu, Worker { jobs: Some(jobs), thread: Some(thread) });
        Ok(())
    }

    /// A job that no worker takes is dropped with its `report`, and its rank is lost.
    fn dispatch(&self, cpu: u32, job: Job, partners: &Partners) {
        let jobs = self.workers.get(&cpu).and_then(|worker| worker.jobs.as_ref());
        let is_taken = jobs.is_some_and(|jobs| jobs.send(job).is_ok());
        if !is_taken {
            partners.lose(Loss::Ended { cpu });
        }
    }
}

/// Extends the lifetime of a job that borrows from its caller.
fn lend<'a>(job: Box<dyn FnOnce() + Send + 'a>) -> Job {
    // SAFETY: only the lifetime changes. `Crew::run` returns no sooner than `collect`, which waits
    // until every job has either sent its report as its last act or been dropped, so nothing
    // borrowed is touched afterwards.
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

/// Waits until every sender is dropped and so every job has ended. Sorts the reports by rank.
fn collect<T>(
    seats: &[u32],
    reports: &Receiver<(usize, Option<T>)>,
    partners: &Partners,
) -> Result<Vec<T>, CrewError> {
    let mut results: Vec<Option<T>> = seats.iter().map(|_| None).collect();
    for (rank, result) in reports {
        results[rank] = result;
    }
    if let Some(loss) = partners.loss() {
        return Err(loss.clone().into());
    }
    results
        .into_iter()
        .zip(seats)
        .map(|(result, cpu)| result.ok_or(CrewError::Lost(Loss::Ended { cpu: *cpu })))
        .collect()
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
    fn every_rank_runs_on_its_cpu() {
        let cpus = affinity::current().unwrap();
        let mut crew = Crew::default();
        for _ in 0..3 {
            let masks = crew.run(&cpus, &|_| affinity::current().unwrap()).unwrap();
            assert_eq!(masks, cpus.iter().map(|cpu| vec![*cpu]).collect::<Vec<_>>());
        }
    }

    #[test]
    fn refused_cpu_and_panic_are_errors() {
        let cpu = affinity::current().unwrap()[0];
        let mut crew = Crew::default();
        assert!(matches!(
            crew.run(&[cpu, 500_000], &|_| ()),
            Err(CrewError::Pin { cpu: 500_000, .. })
        ));
        assert!(
            matches!(crew.run(&[cpu, cpu], &|_| ()), Err(CrewError::Shared(shared)) if shared == cpu)
        );
        let panicked = crew.run(&[cpu], &|_| panic!("on purpose"));
        assert!(
            matches!(panicked, Err(CrewError::Lost(Loss::Panicked { cpu: lost })) if lost == cpu)
        );
        assert_eq!(crew.run(&[cpu], &|rank| rank).unwrap(), [0]);
    }
    fn with_a_failure(fail: impl Fn(u32) + Sync) -> Option<(CrewError, [u32; 2])> {
        let cpus = affinity::current().unwrap();
        let Some([first, second]) = cpus.first_chunk::<2>().copied() else {
            seatmap_needs::skipped!("this needs two CPUs");
            return None;
        };
        let result =
            Crew::default().run_together(
                &[first, second],
                &|seat: &PartnerThread| match seat.rank() {
                    0 => loop {
                        seat.check();
                    },
                    _ => fail(first),
                },
            );
        Some((result.unwrap_err(), [first, second]))
    }

    #[test]
    fn panicking_rank_frees_the_waiting_ones() {
        let Some((error, [_, second])) = with_a_failure(|_| panic!("on purpose")) else { return };
        assert_eq!(error.to_string(), format!("the thread on CPU {second} panicked"));
    }

    #[test]
    fn moved_rank_frees_the_others_and_is_named() {
        let Some((error, [_, second])) = with_a_failure(|other| affinity::pin(&[other]).unwrap())
        else {
            return;
        };
        let told = error.to_string();
        assert!(told.starts_with(&format!("the thread on CPU {second} was moved ")), "{told}");
    }
}
