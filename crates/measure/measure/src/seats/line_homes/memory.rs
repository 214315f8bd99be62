//! The program's memory as a testbed for threads of this process.

use super::{CandidateLines, find};
use seatmap_data::machine::Profile;
use seatmap_data::port::{Addr, LINE_BYTES, Port, Stamp, Testbed, WORDS_PER_LINE, Workload};
use seatmap_os::affinity;
use seatmap_place::PlaceError;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// Reading the clock takes about 20 to 40 ns on x86-64, and Arm's counter often has steps of 40 ns.
const CLOCK_STEP_NS: f64 = 32.0;
/// Several times the time of a line on an idle machine, plus an acceptable delay.
const MOST_TIME: Duration = Duration::from_secs(1);
const MOST_TIME_A_LINE: Duration = Duration::from_millis(4);
/// Loads of a waiting thread between two readings of the clock, about a tenth of a millisecond.
const LOOKS: u32 = 1 << 12;

/// The home of each line of this memory, as from [`find`]; restores its contents. No other thread
/// may use it meanwhile.
///
/// # Errors
///
/// The memory does not start at a line or is too large, or an error of [`find`].
pub fn homes_of(
    memory: &[AtomicU64],
    profile: &Profile,
    cpus: Option<&[u32]>,
) -> Result<Vec<Option<u32>>, PlaceError> {
    if !memory.as_ptr().addr().is_multiple_of(LINE_BYTES) {
        return Err(PlaceError::Unfit(format!(
            "memory for channels must start at a multiple of {LINE_BYTES} bytes"
        )));
    }
    let count =
        u32::try_from(memory.len()).ok().filter(|words| *words <= u32::MAX - WORDS_PER_LINE);
    let count = count.ok_or_else(|| {
        PlaceError::Unfit("memory for channels must have at most 2^32 words".to_owned())
    })?;
    let words: Vec<Addr> = (1..=count / WORDS_PER_LINE).map(Addr::line).collect();
    let mut own = OwnMemory::new(memory, MOST_TIME + MOST_TIME_A_LINE * words.len() as u32);
    let before: Vec<u64> = words.iter().map(|word| own.at(*word).load(Ordering::Acquire)).collect();
    let found = find(
        &mut own,
        profile,
        cpus,
        &CandidateLines { words: words.clone(), meeting: Addr::line(0) },
    );
    words
        .iter()
        .zip(before)
        .for_each(|(word, before)| own.at(*word).store(before, Ordering::Release));
    found
}

/// Line 0 is a separate word for the threads' meeting.
#[repr(align(128))]
struct OwnMemory<'a> {
    meeting: AtomicU64,
    words: &'a [AtomicU64],
    start: Instant,
    most: Duration,
    is_over: AtomicBool,
}

impl<'a> OwnMemory<'a> {
    fn new(words: &'a [AtomicU64], most: Duration) -> Self {
        OwnMemory {
            meeting: AtomicU64::new(0),
            words,
            start: Instant::now(),
            most,
            is_over: AtomicBool::new(false),
        }
    }

    fn at(&self, word: Addr) -> &AtomicU64 {
        word.0.checked_sub(WORDS_PER_LINE).map_or(&self.meeting, |at| &self.words[at as usize])
    }
}

impl Testbed for OwnMemory<'_> {
    type Error = io::Error;

    /// Uses new threads, so the calling one stays in place.
    fn run<W: Workload>(&mut self, seats: &[u32], workload: &W) -> io::Result<Vec<W::Output>> {
        let own = &*self;
        let all_sit = &OnceLock::<bool>::new();
        let (pinned, pins) = channel();
        std::thread::scope(|scope| {
            let threads: Vec<_> = seats
                .iter()
                .enumerate()
                .map(|(rank, &cpu)| {
                    let pinned = pinned.clone();
                    std::thread::Builder::new().name(format!("seatmap-home{rank}")).spawn_scoped(
                        scope,
                        move || {
                            let _ = pinned.send(affinity::pin(&[cpu]));
                            all_sit.wait().then(|| workload.task(own, rank))
                        },
                    )
                })
                .collect();
            let started = threads.iter().filter(|thread| thread.is_ok()).count();
            let refused =
                pins.iter().take(started).filter_map(Result::err).reduce(|first, _| first);
            // Always set, because the pinned threads wait for it.
            let _ = all_sit.set(refused.is_none() && started == seats.len());
            let outputs: io::Result<Vec<W::Output>> = threads
                .into_iter()
                .map(|thread| {
                    let output = thread?.join().ok().flatten();
                    output.ok_or_else(|| io::Error::other("a measuring thread failed"))
                })
                .collect();
            if let Some(error) = refused {
                return Err(error);
            }
            if self.is_over.load(Ordering::Relaxed) {
                return Err(io::Error::other(
                    "cannot find the homes of lines: other work keeps the CPUs busy",
                ));
            }
            outputs
        })
    }

    fn pus(&self) -> &[u32] {
        &[]
    }

    fn ns_per_tick(&self) -> f64 {
        1.0
    }

    fn clock_step_ns(&self) -> f64 {
        CLOCK_STEP_NS
    }
}

impl Port for OwnMemory<'_> {
    fn load(&self, word: Addr) -> u64 {
        self.at(word).load(Ordering::Acquire)
    }

    fn store(&self, word: Addr, value: u64) {
        self.at(word).store(value, Ordering::Release);
    }

    fn fetch_add(&self, word: Addr, value: u64) -> u64 {
        self.at(word).fetch_add(value, Ordering::AcqRel)
    }

    fn compare_exchange(&self, word: Addr, current: u64, new: u64) -> Result<u64, u64> {
        self.at(word).compare_exchange(current, new, Ordering::AcqRel, Ordering::Acquire)
    }

    /// After the time limit, returns a value that ends any wait.
    fn wait_while(&self, word: Addr, value: u64) -> u64 {
        let word = self.at(word);
        while !self.is_over.load(Ordering::Relaxed) {
            // Reading the clock lengthens round trips.
            for _ in 0..LOOKS {
                let found = word.load(Ordering::Acquire);
                if found != value {
                    return found;
                }
                std::hint::spin_loop();
            }
            self.is_over.fetch_or(self.start.elapsed() > self.most, Ordering::Relaxed);
        }
        !value
    }

    fn stamp(&self) -> Stamp {
        Stamp { ticks: self.start.elapsed().as_nanos() as u64, pu: 0 }
    }

    fn compute(&self, _cycles: u64) {}
}

#[cfg(test)]
mod tests;
