//! Pinned threads that stream through memory: each reads, writes or adds its own arrays.

use crate::host::HostClock;
use crate::host::crew::{Crew, CrewError};
use crate::host::together::Together;
use seatmap_data::machine::StreamKernel;
use seatmap_data::port::Stamp;
use seatmap_os::memory::ask_for_huge_pages;
use seatmap_os::partners::PartnerThread;
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};

/// A batch's duration. Long enough for thousands of clock reads, and shorter than a scheduler's
/// time slice, so an interruption spoils few batches.
pub const BATCH_NS: f64 = 2e6;

/// Batches of a visit, after one to warm up.
pub const BATCHES: usize = 8;

/// A thread that reaches the end of a batch later than this share of its duration was interrupted.
const LATE: f64 = 0.1;

/// Words between two reads of the clock, in each array: 32 KiB, some microseconds.
const CHUNK: usize = 4096;

/// Sums simultaneously: additions wait for each other only within a sum. With 16 words the compiler
/// fills vectors of any width.
const SUMS: usize = 16;

/// Arrays that start at equal offsets in their pages would compete for the same sets of a cache,
/// and loads would seem to depend on stores (Intel, Optimization Reference Manual, 4-KByte
/// aliasing). This many words are neither a page nor a divisor of one.
const SKEW: usize = 168;

/// Pinned threads, each with memory that it touched first.
pub struct HostStreams {
    crew: Crew,
    clock: HostClock,
    parts: HashMap<u32, Mutex<StreamPart>>,
}

/// Why memory could not be streamed.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// A thread could not be pinned, or lost its CPU.
    #[error(transparent)]
    Crew(#[from] CrewError),
    /// The kernel refused memory.
    #[error("cannot allocate {} MiB for the thread on CPU {cpu}", .bytes >> 20)]
    Memory {
        /// Thread's CPU.
        cpu: u32,
        /// Refused size.
        bytes: usize,
    },
}

/// A thread's memory, used as three arrays.
struct StreamPart {
    words: Vec<f64>,
    at: usize,
}

/// A thread at the end of a batch.
#[derive(Clone, Copy)]
struct BatchEnd {
    stamp: Stamp,
    /// Bytes since the end before.
    bytes: usize,
    late_ticks: u64,
}

impl HostStreams {
    /// Gives each of these CPUs' threads this many bytes, which it touches itself, so the kernel
    /// places them on the thread's NUMA node.
    ///
    /// # Errors
    /// [`StreamError`].
    pub fn new(parts: &[(u32, usize)]) -> Result<Self, StreamError> {
        let mut crew = Crew::default();
        let cpus: Vec<u32> = parts.iter().map(|(cpu, _)| *cpu).collect();
        let touched = crew.run(&cpus, &|rank| StreamPart::touched(parts[rank].1))?;
        let parts = parts.iter().zip(touched).map(|((cpu, bytes), part)| {
            let part = part.ok_or(StreamError::Memory { cpu: *cpu, bytes: *bytes })?;
            Ok((*cpu, Mutex::new(part)))
        });
        let parts = parts.collect::<Result<_, StreamError>>()?;
        Ok(HostStreams { crew, clock: HostClock::calibrated(), parts })
    }

    /// The rates of undisturbed batches of these threads together, in 10^9 bytes per second. Each
    /// thread uses the given bytes of its memory, at most all, and continues where it stopped.
    ///
    /// # Errors
    /// [`StreamError::Crew`].
    pub fn rates_gbps(
        &mut self,
        kernel: StreamKernel,
        threads: &[(u32, usize)],
    ) -> Result<Vec<f64>, StreamError> {
        let clock = &self.clock;
        let parts = &self.parts;
        let batch_ticks = (BATCH_NS / clock.ns_per_tick()) as u64;
        let together = &Together::default();
        let cpus: Vec<u32> = threads.iter().map(|(cpu, _)| *cpu).collect();
        let ends = self.crew.run_together(&cpus, &|seat: &PartnerThread| {
            let (cpu, bytes) = threads[seat.rank()];
            let mut part = parts.get(&cpu).map(lock);
            let began = together.begin(threads.len(), clock, || seat.check());
            let ends = (1..=BATCHES as u64 + 1).map(|batch| {
                let until = began + batch * batch_ticks;
                part.as_mut().map(|part| part.stream(kernel, bytes, until, clock))
            });
            ends.collect::<Option<Vec<BatchEnd>>>().unwrap_or_default()
        })?;
        Ok(batch_rates(&cpus, &ends, batch_ticks, clock.ns_per_tick()))
    }
}

/// A thread that panicked has left numbers in its memory, whatever they are.
fn lock(part: &Mutex<StreamPart>) -> std::sync::MutexGuard<'_, StreamPart> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The summed rate of each batch that all threads began and ended in time, on their CPUs.
fn batch_rates(
    cpus: &[u32],
    ends: &[Vec<BatchEnd>],
    batch_ticks: u64,
    ns_per_tick: f64,
) -> Vec<f64> {
    let latest = (LATE * batch_ticks as f64) as u64;
    let rates = (1..=BATCHES).map(|batch| {
        let mut sum_gbps = 0.0;
        for (cpu, ends) in cpus.iter().zip(ends) {
            let both = [*ends.get(batch - 1)?, *ends.get(batch)?];
            if both.iter().any(|end| end.stamp.pu != *cpu || end.late_ticks > latest) {
                return None;
            }
            let [before, end] = both;
            let ticks = end.stamp.ticks.saturating_sub(before.stamp.ticks).max(1);
            sum_gbps += end.bytes as f64 / (ticks as f64 * ns_per_tick);
        }
        Some(sum_gbps)
    });
    rates.flatten().collect()
}

impl StreamPart {
    /// Written by the calling thread; `None` if the kernel refuses the memory.
    fn touched(bytes: usize) -> Option<Self> {
        let words = (bytes / size_of::<f64>()).max(3 * (CHUNK + SKEW));
        let mut memory = Vec::new();
        memory.try_reserve_exact(words).ok()?;
        ask_for_huge_pages(memory.spare_capacity_mut());
        memory.resize(words, 1.0);
        Some(StreamPart { words: memory, at: 0 })
    }

    /// Streams through this many bytes until a value of the clock.
    fn stream(
        &mut self,
        kernel: StreamKernel,
        bytes: usize,
        until_ticks: u64,
        clock: &HostClock,
    ) -> BatchEnd {
        let words = (bytes / size_of::<f64>()).min(self.words.len());
        let array = (words / 3 / CHUNK).max(1) * CHUNK + SKEW;
        let array = array.min(self.words.len() / 3);
        let mut streamed = 0;
        loop {
            let from = if self.at < array { self.at } else { 0 };
            self.at = (from + CHUNK).min(array);
            let (a, rest) = self.words.split_at_mut(array);
            let (b, c) = rest.split_at_mut(array);
            let chunk = from..self.at;
            streamed += 3 * size_of::<f64>() * chunk.len();
            let chunks = [&mut a[chunk.clone()], &mut b[chunk.clone()], &mut c[chunk]];
            pass(kernel, chunks);
            let stamp = clock.stamp();
            if stamp.ticks >= until_ticks {
                let late_ticks = stamp.ticks - until_ticks;
                return BatchEnd { stamp, bytes: streamed, late_ticks };
            }
        }
    }
}

/// One pass over equal parts of three arrays. The compiler cannot know the values, so it keeps
/// every read and write; they stay 1, because ever smaller ones would become slow.
fn pass(kernel: StreamKernel, [a, b, c]: [&mut [f64]; 3]) {
    match kernel {
        StreamKernel::Read => [a, b, c].into_iter().for_each(|words| {
            black_box(sum(words));
        }),
        StreamKernel::Write => [a, b, c].into_iter().for_each(|words| words.fill(black_box(1.0))),
        StreamKernel::Triad => {
            let scale = black_box(0.0);
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                *a = *b + scale * *c;
            }
        }
    }
}

fn sum(words: &[f64]) -> f64 {
    let mut sums = [0.0; SUMS];
    for group in words.chunks_exact(SUMS) {
        for (sum, word) in sums.iter_mut().zip(group) {
            *sum += word;
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_os::affinity;

    #[test]
    fn every_kernel_streams_on_one_and_all_cpus() {
        let cpus = affinity::current().unwrap();
        let parts: Vec<(u32, usize)> = cpus.iter().map(|cpu| (*cpu, 1 << 20)).collect();
        let mut streams = HostStreams::new(&parts).unwrap();
        for kernel in StreamKernel::ALL {
            for threads in [&parts[..1], &parts] {
                let rates = streams.rates_gbps(kernel, threads).unwrap();
                assert!(rates.len() <= BATCHES, "{rates:?}");
                assert!(rates.iter().all(|gbps| *gbps > 0.0), "{kernel:?} {rates:?}");
            }
        }
        assert!(streams.rates_gbps(StreamKernel::Read, &[(500_000, 1)]).is_err());
    }

    #[test]
    fn refused_memory_is_an_error() {
        let cpu = affinity::current().unwrap()[0];
        let error = HostStreams::new(&[(cpu, usize::MAX / 4)]).err().unwrap().to_string();
        assert!(error.ends_with(&format!(" MiB for the thread on CPU {cpu}")), "{error}");
    }

    #[test]
    fn stream_visits_every_word_of_its_arrays() {
        let mut part = StreamPart::touched(3 * 8 * (3 * CHUNK + SKEW)).unwrap();
        let array = part.words.len() / 3;
        assert_eq!(array, 3 * CHUNK + SKEW);
        part.words.fill(5.0);
        let clock = HostClock::calibrated();
        let mut bytes = 0;
        for _ in 0..4 {
            bytes += part.stream(StreamKernel::Write, usize::MAX, 0, &clock).bytes;
        }
        assert_eq!((bytes, part.at), (3 * 8 * array, array));
        assert!(part.words.iter().all(|word| *word == 1.0));
        part.words[..array].fill(7.0);
        part.stream(StreamKernel::Triad, usize::MAX, 0, &clock);
        assert_eq!(part.words[0], 1.0, "a = b + 0 c, from the start again");
        assert_eq!((part.words[CHUNK], part.at), (7.0, CHUNK));
    }

    fn end(ticks: u64, bytes: usize, late_ticks: u64, pu: u32) -> BatchEnd {
        BatchEnd { stamp: Stamp { ticks, pu }, bytes, late_ticks }
    }

    #[test]
    fn disturbed_batches_are_dropped_on_all_threads() {
        let steady = |pu| (0..=8).map(|at| end(1000 * (at + 1), 4000, 0, pu)).collect::<Vec<_>>();
        let rates = |ends: &[Vec<BatchEnd>]| batch_rates(&[0, 1], ends, 1000, 0.5);
        assert_eq!(rates(&[steady(0), steady(1)]), [16.0; 8]);
        let mut late = steady(1);
        late[3] = end(4500, 4000, 500, 1);
        assert_eq!(rates(&[steady(0), late]), [16.0; 6], "on both sides of the late end");
        let mut moved = steady(1);
        moved[8].stamp.pu = 2;
        assert_eq!(rates(&[steady(0), moved]).len(), 7);
        assert_eq!(rates(&[steady(0), Vec::new()]), [0.0; 0]);
    }

    #[test]
    fn sums_are_of_all_words() {
        let words: Vec<f64> = (0..64).map(f64::from).collect();
        assert_eq!(sum(&words), 2016.0);
    }
}
