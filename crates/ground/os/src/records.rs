//! A tracepoint's records on one CPU, and of threads created, renamed and ended there
//! (perf_event_open(2)).

use crate::bytes::{u32_at, u64_at};
use crate::perf_event::{self, ANY_THREAD};
use crate::ring::PerfRing;
use crate::tracefs::Tracepoint;
use std::io;
use std::os::fd::OwnedFd;

/// From `include/uapi/linux/perf_event.h`.
const TRACEPOINT: u64 = 2;
const THREAD: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const RAW: u64 = 1 << 10;
const NAMES: u64 = 1 << 9;
const TASKS: u64 = 1 << 13;
const ALL_HAVE_TIME: u64 = 1 << 18;
const USE_CLOCK: u64 = 1 << 25;

/// `PERF_ATTR_SIZE_VER3`, with all fields used here.
const ATTRIBUTE_BYTES: u64 = 96;

/// Buffer for unread records of a CPU.
const RING_BYTES: usize = 4 << 20;

/// A record.
#[derive(Debug)]
pub enum TracepointRecord {
    /// The tracepoint was hit.
    Passed {
        /// Monotonic clock in nanoseconds.
        time_ns: u64,
        /// Running thread.
        tid: i32,
        /// Tracepoint's own data.
        data: Vec<u8>,
    },
    /// A thread was created.
    Created {
        /// Monotonic clock in nanoseconds.
        time_ns: u64,
        /// New thread.
        tid: i32,
        /// Its process.
        pid: i32,
        /// Creating thread.
        creator: i32,
        /// Creating process.
        creator_pid: i32,
    },
    /// A thread ended.
    Ended {
        /// Monotonic clock in nanoseconds.
        time_ns: u64,
        /// Thread.
        tid: i32,
    },
    /// A thread was renamed.
    Named {
        /// Monotonic clock in nanoseconds.
        time_ns: u64,
        /// Thread.
        tid: i32,
        /// New name.
        name: String,
    },
    /// Number of records lost because the ring was full.
    Lost(u64),
}

impl TracepointRecord {
    /// The record's time; 0 for lost records.
    pub fn time_ns(&self) -> u64 {
        match self {
            TracepointRecord::Passed { time_ns, .. }
            | TracepointRecord::Created { time_ns, .. }
            | TracepointRecord::Named { time_ns, .. }
            | TracepointRecord::Ended { time_ns, .. } => *time_ns,
            TracepointRecord::Lost(_) => 0,
        }
    }

    fn parse(kind: u32, body: &[u8]) -> Option<Self> {
        match kind {
            2 => Some(TracepointRecord::Lost(u64_at(body, 8)?)),
            3 => {
                // After the name come the thread's numbers and the time.
                let name = body.get(8..)?.split(|byte| *byte == 0).next()?;
                let name = String::from_utf8_lossy(name).into_owned();
                Some(TracepointRecord::Named {
                    time_ns: u64_at(body, body.len().checked_sub(8)?)?,
                    tid: i32_at(body, 4)?,
                    name,
                })
            }
            4 => {
                Some(TracepointRecord::Ended { time_ns: u64_at(body, 16)?, tid: i32_at(body, 8)? })
            }
            7 => Some(TracepointRecord::Created {
                time_ns: u64_at(body, 16)?,
                tid: i32_at(body, 8)?,
                pid: i32_at(body, 0)?,
                creator: i32_at(body, 12)?,
                creator_pid: i32_at(body, 4)?,
            }),
            9 => {
                let bytes = usize::try_from(i32_at(body, 16)?).ok()?;
                let data = body.get(20..20usize.checked_add(bytes)?)?.to_vec();
                Some(TracepointRecord::Passed {
                    time_ns: u64_at(body, 8)?,
                    tid: i32_at(body, 4)?,
                    data,
                })
            }
            _ => None,
        }
    }
}

fn i32_at(body: &[u8], at: usize) -> Option<i32> {
    Some(u32_at(body, at)?.cast_signed())
}

/// The records of one CPU.
#[derive(Debug)]
pub struct Records(PerfRing);

impl Records {
    /// Starts recording on a CPU.
    ///
    /// # Errors
    /// The kernel's: EACCES or EPERM without CAP_PERFMON, EPERM if rings exceed the locked memory
    /// limit, ENODEV for an offline CPU.
    pub fn begin(tracepoint: &Tracepoint, cpu: u32) -> io::Result<Self> {
        Ok(Records(PerfRing::new(open(tracepoint, cpu)?, RING_BYTES)?))
    }

    /// Passes each new record, in the CPU's order.
    pub fn take(&mut self, mut each: impl FnMut(TracepointRecord)) {
        self.0.take(|kind, body| {
            if let Some(record) = TracepointRecord::parse(kind, body) {
                each(record);
            }
        });
    }
}

fn open(tracepoint: &Tracepoint, cpu: u32) -> io::Result<OwnedFd> {
    let mut words = [0u64; ATTRIBUTE_BYTES as usize / 8];
    let [low, high] = if cfg!(target_endian = "little") { [0, 32] } else { [32, 0] };
    words[0] = TRACEPOINT << low | ATTRIBUTE_BYTES << high;
    words[1] = tracepoint.number;
    words[2] = 1;
    words[3] = THREAD | TIME | RAW;
    words[5] = NAMES | TASKS | ALL_HAVE_TIME | USE_CLOCK;
    // The clock is the second half of the last word.
    words[11] = (libc::CLOCK_MONOTONIC as u64) << high;
    // SAFETY: the words have `ATTRIBUTE_BYTES` bytes.
    unsafe { perf_event::open(&words, ANY_THREAD, cpu as i32) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracefs::Tracefs;
    use proptest::prelude::*;

    #[test]
    fn threads_and_wakeups_are_recorded() {
        let begun = || -> io::Result<Vec<Records>> {
            let tracepoint = Tracefs::open()?.tracepoint("sched/sched_waking")?;
            crate::affinity::current()?
                .into_iter()
                .map(|cpu| Records::begin(&tracepoint, cpu))
                .collect()
        };
        let mut all = match begun() {
            Ok(all) => all,
            Err(error) => return seatmap_needs::skipped!("no records here: {error}"),
        };
        // Wakes a sleeping thread, and this one, which waits for it.
        let thread =
            std::thread::spawn(|| std::thread::sleep(std::time::Duration::from_millis(10)));
        thread.join().unwrap();
        let own = std::process::id() as i32;
        let mut created = 0;
        let mut passed = 0;
        let mut ended = 0;
        all.iter_mut().for_each(|records| {
            records.take(|record| match record {
                TracepointRecord::Created { pid, creator_pid, .. }
                    if [pid, creator_pid] == [own, own] =>
                {
                    created += 1
                }
                TracepointRecord::Passed { data, .. } => passed += usize::from(data.len() >= 28),
                TracepointRecord::Ended { .. } => ended += 1,
                _ => {}
            });
        });
        assert!(created >= 1 && passed >= 1 && ended >= 1, "{created} {passed} {ended}");
    }

    proptest! {
        #[test]
        fn parser_survives_any_bytes(kind in 0..12u32, bytes: Vec<u8>) {
            let _ = TracepointRecord::parse(kind, &bytes);
        }
    }
}
