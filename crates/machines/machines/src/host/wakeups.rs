//! Two threads that sleep and wake each other in turns, on two CPUs or on one.

use crate::host::HostClock;
use crate::host::crew::CrewError;
use crate::host::turn::TurnWord;
use seatmap_data::port::Stamp;
use seatmap_os::affinity;
use seatmap_os::partners::Loss;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Round trips before the first timed one: new threads touch their stacks, and an idle CPU leaves
/// its deepest state.
const WARM_UP: u32 = 20;

/// Times the round trips of sleeping threads. It has a clock, calibrated once.
pub struct HostWakeups {
    clock: HostClock,
}

/// Why wakeups could not be timed.
#[derive(Debug, thiserror::Error)]
pub enum WakeupError {
    /// A thread could not be pinned, or panicked.
    #[error(transparent)]
    Crew(#[from] CrewError),
    /// A thread ran on a CPU other than its own.
    #[error("the thread on CPU {cpu} was moved to CPU {found}: its times are invalid")]
    Moved {
        /// Its CPU.
        cpu: u32,
        /// CPU on which it ran.
        found: u32,
    },
    /// A system call failed.
    #[error("a wakeup thread failed")]
    System(#[from] io::Error),
}

impl Default for HostWakeups {
    fn default() -> Self {
        HostWakeups { clock: HostClock::calibrated() }
    }
}

impl HostWakeups {
    /// Batches of round trips of two new threads on these CPUs, which may be equal: nanoseconds for
    /// each round trip.
    ///
    /// # Errors
    /// A thread could not be pinned, ran on another CPU, or a system call failed.
    pub fn round_trips_ns(
        &self,
        cpus: [u32; 2],
        batches: u32,
        round_trips: u32,
    ) -> Result<Vec<f64>, WakeupError> {
        let (first_out, second_in) = channel();
        let (second_out, first_in) = channel();
        let turn = &TurnWord::default();
        let waits = WARM_UP + batches * round_trips;
        std::thread::scope(|scope| {
            let answering = spawn(scope, cpus[1], (second_out, second_in), move || {
                (0..waits).try_for_each(|_| turn.wait_for(1).and_then(|()| turn.pass_to(0)))
            })?;
            let asking = spawn(scope, cpus[0], (first_out, first_in), move || {
                self.ask(turn, batches, round_trips)
            })?;
            // The failed thread's error has the cause.
            match (joined(asking, cpus[0])?, joined(answering, cpus[1])?) {
                (Err(error @ WakeupError::Crew(_)), _) | (_, Err(error)) | (Err(error), _) => {
                    Err(error)
                }
                (Ok(stamps), Ok(())) => self.batches_ns(cpus[0], &stamps, round_trips),
            }
        })
    }

    fn ask(&self, turn: &TurnWord, batches: u32, round_trips: u32) -> io::Result<Vec<Stamp>> {
        let asks = |count: u32| {
            (0..count).try_for_each(|_| turn.pass_to(1).and_then(|()| turn.wait_for(0)))
        };
        asks(WARM_UP)?;
        let mut stamps = vec![self.clock.stamp()];
        for _ in 0..batches {
            asks(round_trips)?;
            stamps.push(self.clock.stamp());
        }
        Ok(stamps)
    }

    fn batches_ns(
        &self,
        cpu: u32,
        stamps: &[Stamp],
        round_trips: u32,
    ) -> Result<Vec<f64>, WakeupError> {
        if let Some(stamp) = stamps.iter().find(|stamp| stamp.pu != cpu) {
            return Err(WakeupError::Moved { cpu, found: stamp.pu });
        }
        let ns = self.clock.ns_per_tick() / f64::from(round_trips.max(1));
        Ok(stamps
            .windows(2)
            .map(|two| two[1].ticks.wrapping_sub(two[0].ticks) as f64 * ns)
            .collect())
    }
}

type WakeupThread<'scope, T> = ScopedJoinHandle<'scope, Result<T, WakeupError>>;

/// Starts a thread that works once both are pinned. An unpinnable thread drops its end of the
/// channel, so neither waits forever.
fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    cpu: u32,
    (ready, other): (Sender<()>, Receiver<()>),
    work: impl FnOnce() -> io::Result<T> + Send + 'scope,
) -> Result<WakeupThread<'scope, T>, CrewError> {
    let started = Builder::new().name("seatmap-wakeup".into()).spawn_scoped(scope, move || {
        affinity::pin(&[cpu]).map_err(|source| CrewError::Pin { cpu, source })?;
        // The other end is dropped only if its thread failed; `recv` then fails.
        let _ = ready.send(());
        let met = other.recv();
        met.map_err(|_| io::Error::other("the other thread could not be pinned"))?;
        Ok(work()?)
    });
    started.map_err(|source| CrewError::Pin { cpu, source })
}

fn joined<T>(thread: WakeupThread<'_, T>, cpu: u32) -> Result<Result<T, WakeupError>, CrewError> {
    thread.join().map_err(|_| CrewError::Lost(Loss::Panicked { cpu }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_wake_each_other_on_one_or_two_cpus() {
        let cpus = affinity::current().unwrap();
        let first = cpus[0];
        let last = cpus[cpus.len() - 1];
        for pair in [[first, first], [first, last]] {
            let times = HostWakeups::default().round_trips_ns(pair, 3, 5).unwrap();
            assert!(times.len() == 3 && times.iter().all(|ns| *ns > 0.0), "{times:?}");
        }
    }

    #[test]
    fn absent_cpu_is_refused_without_a_hang() {
        let cpu = affinity::current().unwrap()[0];
        for pair in [[cpu, 1 << 20], [1 << 20, cpu]] {
            let error = HostWakeups::default().round_trips_ns(pair, 1, 1).unwrap_err().to_string();
            assert_eq!(error, format!("cannot pin a thread to CPU {}", 1 << 20));
        }
    }
}
