//! The thread: answers the kernel, and takes pages.

use super::PAGE;
use super::areas::Areas;
use super::book::Book;
use super::events::Event;
use super::given::Given;
use super::hold;
use super::kernel::{Faults, MESSAGES};
use super::last;
use super::moves::Moves;
use super::sampler::{Sampler, Used};
use super::stash::{Open, Return, Stash};
use super::trial;
use super::wire::{Record, Sample, Wire};
use crate::output::Path;
use crate::threads::cpu_ns;
use std::ffi::c_int;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The time between two looks for pages to take, in milliseconds.
const TICK_MS: c_int = 1;
/// The time between two looks where the program has used so little CPU time that no page may be
/// taken.
const IDLE_MS: c_int = 8;
/// The least time between two looks at the program's memory, in nanoseconds, and how many times as
/// long as the look.
const LOOK_NS: u64 = 100_000_000;
const LOOK_SHARE: u64 = 50;
/// Ticks between two readings of CPU times.
const READ_EVERY: u64 = 8;

/// Attempts to take a page for each that may be taken.
const ATTEMPTS: u64 = 4;

/// The time after which a page that nobody accessed makes room for another, in nanoseconds.
const EXPOSED_NS: u64 = 20_000_000;

/// CPU time of a thread for one fault, in nanoseconds, as measured when the program began.
pub static FAULT_NS: AtomicU64 = AtomicU64::new(4000);

struct Handler {
    faults: Faults,
    wire: Wire,
    stash: Stash,
    areas: Areas,
    book: Book,
    sampler: Sampler,
    given: Given,
    moves: Moves,
    fault_count: u64,
    used: Used,
    look_at_ns: u64,
    ticks: u64,
    is_idle: bool,
}

/// Samples until nobody listens any longer. `ready` is told once whether it begins.
pub fn run(socket: &Path, ready: impl FnOnce(bool)) {
    leave_files();
    let Some(mut wire) = Wire::connect(socket) else { return ready(false) };
    // SAFETY: the calls have no preconditions.
    let (tid, pid) = unsafe { (libc::gettid(), libc::getpid()) };
    wire.tell(Record::Hello { tid, pid });
    let faults = match Faults::open() {
        Ok(faults) => faults,
        Err(error) => return refuse(wire, error, ready),
    };
    match Handler::new(faults, wire) {
        Ok(mut handler) => {
            handler.wire.send();
            ready(true);
            handler.work();
            handler.finish();
        }
        Err((wire, error)) => refuse(wire, error, ready),
    }
}

fn refuse(mut wire: Wire, error: c_int, ready: impl FnOnce(bool)) {
    wire.tell(Record::Refused(error));
    wire.send();
    ready(false);
}

/// The thread has its own table of files, so that the program may close all of its own, and has
/// none too many.
fn leave_files() {
    const UNSHARE: u32 = 1 << 1;
    // SAFETY: closes the files in a table that this thread gets for itself.
    unsafe { libc::syscall(libc::SYS_close_range, 0, u32::MAX, UNSHARE) };
    // SAFETY: raises the priority of this thread alone, where that is allowed: threads of the
    // program wait for it.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -5) };
}

fn now_ns() -> u64 {
    cpu_ns(libc::CLOCK_MONOTONIC) as u64
}
impl Handler {
    fn new(faults: Faults, wire: Wire) -> Result<Self, (Wire, c_int)> {
        let (Some(stash), Some(areas), Some(book), Some(given)) =
            (Stash::new(&faults), Areas::new(), Book::new(), Given::new())
        else {
            return Err((wire, libc::ENOMEM));
        };
        trial::register(&faults);
        Ok(Handler {
            faults,
            wire,
            stash,
            areas,
            book,
            sampler: Sampler::new(now_ns()),
            given,
            moves: Moves::new(),
            fault_count: 0,
            used: Used::default(),
            look_at_ns: 0,
            ticks: 0,
            is_idle: false,
        })
    }

    fn work(&mut self) {
        while self.wire.is_open() {
            self.wait();
            while self.answer() {}
            self.settle();
            self.make_way();
            if self.is_settled() && !hold::is_held() {
                self.look();
                self.sample();
            }
            self.wire.send_sometimes();
        }
    }

    fn wait(&mut self) {
        let mut files = [polled(self.faults.fd(), libc::POLLIN), polled(self.wire.fd(), 0)];
        // SAFETY: the array has two entries.
        unsafe { libc::poll(files.as_mut_ptr(), 2, if self.is_idle { IDLE_MS } else { TICK_MS }) };
        if files[1].revents & (libc::POLLHUP | libc::POLLERR) != 0 {
            self.wire.close();
        }
    }

    /// Answers what the kernel told; whether there may be more.
    ///
    /// Changes of memory come before faults: the kernel gives faults first, though a thread may
    /// have met a page at an address to which it had just moved.
    fn answer(&mut self) -> bool {
        let mut events = [None; MESSAGES];
        let mut count = 0;
        let has_more = self.faults.events(|event| {
            if let Some(place) = events.get_mut(count) {
                *place = Some(event);
                count += 1;
            }
        });
        for are_faults in [false, true] {
            events
                .into_iter()
                .flatten()
                .filter(|event| matches!(event, Event::Fault { .. }) == are_faults)
                .for_each(|event| self.take_in(event));
        }
        has_more
    }

    fn take_in(&mut self, event: Event) {
        match event {
            Event::Fault { address, tid, is_write, is_protected } => {
                self.fault_count += 1;
                let sample = Sample { tid, address, exposed_ns: 0 };
                if is_protected { self.changed(sample) } else { self.accessed(sample, is_write) }
            }
            Event::Fork(child) => {
                self.stash.copy_to(&Faults::from(child));
                self.wire.tell(Record::Forked);
            }
            Event::Moved { from, to, bytes } => self.moved(from, to, bytes),
            Event::Dropped { start, end } => self.given_back(start, end),
            Event::Unmapped { start, end } if self.moves.is_of_move((start, end)) => {}
            Event::Unmapped { start, end } => self.unmapped(start, end),
        }
    }

    /// A thread waits for a page: one that is away, one that has just come back, or one that was
    /// never there.
    fn accessed(&mut self, mut sample: Sample, is_write: bool) {
        let page = sample.address / PAGE * PAGE;
        self.settle();
        if !self.moves.is_settled() {
            // Which memory is there is not known yet. The thread asks again.
            return self.faults.wake(page);
        }
        match self.stash.find(page).filter(|slot| self.stash.at(*slot).is_away) {
            Some(slot) => {
                sample.exposed_ns = now_ns().saturating_sub(self.stash.at(slot).since_ns);
                if self.stash.close(&self.faults, slot) == Return::Later {
                    // The thread asks again.
                    return self.faults.wake(page);
                }
            }
            None if self.fill(page) => return,
            None => {}
        }
        self.book.was_exposed(page, true, sample.tid);
        self.wire.tell(if is_write { Record::Written(sample) } else { Record::Read(sample) });
    }

    /// Fills memory that had no pages; false where the page is there.
    fn fill(&mut self, page: usize) -> bool {
        let end = match self.areas.of(page) {
            Some(piece) => self.stash.first_away(page, piece.end),
            None => page + PAGE,
        };
        let all = self.faults.zeros(page, end - page);
        // The kernel may keep the memory in parts, and fills one part at a time.
        let is_refused =
            matches!(all, Err(error) if error != libc::EEXIST && error != libc::EAGAIN);
        let filled = if is_refused { self.faults.zeros(page, PAGE) } else { all };
        match filled {
            // Memory that has grown is told of as well.
            Ok(bytes) => self.areas.know(page, page + bytes),
            Err(_) => self.faults.wake(page),
        }
        filled != Err(libc::EEXIST)
    }

    fn changed(&mut self, mut sample: Sample) {
        let page = sample.address / PAGE * PAGE;
        match self.stash.find(page).filter(|slot| !self.stash.at(*slot).is_away) {
            Some(slot) => {
                sample.exposed_ns = now_ns().saturating_sub(self.stash.at(slot).since_ns);
                if self.stash.close(&self.faults, slot) == Return::Later {
                    return self.faults.wake(page);
                }
            }
            // The thread goes on, or asks again.
            None if self.faults.protect(page, false).is_err() => return self.faults.wake(page),
            None => {}
        }
        self.book.was_exposed(page, false, sample.tid);
        self.wire.tell(Record::Changed(sample));
    }

    /// Pages follow their memory. They come back when the kernel has told everything, which it has
    /// not before it says that there is no memory at the old address.
    fn moved(&mut self, from: usize, to: usize, bytes: usize) {
        let end = from.saturating_add(bytes);
        let moves = &mut self.moves;
        self.areas.known(to, to.saturating_add(bytes), |part| moves.arrive_over(part));
        for slot in self.stash.within(from, end) {
            let page = self.stash.at(slot).page - from + to;
            if self.stash.leaves(slot) {
                self.stash.follow(slot, page, self.moves.owed(page));
            }
        }
        self.areas.follow(from, to, bytes);
        self.left(from, end);
        self.moves.leave((from, end));
    }

    /// Pages go with their memory. Those that have just moved here may have come after it was
    /// unmapped; they find out when they come back.
    fn unmapped(&mut self, start: usize, end: usize) {
        for slot in self.stash.within(start, end) {
            if self.stash.leaves(slot) && !self.stash.at(slot).has_strayed {
                self.stash.drop(&self.faults, slot);
            }
        }
        self.areas.forget(start, end);
        self.left(start, end);
    }

    /// Memory has left these addresses; newer memory that is there stays known.
    fn left(&mut self, start: usize, end: usize) {
        let areas = &mut self.areas;
        self.moves.settle((start, end), |part| areas.know(part.0, part.1));
        self.given.forget(start, end);
        self.book.forget(start, end);
    }

    /// The program gives pages back: those that are its own now.
    fn given_back(&mut self, start: usize, end: usize) {
        for slot in self.stash.within(start, end) {
            if self.is_current(slot) {
                self.stash.drop(&self.faults, slot);
            }
        }
        self.given.add(start, end);
        self.book.forget(start, end);
    }

    /// Whether a page belongs to the memory that is at its address now.
    fn is_current(&self, slot: usize) -> bool {
        let open = self.stash.at(slot);
        usize::from(open.owed) == self.moves.owed(open.page)
    }

    /// Brings pages back that were moved, once the kernel has told everything.
    fn settle(&mut self) {
        if !self.is_settled() && self.stash.is_quiet(&self.faults) {
            self.stash.settle(&self.faults);
            self.moves.clear();
            self.stash.close_strays(&self.faults);
        }
    }

    fn is_settled(&self) -> bool {
        self.moves.is_settled() && !self.stash.has_strays()
    }

    /// Leaves memory alone that a thread wants to change.
    fn make_way(&mut self) {
        let Some((start, end)) = hold::requested() else { return };
        let open = self.stash.within(start, end);
        let later =
            open.filter(|slot| self.stash.close(&self.faults, *slot) == Return::Later).count();
        if later == 0 && self.is_settled() {
            self.areas.release(&self.faults, start, end);
            hold::grant();
        }
    }

    /// Looks for new memory, now and then.
    fn look(&mut self) {
        let now = now_ns();
        if now < self.look_at_ns {
            return;
        }
        if last::is_alone() {
            // Nobody is left to sample, and the process would wait for this thread.
            self.wire.send();
            self.wire.close();
            return;
        }
        self.areas.look(&self.faults);
        let after = now_ns();
        self.look_at_ns = after + LOOK_NS.max((after - now) * LOOK_SHARE);
        let sampled_bytes =
            self.areas.pieces().iter().map(|piece| (piece.end - piece.start) as u64).sum();
        let left_out_bytes = self.areas.left_out_bytes as u64;
        self.wire.tell(Record::Memory { sampled_bytes, left_out_bytes });
        self.tell_of_open(after);
        let own_ns = cpu_ns(libc::CLOCK_THREAD_CPUTIME_ID) as u64;
        self.wire.tell(Record::Cost {
            own_ns,
            faults: self.fault_count,
            fault_ns: FAULT_NS.load(Relaxed),
        });
    }

    /// Tells for how long pages have been exposed that nobody accessed so far: the program may end
    /// before they are.
    fn tell_of_open(&mut self, now: u64) {
        for slot in self.stash.within(0, usize::MAX) {
            let open = self.stash.at(slot);
            if now.saturating_sub(open.since_ns) >= EXPOSED_NS {
                self.book.was_exposed(open.page, open.is_away, 0);
                self.tell_of(open, now);
                self.stash.begin_anew(slot, now);
            }
        }
    }

    fn tell_of(&mut self, open: Open, now: u64) {
        let sample =
            Sample { tid: 0, address: open.page, exposed_ns: now.saturating_sub(open.since_ns) };
        self.wire.tell(if open.is_away { Record::Read(sample) } else { Record::Changed(sample) });
    }

    fn sample(&mut self) {
        let now = now_ns();
        self.ticks += 1;
        if self.ticks.is_multiple_of(READ_EVERY) || self.is_idle {
            self.read_times();
        }
        let allowed = self.sampler.allowed(self.used) as u64;
        self.is_idle = allowed == 0;
        let enough = self.used.samples + allowed;
        // A page may be gone, away already, or of no interest.
        for _ in 0..ATTEMPTS * allowed {
            if self.used.samples < enough {
                self.used.samples += u64::from(self.take_next(now));
            }
        }
    }

    fn take_next(&mut self, now: u64) -> bool {
        let Some(next) = self.sampler.next(&self.areas, &mut self.book) else { return false };
        let is_known = self.areas.of(next.page).is_some();
        if !is_known || self.stash.find(next.page).is_some() {
            return false;
        }
        let slot = self.stash.room(next.page);
        let is_away = next.is_away && !self.given.has(next.page);
        let open = Open { page: next.page, since_ns: now_ns(), is_away, ..Open::default() };
        self.is_free(slot, now) && self.stash.open(&self.faults, slot, open)
    }

    fn read_times(&mut self) {
        let own = cpu_ns(libc::CLOCK_THREAD_CPUTIME_ID) as f64;
        let of_faults = (self.fault_count * FAULT_NS.load(Relaxed)) as f64;
        self.used.program_ns = cpu_ns(libc::CLOCK_PROCESS_CPUTIME_ID) as f64 - own - of_faults;
        self.used.sampling_ns = own + of_faults;
    }

    /// Frees a slot whose page nobody accessed for a while.
    fn is_free(&mut self, slot: usize, now: u64) -> bool {
        let open = self.stash.at(slot);
        if open.page == 0 {
            return true;
        }
        if now.saturating_sub(open.since_ns) < EXPOSED_NS
            || self.stash.close(&self.faults, slot) == Return::Later
        {
            return false;
        }
        self.book.was_exposed(open.page, open.is_away, 0);
        self.tell_of(open, now);
        true
    }

    /// Brings every page back. While the program changes its memory, the kernel's words must be
    /// read first.
    fn finish(&mut self) {
        loop {
            while self.answer() {}
            self.settle();
            if self.is_settled() {
                let all = self.stash.within(0, usize::MAX);
                let later = all
                    .filter(|slot| self.stash.close(&self.faults, *slot) == Return::Later)
                    .count();
                if later == 0 {
                    return;
                }
            }
            std::thread::yield_now();
        }
    }
}

fn polled(fd: c_int, events: libc::c_short) -> libc::pollfd {
    libc::pollfd { fd, events, revents: 0 }
}
