//! Pins threads to their seats and checks that they stay there.
//!
//! A process without a seat runs on the whole set of CPUs. It takes a seat when it creates a
//! thread, or after [`SETTLES_AFTER`]; one that ends earlier is a short-lived helper. Many programs
//! count the CPUs after creating a thread, so the creator takes its seat [`ASKED_AFTER`] later.
//! Some runtimes count even later ([`asks_late`](crate::runtime::LanguageRuntime::asks_late)),
//! others at any time ([`fit`]).

use crate::allocator::{SeatAllocator, SeatAssignment, SeatChange};
use crate::allowance::Allowance;
use crate::policies::Policies;
use crate::record::Trouble;
use crate::rule;
use crate::runtimes::{Runtimes, SeatFit, fit};
use crate::seats::Seat;
use crate::threads::{ThreadTable, Waited};
use seatmap_os::holder::Holder;
use seatmap_os::owed::{OwedMasks, RunningKernel};
use seatmap_os::task::{Family, ThreadStat};
use seatmap_os::{CpuSet, Tid, affinity, task};
use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// A look takes about 20 us, a twentieth of it.
const LAST_LOOKS: u32 = 256;
const LAST_LOOKS_PACE: Duration = Duration::from_micros(400);

/// A younger process may be a short-lived helper: those of shell scripts (`sed`, `cut`, `readlink`)
/// live for 1 to 10 ms. A worker can wait 50 ms.
const SETTLES_AFTER: Duration = Duration::from_millis(50);

/// A Java virtual machine is ready after 0.1 s on an idle computer.
const ASKED_LATE_AFTER: Duration = Duration::from_secs(1);

/// x264 creates a reader thread, and counts the CPUs for its encoders some milliseconds later.
const ASKED_AFTER: Duration = Duration::from_millis(250);

/// A thread that waits for its shared seat for more than this share of [`LOOKED_AT_FOR`] may run on
/// all seats, because the kernel divides busy threads better.
const WAITS_TOO_MUCH: f64 = 0.1;
const LOOKED_AT_FOR: Duration = Duration::from_millis(20);

/// Threads created meanwhile inherit narrow masks.
const ROUNDS: usize = 8;

#[derive(Clone, Copy)]
pub struct Birth {
    /// Its process, or itself if it is the first thread.
    pub pid: Tid,
    pub creator: Tid,
    /// Whether it ran before it was found in `/proc`.
    pub is_late: bool,
}

pub struct Pinner {
    pub seating: SeatAllocator,
    pub threads: ThreadTable,
    pub policies: Policies,
    home: CpuSet,
    start_at: Option<String>,
    pub runtimes: Runtimes,
    /// Whether threads that wait for a shared seat may use all seats, and how many do.
    pub widens: bool,
    pub widened: usize,
    /// For looks at ended threads, for which the program waits.
    allowance: Allowance,
    /// Masks without their offline CPUs, which Linux before 6.3 does not restore.
    owed: OwedMasks,
}

impl Pinner {
    pub fn new(seating: SeatAllocator, home: CpuSet, start_at: Option<String>) -> Self {
        Pinner {
            seating,
            threads: ThreadTable::default(),
            policies: Policies::none(),
            home,
            start_at,
            runtimes: Runtimes::default(),
            widens: false,
            widened: 0,
            allowance: Allowance::new(LAST_LOOKS, LAST_LOOKS_PACE),
            owed: OwedMasks::new(),
        }
    }

    pub fn arrive(&mut self, tid: Tid, birth: Birth) {
        if self.threads.knows(tid) {
            if ThreadStat::of(tid).is_some_and(|task| !self.replaced(tid, &task)) {
                return;
            }
            // An untraced thread with this number has ended since the last look.
            self.gone(tid);
        }
        let is_outside = self.is_outside(birth);
        self.policies.arrive(tid, birth.creator);
        self.threads.begin(tid, birth.pid, is_outside, birth.is_late);
        if !is_outside && !birth.is_late {
            self.seating.born(tid, birth.creator);
        }
        match (is_outside, birth.pid == tid) {
            (true, _) => {}
            (false, true) => self.process(tid),
            (false, false) => self.thread(tid, birth.pid),
        }
    }

    /// Seats a thread of an already running process.
    pub fn meet(&mut self, tid: Tid, pid: Tid) {
        let Some(task) = ThreadStat::of(tid) else { return };
        if tid == pid {
            self.runtimes.meet(pid, |runtime| fit(&self.seating, self.widens, runtime));
        }
        self.threads.begin(tid, pid, false, true);
        let step = self.seating.seat_existing(tid, pid, &task.name);
        self.threads.place(tid, step.seat.clone(), step.skipped);
        if let Some(seat) = step.seat {
            self.sit(tid, &seat);
        }
        self.look(tid, false);
    }

    /// Returns whether anything changed. If it `is_traced`, the tracer reports its end.
    pub fn look(&mut self, tid: Tid, is_traced: bool) -> bool {
        let Some(task) = ThreadStat::of(tid) else {
            if !is_traced {
                self.gone(tid);
            }
            return true;
        };
        if self.replaced(tid, &task) {
            self.gone(tid);
            return true;
        }
        if self.threads.living(tid).is_some_and(|living| living.is_outside) {
            return false;
        }
        let renamed = self.note_name(tid, &task);
        if self.move_by_name(tid, &task.name) || self.sit_in_time(tid) {
            return true;
        }
        self.check(tid, &task);
        self.widen_in_need(tid);
        if task.has_ended() && !is_traced {
            self.gone(tid);
        }
        renamed
    }

    /// Sets masks again for threads whose missing CPUs came online.
    pub fn look_at_owed(&mut self) {
        if !self.owed.is_empty() {
            self.owed.look(&mut RunningKernel);
        }
    }

    pub fn take_owed(&mut self) -> OwedMasks {
        std::mem::take(&mut self.owed)
    }

    /// Records that a process's seated threads do not run.
    pub fn note_halted(&mut self, pid: Tid, reason: &str) {
        for tid in self.threads.tids() {
            let Some(living) = self.threads.living(tid) else { continue };
            let (true, Some(seat)) = (living.pid == pid, living.seat.clone()) else { continue };
            if let Some(record) = self.threads.record(tid)
                && record.trouble.is_none()
            {
                let cpus = seat.cpus.list();
                record.trouble = Some(Trouble::Halted { cpus, reason: reason.to_owned() });
            }
        }
    }

    /// Checks an ended, unreaped thread, unless thousands end at once.
    pub fn last_look(&mut self, tid: Tid) {
        if self.threads.record(tid).is_none() || !self.allowance.take() {
            return;
        }
        let Some(task) = ThreadStat::of(tid) else { return };
        self.note_name(tid, &task);
        self.check(tid, &task);
    }

    pub fn executed(&mut self, former: Tid, tid: Tid, file: &Path) {
        if former != tid {
            self.ignore_look(tid, former);
            self.threads.remove(tid);
            self.threads.renumber(former, tid);
            self.policies.renumber(former, tid);
        }
        self.runtimes.note(tid, file, |runtime| fit(&self.seating, self.widens, runtime));
        if self.threads.living(tid).is_some_and(|living| living.is_outside) {
            return self.start(tid, file);
        }
        let begins_to_wait = self.seating.executed(former, tid);
        if begins_to_wait || self.seating.waits(tid) {
            self.wait(tid);
        }
    }

    pub fn gone(&mut self, tid: Tid) {
        self.seating.exited(tid);
        self.threads.remove(tid);
        self.policies.remove(tid);
        self.runtimes.remove(tid);
    }

    /// Removes a process's threads whose numbers later threads have. Returns whether any is left.
    pub fn still_has(&mut self, pid: Tid) -> bool {
        let tids = self.threads.of_process(pid);
        let replaced = tids
            .iter()
            .copied()
            .filter(|tid| ThreadStat::of(*tid).is_some_and(|task| self.replaced(*tid, &task)));
        let replaced: Vec<Tid> = replaced.collect();
        replaced.iter().for_each(|tid| self.gone(*tid));
        replaced.len() < tids.len()
    }

    /// Restores the masks of seated and waiting threads. Returns their number.
    pub fn give_masks_back(&mut self, processes: impl Fn() -> Vec<Tid>) -> usize {
        let mut freed = HashSet::new();
        for _ in 0..ROUNDS {
            // An unlistable process is tried again.
            let tids = processes().into_iter().filter_map(|pid| task::threads(pid).ok()).flatten();
            let new: Vec<Tid> = tids.filter(|tid| self.free(*tid)).collect();
            if new.is_empty() {
                break;
            }
            freed.extend(new);
        }
        freed.len()
    }

    fn is_outside(&mut self, birth: Birth) -> bool {
        if self.start_at.is_none() {
            return false;
        }
        self.threads.living(birth.creator).is_none_or(|creator| creator.is_outside)
    }

    /// A script matches by its own name or its interpreter's.
    fn start(&mut self, tid: Tid, file: &Path) {
        let script = ThreadStat::of(tid).map(|task| task.name);
        let file = file.file_name().map(|name| name.to_string_lossy().into_owned());
        let start_at = self.start_at.clone().unwrap_or_default();
        if script
            .into_iter()
            .chain(file)
            .any(|name| rule::fits(start_at.as_bytes(), name.as_bytes(), &b'*', None))
        {
            self.threads.begin(tid, tid, false, false);
            self.seating.born(tid, tid);
            self.process(tid);
        }
    }

    fn process(&mut self, tid: Tid) {
        match self.seating.process(tid) {
            Some(step) => self.apply(&step),
            None => self.wait(tid),
        }
    }

    fn thread(&mut self, tid: Tid, pid: Tid) {
        let begins = self.seating.waits(pid);
        let asks_late = self.runtimes.of(pid).asks_late();
        for step in self.seating.thread(tid, pid) {
            let is_asked = begins && (step.tid == pid || asks_late && step.tid == tid);
            match step.seat.clone() {
                Some(seat) if is_asked => {
                    self.sit_later(
                        &step,
                        seat,
                        if asks_late { ASKED_LATE_AFTER } else { ASKED_AFTER },
                    );
                }
                _ => self.apply(&step),
            }
        }
    }

    /// Lets a process wait on the whole set, where a first process may stay, and be reported so.
    fn wait(&mut self, tid: Tid) {
        let seat = Seat::shared(self.seating.whole.clone());
        let is_first = self.seating.is_first(tid);
        let Some(living) = self.threads.living(tid) else { return };
        living.waits_since = Some(Instant::now());
        living.later = None;
        if is_first {
            self.threads.place(tid, Some(seat.clone()), false)
        } else {
            self.threads.sits(tid, Some(seat.clone()))
        }
        self.sit(tid, &seat);
        self.note_waiting(tid);
    }

    fn apply(&mut self, step: &SeatAssignment) {
        let SeatAssignment { tid, seat, skipped, shares } = step;
        let Some(living) = self.threads.living(*tid) else { return };
        let runtime = self.runtimes.of(living.pid);
        let roams =
            runtime.asks_again() && fit(&self.seating, self.widens, runtime) == SeatFit::Roams;
        let mut seat = seat.clone();
        if let Some(seat) = seat.as_mut().filter(|_| roams) {
            seat.cpus = self.seating.whole.clone();
        }
        let seat = &seat;
        let has_waited = living.waits_since.is_some();
        if *shares {
            living.shares =
                Some(Waited { at: Instant::now(), waited_ns: task::waited_ns(*tid).unwrap_or(0) });
        }
        self.threads.place(*tid, seat.clone(), *skipped);
        self.choose_policy(*tid, seat.as_ref());
        match seat {
            // A mask chosen by the program meanwhile stays, and is reported.
            Some(_) if has_waited && !self.is_on(*tid, &self.seating.whole) => {
                self.check_mask(*tid, None);
            }
            Some(seat) => self.sit(*tid, seat),
            None => {
                self.free(*tid);
            }
        }
    }

    fn sit_later(&mut self, step: &SeatAssignment, seat: Seat, after: Duration) {
        let wide = Seat { cpus: self.seating.whole.clone(), ..seat };
        self.apply(&SeatAssignment { seat: Some(wide), ..*step });
        if let Some(living) = self.threads.living(step.tid) {
            living.waits_since = Some(Instant::now());
            living.later = Some((seat, Instant::now() + after));
        }
        self.note_waiting(step.tid);
    }

    fn note_waiting(&mut self, tid: Tid) {
        let seats = &self.seating.seats;
        let waits = seats.own().iter().any(|seat| *seat != self.seating.whole);
        if let Some(record) = self.threads.record(tid) {
            record.waiting = waits;
        }
    }

    /// Returns whether the thread was seated.
    fn sit_in_time(&mut self, tid: Tid) -> bool {
        let now = Instant::now();
        let Some(living) = self.threads.living(tid) else { return false };
        if let Some((seat, _)) = living.later.take_if(|(_, due)| *due <= now) {
            self.apply(&SeatAssignment::of(tid, seat));
            return true;
        }
        let has_lived = living.waits_since.is_some_and(|since| now - since >= SETTLES_AFTER);
        let stays = self.seating.is_first(tid) && self.seating.order_is_open();
        if !has_lived || stays || !self.seating.waits(tid) {
            return false;
        }
        self.seating.settle(tid).iter().for_each(|step| self.apply(step));
        true
    }

    fn widen_in_need(&mut self, tid: Tid) {
        let now = Instant::now();
        let Some(living) =
            self.threads.living(tid).filter(|living| self.widens && living.later.is_none())
        else {
            return;
        };
        let (Some(before), Some(seat)) = (living.shares, living.seat.clone()) else { return };
        let passed = now - before.at;
        let Some(waited_ns) = task::waited_ns(tid).filter(|_| passed >= LOOKED_AT_FOR) else {
            return;
        };
        living.shares = Some(Waited { at: now, waited_ns });
        let waited = waited_ns.saturating_sub(before.waited_ns) as f64;
        // A rule's seat may be outside the list; it stays.
        let whole = &self.seating.whole;
        let is_narrow = seat.cpus != *whole && seat.cpus.is_subset(whole);
        let is_narrow = is_narrow && self.is_on(tid, &seat.cpus);
        if is_narrow && waited > WAITS_TOO_MUCH * passed.as_nanos() as f64 {
            let wide = Seat { cpus: self.seating.whole.clone(), ..seat };
            self.threads.sits(tid, Some(wide.clone()));
            self.sit(tid, &wide);
            self.widened += 1;
            if let Some(living) = self.threads.living(tid) {
                living.shares = None;
            }
        }
    }

    /// Removes a problem from a look that read another thread's mask while it replaced this one.
    fn ignore_look(&mut self, tid: Tid, other: Tid) {
        let Some(seat) = self.threads.living(other).and_then(|living| living.seat.clone()) else {
            return;
        };
        if let Some(record) = self.threads.record(tid) {
            record.ignore_look(&seat.cpus.list());
        }
    }

    fn sit(&mut self, tid: Tid, seat: &Seat) {
        // Most helpers inherit the whole set. Reading is cheaper than setting.
        let is_there = self.is_on(tid, &seat.cpus);
        let given = if is_there { Ok(()) } else { seat.cpus.give(tid) };
        let Some(record) = self.threads.record(tid) else { return };
        match given.map(|()| CpuSet::of_thread(tid)) {
            Ok(Ok(found)) if !affinity::is_as_given(&seat.cpus, &found) => {
                let holder = Holder::that_drove_out(&seat.cpus.without(&found), &found);
                let cpus = seat.cpus.list();
                record.trouble = Some(Trouble::Changed { cpus, to: found.list(), holder });
            }
            // An already ended thread had its mask.
            Ok(found) => {
                record.confirmed = true;
                if !self.owed.is_empty() || found.is_ok_and(|found| found != seat.cpus) {
                    self.owed.note(&RunningKernel, tid, &seat.cpus);
                }
            }
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
            Err(error) => record.trouble = Some(Trouble::refused(tid, &seat.cpus, &error)),
        }
    }

    /// A thread inherits its creator's mask; without a seat it gets the usual one, unless the
    /// program chose its own.
    fn free(&mut self, tid: Tid) -> bool {
        // Cheaper than a file, and true of most threads.
        if CpuSet::of_thread(tid).is_ok_and(|mask| mask == self.home) {
            return false;
        }
        let Ok(inherited) = affinity::whole(tid) else { return false };
        // A failure means that it has ended.
        let is_given = self.seating.is_a_seat(&inherited) && self.home.give(tid).is_ok();
        // It lacks the CPUs that its creator lacks.
        if is_given || !self.owed.is_empty() && affinity::is_as_given(&self.home, &inherited) {
            self.owed.note(&RunningKernel, tid, &self.home);
        }
        is_given
    }

    fn is_on(&self, tid: Tid, cpus: &CpuSet) -> bool {
        affinity::has_mask(tid, cpus).unwrap_or(false)
    }

    fn replaced(&mut self, tid: Tid, task: &ThreadStat) -> bool {
        self.threads.living(tid).is_none_or(|living| living.is_replaced(task))
    }

    fn note_name(&mut self, tid: Tid, task: &ThreadStat) -> bool {
        let Some(record) = self.threads.record(tid).filter(|record| record.name != task.name)
        else {
            return false;
        };
        record.name.clone_from(&task.name);
        true
    }

    fn move_by_name(&mut self, tid: Tid, name: &str) -> bool {
        if !self.seating.has_rules() {
            return false;
        }
        let Some(pid) = self.threads.living(tid).map(|living| living.pid) else { return false };
        match self.seating.named(tid, pid, name) {
            SeatChange::Stay => false,
            SeatChange::Sit(seat) => {
                self.move_to(tid, Some(&seat));
                self.sit(tid, &seat);
                true
            }
            SeatChange::Leave => {
                self.move_to(tid, None);
                self.free(tid);
                true
            }
        }
    }

    fn move_to(&mut self, tid: Tid, seat: Option<&Seat>) {
        let Some(living) = self.threads.living(tid) else { return };
        (living.waits_since, living.later) = (None, None);
        self.threads.place(tid, seat.cloned(), false);
        self.choose_policy(tid, seat);
    }

    fn check(&mut self, tid: Tid, task: &ThreadStat) {
        if self.check_mask(tid, task.cpu)
            && let Some(record) = self.threads.record(tid)
        {
            record.note_cpu(task);
        }
    }

    /// Checks for the seat's mask. If it is there, a report of another one is withdrawn: programs
    /// that examine the machine bind themselves elsewhere briefly.
    fn check_mask(&mut self, tid: Tid, ran_on: Option<u32>) -> bool {
        let Some(living) = self.threads.living(tid) else { return false };
        let (has_waited, Some(seat)) = (living.waits_since.is_some(), living.seat.clone()) else {
            return false;
        };
        let Ok(mask) = CpuSet::of_thread(tid) else { return false };
        if affinity::is_as_given(&seat.cpus, &mask) {
            if let Some(record) = self.threads.record(tid) {
                record.is_on_seat();
            }
            return true;
        }
        if has_waited && affinity::is_as_given(&self.seating.whole, &mask) {
            // It restored its initial mask after it took the seat.
            self.sit(tid, &seat);
        } else if let Some(record) = self.threads.record(tid) {
            record.is_elsewhere(
                seat.cpus.list(),
                mask.list(),
                ran_on.filter(|cpu| mask.contains(*cpu)),
                || affinity::is_kept_off(tid, &seat.cpus),
            );
        }
        false
    }
}

impl Birth {
    /// A creation unknown to the tracer, from `/proc`.
    pub fn of(tid: Tid, is_late: bool) -> Option<Self> {
        let Family { pid, parent, .. } = Family::of(tid)?;
        Some(Birth { pid, creator: if pid == tid { parent } else { pid }, is_late })
    }
}
