//! The record of one thread.

use crate::policies::ThreadMemory;
use crate::seats::Seat;
use seatmap_os::CpuList;
use seatmap_os::Tid;

/// A thread, its seat, and the outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The thread's place in the order of seating over all processes, counted from 0.
    pub order: usize,
    /// The thread's process; `None` where it ended too soon.
    pub pid: Option<Tid>,
    /// Its number.
    pub tid: Tid,
    /// The last name that was seen; empty where the thread ended too soon.
    pub name: String,
    /// Its seat.
    pub seat: Option<Seat>,
    /// Whether the thread had run before it was found.
    pub late: bool,
    /// Whether the kernel confirmed the seat.
    pub confirmed: bool,
    /// The CPUs that the thread was seen on since it sat down, in order of appearance.
    pub seen_on: Vec<u32>,
    /// The problem, where there was one.
    pub trouble: Option<Trouble>,
    /// Its memory policy, where a plan has one for it.
    pub memory: Option<ThreadMemory>,
}

/// Why a thread does not sit where it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The kernel refused the seat.
    #[error("the kernel refused CPU {cpus}: {reason}")]
    Refused {
        /// The seat's CPUs.
        cpus: CpuList,
        /// The reason, in words.
        reason: String,
    },
    /// The thread has another mask: another program, or most likely the program itself, set it.
    #[error("its seat is CPU {cpus}, but its own affinity was changed to {to}")]
    Changed {
        /// The seat's CPUs.
        cpus: CpuList,
        /// The CPUs of the mask at the last look.
        to: CpuList,
    },
}

impl Record {
    /// The record of a thread before anything else is known.
    pub(crate) fn new(order: usize, tid: Tid, seat: Option<Seat>, late: bool) -> Self {
        let (name, seen_on) = (String::new(), Vec::new());
        Record { order, pid: None, tid, name, seat, late, confirmed: false, seen_on, trouble: None, memory: None }
    }

    /// Whether the thread has a seat, the kernel confirmed it, and the last look at the thread found it there.
    #[must_use]
    pub fn verified(&self) -> bool {
        self.seat.as_ref().is_some_and(|seat| {
            self.confirmed && self.trouble.is_none() && self.seen_on.iter().all(|cpu| seat.cpus.contains(*cpu))
        })
    }

    /// Drops the observations on an earlier seat.
    pub(crate) fn sits(&mut self, seat: Option<Seat>) {
        self.seat = seat;
        self.confirmed = false;
        self.seen_on.clear();
        self.trouble = None;
    }
}
