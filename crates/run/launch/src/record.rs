//! The record of one thread.

use crate::elsewhere::TimeAway;
use crate::policies::ThreadMemory;
use crate::seats::Seat;
use seatmap_os::holder::Holder;
use seatmap_os::task::ThreadStat;
use seatmap_os::{CpuList, CpuSet, Tid, sched};
use std::io;
use std::time::{Duration, Instant};

/// Libraries that examine the machine bind themselves elsewhere for some milliseconds.
const LONGEST_DETOUR: Duration = Duration::from_millis(500);

/// A thread, its seat, and the outcome.
#[derive(Default)]
pub struct ThreadRecord {
    /// Its place in the order, from 0.
    pub order: usize,
    /// The PID; `None` if it ended too soon.
    pub pid: Option<Tid>,
    /// The TID.
    pub tid: Tid,
    /// Its last name; empty if it ended too soon.
    pub name: String,
    /// Its seat.
    pub seat: Option<Seat>,
    /// Whether it ran before it was found.
    pub late: bool,
    /// Whether the kernel confirmed the seat.
    pub confirmed: bool,
    /// The CPUs where it was seen after seating, in order.
    pub seen_on: Vec<u32>,
    /// Whether it still waits on the whole set of CPUs.
    pub waiting: bool,
    /// The time under another mask.
    pub elsewhere: TimeAway,
    /// The problem, if any.
    pub trouble: Option<Trouble>,
    /// The memory policy, if planned.
    pub memory: Option<ThreadMemory>,
}

/// Why a thread is not on its seat.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The kernel refused the seat.
    #[error("the kernel refused {}: {reason}", .cpus.named())]
    Refused {
        /// The seat's CPUs.
        cpus: CpuList,
        /// The reason, in words.
        reason: String,
    },
    /// Another program, or most likely the program itself, changed the mask.
    #[error(
        "its seat is {}, but {}its affinity was changed to {to}",
        .cpus.named(),
        if .holder.is_unknown() { String::new() } else { format!("{}: ", .holder.or("")) }
    )]
    Changed {
        /// The seat's CPUs.
        cpus: CpuList,
        /// The last mask.
        to: CpuList,
        /// The seat's cell, if any.
        holder: Holder,
    },
    /// The control group excludes the seat, and the kernel changed the mask.
    #[error(
        "its seat is {}, which its control group does not allow now: {}it may run on {}",
        .cpus.named(),
        if .holder.is_unknown() { String::new() } else { format!("{}; ", .holder.or("")) },
        .to.named()
    )]
    KeptOff {
        /// The seat's CPUs.
        cpus: CpuList,
        /// The last mask.
        to: CpuList,
        /// The seat's cell, if any.
        holder: Holder,
    },
    /// It has its seat's mask but cannot run, so only the mask is verified.
    #[error("it was given {} and has not run since: {reason}", .cpus.named())]
    Halted {
        /// The seat's CPUs.
        cpus: CpuList,
        /// The reason, and the command that resumes it.
        reason: String,
    },
    /// It had another mask for a while.
    #[error(
        "its seat is {}, but it was elsewhere for {} {}",
        .cpus.named(),
        spelled(*.lasted),
        if .holder.is_unknown() {
            "because it or another program moved it".to_owned()
        } else {
            format!("while {}", .holder.cells_then())
        }
    )]
    WasElsewhere {
        /// The seat's CPUs.
        cpus: CpuList,
        /// The total duration.
        lasted: Duration,
        /// The seat's cell at the last such time, if any.
        holder: Holder,
    },
}

impl Trouble {
    pub fn refused(tid: Tid, cpus: &CpuSet, error: &io::Error) -> Self {
        Trouble::Refused { cpus: cpus.list(), reason: sched::mask_refusal(tid, error) }
    }

    fn into_holder(self) -> Option<Holder> {
        match self {
            Trouble::Refused { .. } | Trouble::Halted { .. } => None,
            Trouble::Changed { holder, .. }
            | Trouble::KeptOff { holder, .. }
            | Trouble::WasElsewhere { holder, .. } => Some(holder),
        }
    }
}

impl ThreadRecord {
    /// Whether it took its confirmed seat and no look found it elsewhere for longer than a detour.
    pub fn verified(&self) -> bool {
        self.seat.as_ref().is_some_and(|seat| {
            self.confirmed
                && !self.waiting
                && self.trouble.is_none()
                && self.seen_on.iter().all(|cpu| seat.cpus.contains(*cpu))
        })
    }

    pub fn sits(&mut self, seat: Option<Seat>) {
        self.seat = seat;
        self.confirmed = false;
        self.waiting = false;
        self.elsewhere = TimeAway::default();
        self.seen_on.clear();
        self.trouble = None;
    }

    pub fn is_on_seat(&mut self) {
        self.confirmed = true;
        self.elsewhere.end();
        let before = self.trouble.take_if(|trouble| !matches!(trouble, Trouble::Refused { .. }));
        let holder = before.and_then(Trouble::into_holder).unwrap_or_default();
        let lasted = self.elsewhere.ended;
        if let Some(seat) =
            self.seat.as_ref().filter(|_| lasted >= LONGEST_DETOUR && self.trouble.is_none())
        {
            self.trouble = Some(Trouble::WasElsewhere { cpus: seat.cpus.list(), lasted, holder });
        }
    }

    pub fn is_elsewhere(
        &mut self,
        cpus: CpuList,
        to: CpuList,
        ran_on: Option<u32>,
        is_kept_off: impl FnOnce() -> bool,
    ) {
        // A refused thread never had a seat to leave.
        if matches!(self.trouble, Some(Trouble::Refused { .. })) {
            return;
        }
        self.elsewhere.begin(Instant::now(), ran_on);
        // Once per change, because it reads kernel files.
        if let Some(Trouble::Changed { to: known, .. } | Trouble::KeptOff { to: known, .. }) =
            &self.trouble
            && *known == to
        {
            return;
        }
        let now: CpuSet = to.0.iter().copied().collect();
        let seat: CpuSet = cpus.0.iter().copied().collect();
        let holder = Holder::that_drove_out(&seat.without(&now), &now);
        self.trouble = Some(if is_kept_off() {
            Trouble::KeptOff { cpus, to, holder }
        } else {
            Trouble::Changed { cpus, to, holder }
        });
    }

    pub fn ignore_look(&mut self, others: &CpuList) {
        let taken = self
            .trouble
            .take_if(|trouble| matches!(trouble, Trouble::Changed { to, .. } if to == others));
        if taken.is_some() {
            self.elsewhere = TimeAway::default();
        }
    }

    /// A sleeping or just woken thread shows its earlier CPU.
    pub fn note_cpu(&mut self, task: &ThreadStat) {
        let (Some(seat), Some(cpu)) = (&self.seat, task.cpu) else { return };
        let strays = runs_elsewhere(task, seat)
            && ThreadStat::of(task.tid).is_some_and(|again| runs_elsewhere(&again, seat));
        if (strays || seat.cpus.contains(cpu)) && !self.seen_on.contains(&cpu) {
            self.seen_on.push(cpu);
        }
    }

    /// The CPUs on which looks found it, without short detours.
    pub fn all_seen_on(&self) -> Vec<u32> {
        let mut all = self.seen_on.clone();
        if self.trouble.is_some() {
            all.extend(self.elsewhere.cpus.iter().filter(|cpu| !self.seen_on.contains(cpu)));
        }
        all
    }
}

fn runs_elsewhere(task: &ThreadStat, seat: &Seat) -> bool {
    task.state == 'R' && task.cpu.is_some_and(|cpu| !seat.cpus.contains(cpu))
}

fn spelled(time: Duration) -> String {
    let text = format!("{:.1}", time.as_secs_f64());
    format!("{} s", text.strip_suffix(".0").unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seated() -> ThreadRecord {
        let seat = Seat { task: Some(0), cpus: CpuSet::single(0) };
        let mut record = ThreadRecord { tid: 7, seat: Some(seat), ..ThreadRecord::default() };
        record.seen_on.push(0);
        record.is_on_seat();
        record
    }

    #[test]
    fn refused_seat_is_not_reported_as_left() {
        let mut record = seated();
        let refused = io::Error::from_raw_os_error(libc::EPERM);
        record.trouble = Some(Trouble::refused(7, &CpuSet::single(1), &refused));
        record.is_elsewhere(list(1), list(0), Some(0), || false);
        assert!(matches!(record.trouble, Some(Trouble::Refused { .. })), "{:?}", record.trouble);
    }

    fn list(cpu: u32) -> CpuList {
        CpuList(vec![cpu])
    }

    #[test]
    fn waiting_thread_is_not_verified() {
        let mut record = seated();
        assert!(record.verified());
        record.waiting = true;
        assert!(!record.verified());
    }

    #[test]
    fn brief_detour_is_ignored_and_long_absence_reported() {
        let mut record = seated();
        record.is_elsewhere(list(0), list(1), Some(1), || false);
        assert!(!record.verified() && record.all_seen_on() == [0, 1], "it is elsewhere now");
        record.is_on_seat();
        assert!(record.verified() && record.all_seen_on() == [0], "a moment is a detour");
        record.is_elsewhere(list(0), list(1), Some(1), || false);
        record.elsewhere.backdate(Duration::from_secs(3));
        record.is_on_seat();
        assert!(!record.verified() && record.all_seen_on() == [0, 1]);
        let text = record.trouble.as_ref().map(ToString::to_string);
        assert_eq!(
            text.as_deref(),
            Some(
                "its seat is CPU 0, but it was elsewhere for 3 s because it or another program \
                 moved it"
            )
        );
        record.is_on_seat();
        assert_eq!(
            text,
            record.trouble.as_ref().map(ToString::to_string),
            "later looks keep the history"
        );
        record.sits(record.seat.clone());
        assert!(record.trouble.is_none() && record.elsewhere == TimeAway::default());
    }
}
