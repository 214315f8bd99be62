//! Affinity masks of running threads: changed in one sweep and restored, also on threads that
//! inherited one ([`heirs`](seatmap_os::heirs)).
//!
//! A sweep is one system call per thread, and wakes none. Threads whose masks were narrower than
//! their process's from the start stay unchanged.

use crate::live::guard;
use seatmap_data::invariant;
use seatmap_os::forgotten::{self, ForgottenCpus};
use seatmap_os::guardian::Guardian;
use seatmap_os::heirs::{Loan, QUIET_LOOKS, SeatLedger, StillSeated};
use seatmap_os::owed::ThreadMask;
use seatmap_os::proc_folder::has_gone;
use seatmap_os::starved::{self, Ready};
use seatmap_os::task::{Family, ThreadIdentity, ThreadStat};
use seatmap_os::{CpuSet, Root, Tid, affinity, boot};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, Instant};

#[derive(Debug)]
struct Sitter {
    pid: Tid,
    thread: ThreadIdentity,
    /// Its mask without a seat.
    base: CpuSet,
    /// `None` if it has its own mask.
    seat: Option<CpuSet>,
    /// The original mask, including offline CPUs if the kernel reported them.
    had: CpuSet,
    /// CPUs that its restored mask lacks: this kernel forgets offline CPUs.
    lost: CpuSet,
    /// Whether it chose a narrower mask by itself.
    is_own: bool,
    /// The start of its wait for a CPU of its seat.
    ready: Option<Ready>,
}

impl Sitter {
    fn new(pid: Tid, thread: ThreadIdentity, base: CpuSet, had: CpuSet) -> Self {
        let lost = CpuSet::default();
        Sitter { pid, thread, base, seat: None, had, lost, is_own: false, ready: None }
    }

    fn give_back(&mut self) -> io::Result<()> {
        let tid = self.thread.tid;
        self.base.give(tid)?;
        self.lost = forgotten::lost(tid, &self.had);
        Ok(())
    }

    /// Whether it still has its restored mask, which lacks CPUs.
    fn has_lost(&self) -> bool {
        !self.lost.is_empty() && forgotten::lost(self.thread.tid, &self.had) == self.lost
    }
}

/// The pause between looks, in multiples of a look's time: at most 1/50 of one CPU.
const SHARE: u32 = 50;

/// The next look, after one that has just ended.
fn next_after(begun: Instant) -> Instant {
    let ended = Instant::now();
    ended + (ended - begun) * SHARE
}

/// The state of seated threads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeatStatus {
    /// The threads on their seats at the last look with living threads.
    pub on_seats: usize,
    /// Threads whose masks were changed from outside or by the program.
    pub moved: usize,
    /// The threads that got no CPU of their seat.
    pub starved: Vec<Starved>,
}

/// A thread that waited for a CPU of its seat, and got none for several clock ticks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Starved {
    /// The thread.
    pub tid: Tid,
    /// Its name.
    pub name: String,
    /// The CPUs of its seat.
    pub cpus: String,
}

/// One sweep over the threads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sweep {
    /// Threads with a changed mask.
    pub threads: usize,
    /// Living threads of another user, which the kernel refused to change.
    pub refused: usize,
    /// The time from the first call to the last.
    pub took: Duration,
}

impl Sweep {
    /// Whether the mask was changed.
    fn count(&mut self, given: &io::Result<()>) -> bool {
        match given {
            Ok(()) => self.threads += 1,
            Err(error) if has_gone(error) => {}
            Err(_) => self.refused += 1,
        }
        given.is_ok()
    }
}

/// The masks that differ from the original ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeftChanged {
    /// The threads whose restored masks lack CPUs that were offline then.
    pub forgotten: Vec<ForgottenCpus>,
    /// The threads that still have a seat's mask.
    pub seated: Vec<StillSeated>,
}

impl LeftChanged {
    /// Sentences with the commands that restore the masks.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        let forgotten = self.forgotten.iter().map(ToString::to_string);
        forgotten.chain(self.seated.iter().map(ToString::to_string))
    }
}

/// The threads of a program.
#[derive(Debug, Default)]
pub struct Masks {
    /// Restores masks after a kill.
    guardian: Option<Guardian>,
    ledger: SeatLedger,
    sitters: BTreeMap<Tid, Sitter>,
    /// The mask of each process's first known thread.
    processes: BTreeMap<ThreadIdentity, CpuSet>,
    due: Option<Instant>,
    heirs_due: Option<Instant>,
    on_seats: usize,
    moved: BTreeSet<ThreadIdentity>,
    starved: BTreeMap<ThreadIdentity, Starved>,
}

impl Masks {
    /// Masks that this guardian restores if this process is killed.
    pub fn guarded_by(guardian: Guardian) -> Self {
        Masks { guardian: Some(guardian), ..Masks::default() }
    }

    /// Adds these threads, by process and thread ID. Those that inherited a seat's mask get their
    /// own at once.
    pub fn adopt(&mut self, threads: &[(Tid, Tid)]) {
        let begun = Instant::now();
        let is_due = self.heirs_due.is_none_or(|due| due <= begun);
        if is_due {
            // A new thread may have the number of an ended one.
            self.forget_dead();
        }
        for (pid, tid) in threads {
            if !self.sitters.contains_key(tid) {
                self.arrive(*pid, *tid);
            }
        }
        if is_due {
            for heir in self.ledger.new_heirs() {
                self.free_heir(&heir);
            }
            self.heirs_due = Some(next_after(begun));
        }
    }

    fn arrive(&mut self, pid: Tid, tid: Tid) -> Option<()> {
        if let Some(heir) = self.ledger.heir(pid, tid) {
            self.free_heir(&heir);
            return Some(());
        }
        let thread = ThreadIdentity::of(tid)?;
        let had = affinity::whole(tid).ok()?;
        let base = affinity::to_put_back(tid).ok()?;
        let whole = self.processes.entry(ThreadIdentity::of(pid)?).or_insert_with(|| base.clone());
        let is_own = base != *whole && base.is_subset(whole);
        self.sitters.insert(tid, Sitter { is_own, ..Sitter::new(pid, thread, base, had) });
        Some(())
    }

    fn free_heir(&mut self, heir: &StillSeated) {
        let base = &heir.thread.cpus;
        let thread = heir.thread.identity();
        let pid = Family::of(thread.tid).map_or(thread.tid, |family| family.pid);
        let mut sitter = Sitter::new(pid, thread, base.clone(), base.clone());
        // The thread may have ended.
        let _ = sitter.give_back();
        self.sitters.insert(thread.tid, sitter);
    }

    /// Forgets ended threads.
    pub fn forget_dead(&mut self) {
        self.sitters.retain(|_, sitter| sitter.thread.exists());
    }

    /// Gives each thread its CPUs within its own mask; the guardian gets the list first.
    ///
    /// # Errors
    /// The guardian has exited; no mask was changed.
    pub fn seat(&mut self, seats: &[(Tid, CpuSet)]) -> io::Result<Sweep> {
        let mut loans = Vec::new();
        for (tid, cpus) in seats {
            let sitter = self.sitters.get(tid);
            let Some(sitter) = sitter.filter(|sitter| !sitter.is_own && sitter.thread.exists())
            else {
                continue;
            };
            let seat = cpus.within(&sitter.base);
            if seat.is_empty() || sitter.seat.as_ref() == Some(&seat) {
                continue;
            }
            let thread = ThreadMask::of(sitter.thread, sitter.base.clone());
            loans.push(Loan { pid: sitter.pid, thread, seat });
        }
        loans.iter().for_each(|loan| self.ledger.lend(loan.clone()));
        let news = self.ledger.take_news();
        self.guardian.as_mut().map_or(Ok(()), |guardian| guardian.tell(&news))?;
        let begun = Instant::now();
        let mut sweep = Sweep::default();
        for Loan { thread, seat, .. } in loans {
            let is_given = sweep.count(&seat.give(thread.tid));
            if let Some(sitter) = self.sitters.get_mut(&thread.tid).filter(|_| is_given) {
                sitter.seat = Some(seat);
                sitter.ready = None;
            }
        }
        self.check();
        Ok(Sweep { took: begun.elapsed(), ..sweep })
    }

    /// Restores and verifies all masks, also of heirs, and dismisses the guardian. Returns those
    /// still changed.
    pub fn end(&mut self) -> LeftChanged {
        self.free();
        let mut heirs = Vec::new();
        let left = self.ledger.settle(QUIET_LOOKS, |heir| {
            heirs.push(heir.thread.clone());
            heir.thread.cpus.give(heir.thread.tid)
        });
        let lost = heirs.into_iter().map(|thread| {
            let lost = forgotten::lost(thread.tid, &thread.cpus);
            (thread, lost)
        });
        let mut forgotten = self.forgotten();
        forgotten.extend(ForgottenCpus::gather(lost));
        // Unreachable: without /proc no program could be observed.
        self.dismiss(LeftChanged { forgotten, seated: left.unwrap_or_default() })
    }

    /// Leaves the seats as they are, and dismisses the guardian.
    pub fn keep(&mut self) -> LeftChanged {
        let forgotten = self.forgotten();
        self.dismiss(LeftChanged { forgotten, seated: Vec::new() })
    }

    fn dismiss(&mut self, mut left: LeftChanged) -> LeftChanged {
        if let Some(guardian) = self.guardian.take() {
            guard::dismiss(guardian, &mut left.forgotten);
        }
        left
    }

    /// Restores all masks, and again those that lacked CPUs. Masks changed by another program stay.
    pub fn free(&mut self) -> Sweep {
        let begun = Instant::now();
        let mut sweep = Sweep::default();
        self.ledger.end_seats();
        for (tid, sitter) in &mut self.sitters {
            let has_ours = match sitter.seat.take() {
                Some(seat) => affinity::has_mask(*tid, &seat).unwrap_or(true),
                None => sitter.has_lost(),
            };
            if has_ours && sitter.thread.exists() {
                sweep.count(&sitter.give_back());
            }
        }
        Sweep { took: begun.elapsed(), ..sweep }
    }

    fn forgotten(&self) -> Vec<ForgottenCpus> {
        let freed = self.sitters.values().filter(|sitter| sitter.has_lost());
        ForgottenCpus::gather(
            freed.map(|sitter| {
                (ThreadMask::of(sitter.thread, sitter.had.clone()), sitter.lost.clone())
            }),
        )
    }

    fn check(&self) {
        for (tid, sitter) in &self.sitters {
            let Some(seat) = &sitter.seat else { continue };
            invariant!(
                !sitter.is_own && !seat.is_empty() && seat.is_subset(&sitter.base),
                "masks of living threads",
                "thread {tid} has the seat {seat}, and its own mask is {}",
                sitter.base
            );
        }
    }

    /// Looks whether threads are on their seats and get CPUs there, unless just done.
    pub fn look(&mut self) {
        let begun = Instant::now();
        if self.due.is_none_or(|due| due <= begun) {
            self.look_now();
            self.due = Some(next_after(begun));
        }
    }

    /// Looks at once.
    pub fn look_now(&mut self) {
        let without_tick = starved::without_tick(&Root::new("/"));
        let now_ns = boot::nanoseconds();
        let mut living = 0;
        let mut on_seats = 0;
        for (tid, sitter) in &mut self.sitters {
            let Some(seat) = &sitter.seat else { continue };
            let same = ThreadStat::of(*tid)
                .filter(|task| task.identity() == sitter.thread && !task.has_ended());
            let Some(task) = same else { continue };
            let Ok(has_it) = affinity::has_mask(*tid, seat) else { continue };
            living += 1;
            if !has_it {
                self.moved.insert(sitter.thread);
                continue;
            }
            on_seats += 1;
            let (ready, is_starved) = Ready::look(sitter.ready, &task, now_ns, &without_tick);
            sitter.ready = ready;
            if is_starved {
                let starved = Starved { tid: *tid, name: task.name, cpus: seat.to_string() };
                self.starved.insert(sitter.thread, starved);
            }
        }
        // The last figure of an ended program stays.
        if living > 0 {
            self.on_seats = on_seats;
        }
    }

    /// The state of the threads, from all looks so far.
    pub fn held(&self) -> SeatStatus {
        let starved = self.starved.values().cloned().collect();
        SeatStatus { on_seats: self.on_seats, moved: self.moved.len(), starved }
    }

    /// The number of threads with masks of their own choice.
    pub fn own(&self) -> usize {
        self.sitters.values().filter(|sitter| sitter.is_own).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};

    struct Sleeper {
        tid: Tid,
        orders: Sender<Sender<Sleeper>>,
    }

    fn sleep(orders: &Receiver<Sender<Sleeper>>) {
        for answer in orders {
            answer.send(sleeper()).unwrap();
        }
    }

    fn sleeper() -> Sleeper {
        let (orders, receiver) = channel();
        let (said, tid) = channel();
        std::thread::spawn(move || {
            said.send(seatmap_os::task::own_tid()).unwrap();
            sleep(&receiver);
        });
        Sleeper { tid: tid.recv().unwrap(), orders }
    }

    impl Sleeper {
        fn child(&self) -> Sleeper {
            let (answer, child) = channel();
            self.orders.send(answer).unwrap();
            child.recv().unwrap()
        }

        fn cpus(&self) -> CpuSet {
            CpuSet::of_thread(self.tid).unwrap()
        }
    }

    fn own() -> (Tid, CpuSet) {
        (std::process::id() as Tid, CpuSet::of_thread(0).unwrap())
    }

    /// The first and last of this process's CPUs.
    fn two_seats() -> Option<[CpuSet; 2]> {
        let (_, all) = own();
        (all.len() > 1).then(|| [all.first(), all.last()].map(|cpu| CpuSet::single(cpu.unwrap())))
    }

    fn adopted(threads: &[&Sleeper]) -> Masks {
        let (pid, _) = own();
        let tids = threads.iter().map(|thread| thread.tid);
        let threads: Vec<(Tid, Tid)> =
            std::iter::once(pid).chain(tids).map(|tid| (pid, tid)).collect();
        let mut masks = Masks::default();
        masks.adopt(&threads);
        masks
    }

    #[test]
    fn ended_thread_counts_as_no_refusal() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let pid = Tid::try_from(child.id()).unwrap();
        let mut masks = Masks::default();
        masks.adopt(&[(pid, pid)]);
        assert_eq!(masks.sitters.len(), 1);
        child.kill().unwrap();
        child.wait().unwrap();
        let one = CpuSet::of_thread(0).unwrap().iter().next().unwrap();
        let sweep = masks.seat(&[(pid, CpuSet::single(one))]).unwrap();
        assert_eq!((sweep.threads, sweep.refused), (0, 0));
        assert_eq!(masks.free().refused, 0);
    }

    #[test]
    fn seated_threads_get_original_masks_back() {
        let (pid, all) = own();
        let a = sleeper();
        let seat = CpuSet::single(all.last().unwrap());
        let mut masks = adopted(&[&a]);
        masks.adopt(&[(pid, a.tid)]);
        assert_eq!(masks.sitters.len(), 2);
        let sweep = masks.seat(&[(a.tid, seat.clone())]).unwrap();
        assert_eq!(sweep.threads, if all.len() > 1 { 1 } else { 0 });
        assert_eq!(a.cpus(), seat);
        let child = a.child();
        masks.adopt(&[(pid, child.tid)]);
        assert_eq!(child.cpus(), all, "a child of a seated thread has its process's mask");
        masks.free();
        assert_eq!(a.cpus(), all);
        assert!(masks.sitters.values().all(|sitter| sitter.seat.is_none()));
    }

    #[test]
    fn threads_with_own_masks_stay_unchanged() {
        let Some([first, last]) = two_seats() else {
            return seatmap_needs::skipped!("there is one CPU");
        };
        let a = sleeper();
        first.give(a.tid).unwrap();
        let mut masks = adopted(&[&a]);
        let sweep = masks.seat(&[(a.tid, last)]).unwrap();
        assert_eq!((sweep.threads, masks.own(), a.cpus()), (0, 1, first));
    }

    #[test]
    fn free_keeps_masks_changed_by_others() {
        let Some([first, last]) = two_seats() else {
            return seatmap_needs::skipped!("there is one CPU");
        };
        let a = sleeper();
        let mut masks = adopted(&[&a]);
        masks.seat(&[(a.tid, last)]).unwrap();
        first.give(a.tid).unwrap();
        masks.free();
        assert_eq!(a.cpus(), first);
    }

    /// As if the present thread had got the number of an ended one.
    fn end_known(masks: &mut Masks, tid: Tid) {
        masks.sitters.get_mut(&tid).unwrap().thread.started_ticks -= 1;
        masks.heirs_due = None;
    }

    #[test]
    fn thread_with_reused_number_is_another() {
        let Some([first, last]) = two_seats() else {
            return seatmap_needs::skipped!("there is one CPU");
        };
        let (pid, _) = own();
        let a = sleeper();
        let mut masks = adopted(&[&a]);
        masks.seat(&[(a.tid, last.clone())]).unwrap();
        end_known(&mut masks, a.tid);
        assert_eq!((masks.free().threads, a.cpus()), (0, last.clone()), "a stranger's mask stays");
        masks.adopt(&[(pid, a.tid)]);
        assert_eq!(masks.seat(&[(a.tid, first)]).unwrap().threads, 1, "it is seated like any new");
    }

    #[test]
    fn process_with_reused_number_has_its_own_mask() {
        let Some([first, _]) = two_seats() else {
            return seatmap_needs::skipped!("there is one CPU");
        };
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let pid = Tid::try_from(child.id()).unwrap();
        first.give(pid).unwrap();
        let mut ended = ThreadIdentity::of(pid).unwrap();
        ended.started_ticks -= 1;
        let mut masks = Masks::default();
        masks.processes.insert(ended, own().1);
        masks.adopt(&[(pid, pid)]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((masks.sitters.len(), masks.own()), (1, 0), "it did not narrow its own mask");
    }

    #[test]
    fn look_counts_threads_off_their_seat() {
        let Some([first, last]) = two_seats() else {
            return seatmap_needs::skipped!("there is one CPU");
        };
        let a = sleeper();
        let b = sleeper();
        let mut masks = adopted(&[&a, &b]);
        masks.seat(&[(a.tid, last.clone()), (b.tid, last.clone())]).unwrap();
        let held = |masks: &mut Masks| {
            masks.look_now();
            let held = masks.held();
            (held.on_seats, held.moved, held.starved.len())
        };
        assert_eq!(held(&mut masks), (2, 0, 0));
        first.give(a.tid).unwrap();
        assert_eq!(held(&mut masks), (1, 1, 0));
        last.give(a.tid).unwrap();
        assert_eq!(held(&mut masks), (2, 1, 0), "the history stays");
        masks.free();
        assert_eq!(held(&mut masks), (2, 1, 0), "without seats there is nothing to look at");
    }

    #[test]
    fn ended_threads_are_ignored() {
        let (pid, all) = own();
        let mut masks = Masks::default();
        masks.adopt(&[(pid, 1 << 30)]);
        assert!(masks.sitters.is_empty());
        let sweep = masks.seat(&[(1 << 30, all)]).unwrap();
        assert_eq!((sweep.threads, sweep.refused), (0, 0));
    }
}
