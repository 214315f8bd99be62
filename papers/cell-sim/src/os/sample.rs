//! The state of a thread of this process at an instant, as a number. A thread that has the same
//! number twice, and whose other memory has not changed, does the same for ever.
//!
//! A signal makes the thread look at itself. [`of`] asks another thread; [`Ticks`] makes the
//! calling one look again and again while it uses its CPU. The two highest real-time signals are
//! taken for that.

use seatmap_os::Tid;
use std::time::Duration;

/// A thread at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadSample {
    /// Where it executes.
    pub at: u64,
    /// Its stack pointer.
    pub stack: u64,
    /// A number for its registers, with those for vectors, and without the next one.
    pub registers: u64,
    /// The register in which some programs count what they do: r15 of x86-64.
    pub counter: u64,
    /// A number for the end of its stack.
    pub top: u64,
}

/// A sample of another thread of this process; `None` if it does not come within a time, or cannot
/// be had here.
///
/// A thread that waits for a CPU is in the same state in two samples, so callers see to it that it
/// works between them ([`cpu_ns`](seatmap_os::usage::cpu_ns)).
#[must_use]
pub fn of(tid: Tid, within: Duration) -> Option<ThreadSample> {
    machine::of(tid, within)
}

/// The state of a thread that looks at itself. It is called in a signal handler, on a stack of its
/// own: it may read and write memory, and nothing else. True says that the thread does the same for
/// ever, its counter aside: it goes once more through all that it does, and is then
/// [interrupted](SampleHandler) at a place that does not depend on chance.
pub type SampleCheck = fn(ThreadSample) -> bool;

/// Called on the thread's own stack, where it was interrupted; the thread goes on there when it
/// returns.
pub type SampleHandler = fn(ThreadSample);

/// The calling thread looks at itself for each time that it has used its CPU so long. It must not
/// end while this lives.
#[derive(Debug)]
pub struct Ticks {
    _machine: machine::Ticks,
}

impl Ticks {
    /// Begins; one thread of a process can.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn begin(
        every: Duration,
        look: SampleCheck,
        interrupt: SampleHandler,
    ) -> std::io::Result<Self> {
        Ok(Ticks { _machine: machine::Ticks::begin(every, look, interrupt)? })
    }
}

#[cfg(target_arch = "x86_64")]
mod machine;

#[cfg(not(target_arch = "x86_64"))]
mod machine {
    use super::{SampleCheck, SampleHandler, ThreadSample};
    use seatmap_os::Tid;
    use std::time::Duration;

    pub fn of(_: Tid, _: Duration) -> Option<ThreadSample> {
        None
    }

    #[derive(Debug)]
    pub struct Ticks;

    impl Ticks {
        pub fn begin(_: Duration, _: SampleCheck, _: SampleHandler) -> std::io::Result<Self> {
            Err(std::io::Error::from(std::io::ErrorKind::Unsupported))
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use seatmap_os::task;
    use seatmap_os::usage::cpu_ns;
    use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

    const PATIENCE: Duration = Duration::from_secs(20);

    /// Tells a thread to stop, even if the test fails.
    struct Stops<'a>(&'a AtomicBool);

    impl Drop for Stops<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
        }
    }

    /// A thread that does something until it is told to stop, and its number.
    fn with_thread(work: fn(&AtomicBool), look: impl FnOnce(Tid)) {
        let stop = AtomicBool::new(false);
        let tid = AtomicI32::new(0);
        std::thread::scope(|scope| {
            let _stops = Stops(&stop);
            scope.spawn(|| {
                tid.store(task::own_tid(), Ordering::Release);
                work(&stop);
            });
            while tid.load(Ordering::Acquire) == 0 {
                std::thread::yield_now();
            }
            look(tid.load(Ordering::Acquire));
        });
    }

    /// Waits until a thread has worked for a while.
    fn let_work(tid: Tid) {
        let since_ns = cpu_ns(tid).unwrap_or(0);
        while cpu_ns(tid).unwrap_or(u64::MAX) < since_ns + 200_000 {
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    /// Whether one of many samples is like an earlier one.
    fn repeats(tid: Tid) -> bool {
        let mut seen = std::collections::HashSet::new();
        (0..64).any(|_| {
            let_work(tid);
            !seen.insert(of(tid, PATIENCE).expect("it answers"))
        })
    }

    #[test]
    fn a_thread_that_waits_for_memory_repeats_itself() {
        with_thread(
            |stop| while !stop.load(Ordering::Relaxed) {},
            |tid| {
                // The thread may not have come to its loop when it is asked first.
                assert!((0..1000).any(|_| repeats(tid)));
            },
        );
    }

    #[test]
    fn a_thread_that_counts_does_not() {
        with_thread(
            |stop| {
                let mut number = 0_u64;
                while !stop.load(Ordering::Relaxed) {
                    number = std::hint::black_box(number + 1);
                }
            },
            |tid| {
                // Until it counts, it may wait for memory like any other.
                (0..50).for_each(|_| let_work(tid));
                assert!(!repeats(tid));
            },
        );
    }

    static TICKS: AtomicU64 = AtomicU64::new(0);
    static FLAG: AtomicU64 = AtomicU64::new(0);
    static INTERRUPTS: [AtomicU64; 8] = [const { AtomicU64::new(0) }; 8];

    /// Waits for a flag and counts in r15 how often it looks: the loop's first instruction is the
    /// lowest.
    fn spin() {
        // SAFETY: reads a flag; the register is restored.
        unsafe {
            std::arch::asm!(
                "push r15", "xor r15d, r15d",
                "2: lea r15, [r15 + 3]", "mov rax, [{flag}]", "test rax, rax", "jz 2b",
                "pop r15",
                flag = in(reg) FLAG.as_ptr(), out("rax") _,
            );
        }
    }

    #[test]
    fn a_thread_that_spins_is_interrupted_at_the_same_place_again() {
        let work = || {
            let _ticks = Ticks::begin(
                Duration::from_millis(1),
                |sample| sample.at != 0 && TICKS.fetch_add(1, Ordering::Relaxed) > 0,
                |sample| {
                    let place = INTERRUPTS.iter().find(|place| place.load(Ordering::Relaxed) == 0);
                    if let Some(place) = place {
                        place.store(sample.at, Ordering::Relaxed);
                    }
                    assert_eq!(sample.counter % 3, 0);
                    // The last one ends the loop.
                    FLAG.store(
                        u64::from(INTERRUPTS[7].load(Ordering::Relaxed) != 0),
                        Ordering::Relaxed,
                    );
                },
            )
            .unwrap();
            spin();
            INTERRUPTS.each_ref().map(|place| place.load(Ordering::Relaxed))
        };
        let places = std::thread::spawn(work).join().unwrap();
        assert!(places.iter().all(|place| *place == places[0]), "{places:x?}");
    }
}
