//! Looks at a running program from outside, through `/proc`: often while threads come and go, and
//! seldom otherwise.
//!
//! Looking stops no thread and costs the program nothing. It finds names, which threads get late;
//! threads and processes that did not come through the tracer; and threads that no longer sit on
//! their seats.

use crate::pinner::{Birth, Pinner};
use crate::tracer::Tracer;
use seatmap_os::task;
use seatmap_os::task::{Family, ThreadStat};
use seatmap_os::{Root, Tid};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::{Duration, Instant};

/// The pause after a change.
const SHORTEST: Duration = Duration::from_millis(1);
/// The pause after some time without a change.
const LONGEST: Duration = Duration::from_millis(100);
/// The longest time between two looks when the program's first process has ended and the others may
/// run for days.
const LONGEST_BEHIND: Duration = Duration::from_secs(1);
/// Looking takes at most this part of one CPU's time.
const SHARE: u32 = 50;

/// When to look next, and at which processes.
#[derive(Debug)]
pub(crate) struct ProcessWatch {
    /// The processes, with the clock ticks after the boot at which each started: between two looks
    /// one may end, and its number go to a process that is not of the program. `None` where this
    /// could not be read, and then the number alone counts.
    processes: BTreeMap<Tid, Option<u64>>,
    interval: Duration,
    longest: Duration,
    due: Instant,
}

impl ProcessWatch {
    pub fn new(leader: Tid) -> Self {
        ProcessWatch {
            processes: BTreeMap::from([(leader, started_ticks(leader))]),
            interval: SHORTEST,
            longest: LONGEST,
            due: Instant::now(),
        }
    }

    /// Looks less often from now on, where there was no change.
    pub fn slow_down(&mut self) {
        self.longest = LONGEST_BEHIND;
    }

    /// The processes of the program, as far as they are known.
    pub fn processes(&self) -> impl Iterator<Item = Tid> + '_ {
        self.processes.iter().filter(|(pid, ticks)| is_same(**pid, **ticks)).map(|(pid, _)| *pid)
    }

    /// Whether any process of the program is known.
    pub fn knows_processes(&self) -> bool {
        !self.processes.is_empty()
    }

    /// Finds the program's threads once more. Returns the living processes.
    pub fn living(&mut self, pinner: &mut Pinner, tracer: &Tracer) -> Vec<Tid> {
        self.find(pinner, tracer);
        self.processes().filter(|pid| task::lives(*pid)).collect()
    }

    /// The time until the next look.
    pub fn wait(&self) -> Duration {
        self.due.saturating_duration_since(Instant::now())
    }

    /// Looks at every thread, and decides when to do so again. Returns whether something had
    /// changed.
    pub fn look(&mut self, pinner: &mut Pinner, tracer: &mut Tracer) -> bool {
        let begun = Instant::now();
        // First: a seat that lacks a CPU which has come would look like another mask.
        pinner.look_at_owed();
        let mut news = self.find(pinner, tracer);
        for tid in pinner.threads.tids() {
            news |= pinner.look(tid, tracer.expects(tid));
        }
        tracer.let_go(pinner);
        self.interval = if news { SHORTEST } else { (self.interval * 2).min(self.longest) };
        let ended = Instant::now();
        self.due = ended + self.interval.max((ended - begun) * SHARE);
        news
    }

    /// Looks at the threads that outlive the program's first process.
    pub fn last_look(&mut self, pinner: &mut Pinner) {
        for tid in pinner.threads.tids() {
            pinner.look(tid, true);
        }
    }

    /// Finds processes, and threads that the tracer did not report. Returns whether there were any.
    fn find(&mut self, pinner: &mut Pinner, tracer: &Tracer) -> bool {
        for pid in pinner.threads.processes() {
            self.note(pid);
        }
        self.processes.retain(|pid, ticks| is_same(*pid, *ticks));
        let mut news = false;
        let mut queue: Vec<Tid> = self.processes.keys().copied().chain(tracer.awaiting()).collect();
        // Processes whose creators have ended are this process's children, where it adopts them.
        let me = std::process::id() as Tid;
        queue.extend(self.new_children(me, &[me]));
        while let Some(pid) = queue.pop() {
            // One whose threads cannot be listed has not ended.
            let Ok(threads) = task::threads(pid) else { continue };
            if threads.is_empty() {
                self.processes.remove(&pid);
            }
            for tid in &threads {
                news |= adopt(*tid, pinner, tracer);
            }
            queue.extend(self.new_children(pid, &threads));
        }
        news
    }

    /// The children of a process that were not known, and are from now on.
    fn new_children(&mut self, pid: Tid, threads: &[Tid]) -> Vec<Tid> {
        // A list that cannot be read now is read at the next look: no process is taken for ended
        // because it is missing here.
        let children = task::children(&Root::new("/"), pid, threads).unwrap_or_default();
        children.into_iter().filter(|child| self.note(*child)).collect()
    }

    /// Notes a process. Returns whether its number was not known.
    fn note(&mut self, pid: Tid) -> bool {
        let Entry::Vacant(vacant) = self.processes.entry(pid) else { return false };
        vacant.insert(started_ticks(pid));
        true
    }
}

fn started_ticks(pid: Tid) -> Option<u64> {
    ThreadStat::of(pid).map(|task| task.started_ticks)
}

/// Whether a number is still that of the process which started then, or nobody's.
fn is_same(pid: Tid, ticks: Option<u64>) -> bool {
    ticks.zip(started_ticks(pid)).is_none_or(|(then, now)| then == now)
}

/// Takes in a thread that did not come through the tracer, and is not about to.
fn adopt(tid: Tid, pinner: &mut Pinner, tracer: &Tracer) -> bool {
    if pinner.threads.knows(tid) {
        return false;
    }
    let is_lost = tracer.awaits_creator(tid) && has_lost_creator(tid, pinner);
    if tracer.expects(tid) && !is_lost {
        return false;
    }
    let me = std::process::id() as Tid;
    // A thread that this process traces comes through the tracer, at its place in the order.
    let lives = ThreadStat::of(tid).is_some_and(|task| !task.has_ended());
    let may_be_traced =
        tracer.is_tracing() && Family::of(tid).is_none_or(|family| family.tracer == me);
    if !lives || may_be_traced && !is_lost {
        return false;
    }
    let Some(birth) = Birth::of(tid, true) else { return false };
    pinner.arrive(tid, birth);
    true
}

/// Whether the report of a new task's creator will not come. A creator stays where it is stopped
/// until the tracer has seen its report. Only `SIGKILL` takes it from there, with all threads of
/// its process, so that the task is a process of its own, which has another parent now.
fn has_lost_creator(tid: Tid, pinner: &Pinner) -> bool {
    let processes = pinner.threads.processes();
    Family::of(tid).is_some_and(|family| family.pid == tid && !processes.contains(&family.parent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocator::SeatAllocator;
    use crate::seats::{Beyond, SeatList};
    use seatmap_os::{CpuList, CpuSet};

    #[test]
    fn a_process_that_got_the_number_of_another_is_left_alone() {
        let cpus: CpuSet = seatmap_os::affinity::current().unwrap().into_iter().collect();
        let seats = SeatList::of_cpus(&CpuList(vec![cpus.first().unwrap()]), Beyond::Cycle);
        let mut stranger = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = stranger.id() as Tid;
        let mut tracer = Tracer::new(pid, None);
        let mut pinner = Pinner::new(SeatAllocator::new(seats, Vec::new(), 0), cpus, None);
        let mut watch = ProcessWatch::new(pid);
        assert_eq!(watch.processes().collect::<Vec<Tid>>(), [pid]);
        // The one that was known had begun earlier.
        watch.processes.insert(pid, Some(1));
        assert_eq!(watch.processes().count(), 0, "its masks are not given back");
        watch.look(&mut pinner, &mut tracer);
        let is_seated = pinner.threads.knows(pid);
        stranger.kill().unwrap();
        stranger.wait().unwrap();
        assert!(!is_seated && !watch.processes.contains_key(&pid));
    }
}
