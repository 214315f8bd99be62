//! The state of a thread of this process at an instant, as hashes. A thread with the same state
//! twice, and no change of its other memory in between, repeats itself forever.
//!
//! A signal makes the thread sample itself. [`of`] samples another thread; [`Ticks`] makes the
//! calling thread sample itself repeatedly while it uses its CPU. This module uses the two highest
//! real-time signals.

use seatmap_os::Tid;
use std::time::Duration;

/// A thread's state at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadSample {
    /// The instruction pointer.
    pub at: u64,
    /// The stack pointer.
    pub stack: u64,
    /// A hash of its registers, including vector registers, without `counter`.
    pub registers: u64,
    /// The register that some programs use to count their rounds: r15 on x86-64.
    pub counter: u64,
    /// A hash of its stack's end.
    pub top: u64,
}

/// Samples another thread of this process. Returns `None` if the sample does not arrive in time or
/// is not supported.
///
/// A thread that waits for a CPU has the same state in two samples, so callers must ensure that it
/// runs between them ([`cpu_ns`](seatmap_os::usage::cpu_ns)).
pub fn of(tid: Tid, within: Duration) -> Option<ThreadSample> {
    machine::of(tid, within)
}

/// Examines a thread's own sample. It runs in a signal handler on a separate stack and may only
/// read and write memory. It returns true if the thread repeats itself forever, apart from its
/// counter: the thread then goes through its cycle once more and is [interrupted](SampleHandler) at
/// a deterministic place.
pub type SampleCheck = fn(ThreadSample) -> bool;

/// Runs on the thread's own stack, where it was interrupted; the thread continues there afterwards.
pub type SampleHandler = fn(ThreadSample);

/// Samples of the calling thread, one per period of its CPU time. The thread must outlive this
/// value.
#[derive(Debug)]
pub struct Ticks {
    _machine: machine::Ticks,
}

impl Ticks {
    /// Starts sampling; one thread of a process can.
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

    struct Stops<'a>(&'a AtomicBool);

    impl Drop for Stops<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
        }
    }

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

    fn let_work(tid: Tid) {
        let since_ns = cpu_ns(tid).unwrap_or(0);
        while cpu_ns(tid).unwrap_or(u64::MAX) < since_ns + 200_000 {
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    fn repeats(tid: Tid) -> bool {
        let mut seen = std::collections::HashSet::new();
        (0..64).any(|_| {
            let_work(tid);
            !seen.insert(of(tid, PATIENCE).expect("it answers"))
        })
    }

    #[test]
    fn spinning_thread_repeats_its_state() {
        with_thread(
            |stop| while !stop.load(Ordering::Relaxed) {},
            |tid| {
                // The thread may not have reached its loop at the first sample.
                assert!((0..1000).any(|_| repeats(tid)));
            },
        );
    }

    #[test]
    fn counting_thread_never_repeats_its_state() {
        with_thread(
            |stop| {
                let mut number = 0_u64;
                while !stop.load(Ordering::Relaxed) {
                    number = std::hint::black_box(number + 1);
                }
            },
            |tid| {
                // Before it counts, it may wait for memory.
                (0..50).for_each(|_| let_work(tid));
                assert!(!repeats(tid));
            },
        );
    }

    static TICKS: AtomicU64 = AtomicU64::new(0);
    static FLAG: AtomicU64 = AtomicU64::new(0);
    static INTERRUPTS: [AtomicU64; 8] = [const { AtomicU64::new(0) }; 8];

    /// Waits for a flag and counts its checks in r15; the loop's first instruction has the lowest
    /// address.
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
    fn spinning_thread_is_interrupted_at_same_instruction() {
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
