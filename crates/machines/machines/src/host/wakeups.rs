//! Two threads that sleep and wake each other in turns, on two CPUs or on one.

use crate::host::HostClock;
use crate::host::crew::CrewError;
use crate::host::primitives::{PrimitiveError, TurnWord};
use seatmap_data::port::Stamp;
use seatmap_os::affinity;
use seatmap_os::partners::Loss;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Round trips before the first timed one: new threads touch their stacks, and an idle CPU leaves
/// its deepest state.
const WARM_UP: u32 = 20;

/// Times the round trips of sleeping threads. It has a clock, calibrated once.
pub struct HostWakeups {
    clock: HostClock,
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
    ) -> Result<Vec<f64>, PrimitiveError> {
        let (first_out, second_in) = channel();
        let (second_out, first_in) = channel();
        let turn = &TurnWord::default();
        let waits = WARM_UP + batches * round_trips;
        std::thread::scope(|scope| {
            let answering = builder()
                .spawn_scoped(scope, move || {
                    meet(cpus[1], &second_out, &second_in)?;
                    (0..waits)
                        .try_for_each(|_| turn.wait_for(1).and_then(|()| turn.pass_to(0)))
                        .map_err(failed)
                })
                .map_err(|source| CrewError::Pin { cpu: cpus[1], source })?;
            let asking = builder()
                .spawn_scoped(scope, move || {
                    meet(cpus[0], &first_out, &first_in)?;
                    self.ask(turn, batches, round_trips).map_err(failed)
                })
                .map_err(|source| CrewError::Pin { cpu: cpus[0], source })?;
            let of_asker = asking.join().map_err(|_| panicked(cpus[0]))?;
            let of_answerer = answering.join().map_err(|_| panicked(cpus[1]))?;
            // The failed thread's error has the cause.
            match (of_asker, of_answerer) {
                (Err(of_asker), Err(of_answerer)) => {
                    Err(if matches!(&of_asker, PrimitiveError::Crew(_)) {
                        of_asker
                    } else {
                        of_answerer
                    })
                }
                (of_asker, of_answerer) => of_answerer
                    .and(of_asker)
                    .and_then(|stamps| self.batches_ns(cpus[0], &stamps, round_trips)),
            }
        })
    }

    fn ask(&self, turn: &TurnWord, batches: u32, round_trips: u32) -> io::Result<Vec<Stamp>> {
        (0..WARM_UP).try_for_each(|_| turn.pass_to(1).and_then(|()| turn.wait_for(0)))?;
        let mut stamps = vec![self.clock.stamp()];
        for _ in 0..batches {
            (0..round_trips).try_for_each(|_| turn.pass_to(1).and_then(|()| turn.wait_for(0)))?;
            stamps.push(self.clock.stamp());
        }
        Ok(stamps)
    }

    fn batches_ns(
        &self,
        cpu: u32,
        stamps: &[Stamp],
        round_trips: u32,
    ) -> Result<Vec<f64>, PrimitiveError> {
        if let Some(stamp) = stamps.iter().find(|stamp| stamp.pu != cpu) {
            return Err(PrimitiveError::Moved { cpu, found: stamp.pu });
        }
        let ns = self.clock.ns_per_tick() / f64::from(round_trips.max(1));
        Ok(stamps
            .windows(2)
            .map(|two| two[1].ticks.wrapping_sub(two[0].ticks) as f64 * ns)
            .collect())
    }
}

fn builder() -> std::thread::Builder {
    std::thread::Builder::new().name("seatmap-wakeup".into())
}

/// Pins the calling thread, and waits until the other one is pinned. A thread that cannot be pinned
/// drops its end of the channel, so that neither waits forever.
fn meet(cpu: u32, ready: &Sender<()>, other: &Receiver<()>) -> Result<(), PrimitiveError> {
    affinity::pin(&[cpu]).map_err(|source| CrewError::Pin { cpu, source })?;
    // The other end is dropped only if its thread failed; `recv` then fails.
    let _ = ready.send(());
    other.recv().map_err(|_| failed(io::Error::other("the other thread could not be pinned")))
}

fn failed(source: io::Error) -> PrimitiveError {
    PrimitiveError::system("a wakeup thread failed")(source)
}

fn panicked(cpu: u32) -> CrewError {
    CrewError::Lost(Loss::Panicked { cpu })
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
