//! Looks at a running program through `/proc`: often while threads start and end, and rarely
//! otherwise.
//!
//! Looking stops no thread. It finds late thread names, threads and processes unknown to the
//! tracer, and threads that left their seats.

use crate::pinner::{Birth, Pinner};
use crate::tracer::Tracer;
use seatmap_os::task::{Family, ThreadStat};
use seatmap_os::{Root, Tid, task};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::{Duration, Instant};

/// The pause after a change.
const SHORTEST: Duration = Duration::from_millis(1);
/// The pause after some time without a change.
const LONGEST: Duration = Duration::from_millis(100);
/// The longest pause behind the first process, because others may run for days.
const LONGEST_BEHIND: Duration = Duration::from_secs(1);
/// Looks take one part in this many of a CPU's time.
const SHARE: u32 = 50;

pub struct ProcessWatch {
    /// The processes with their starts, in clock ticks after the boot: another program may get a
    /// PID between two looks. `None` if the start was unreadable: then the PID decides.
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

    pub fn slow_down(&mut self) {
        self.longest = LONGEST_BEHIND;
    }

    pub fn processes(&self) -> impl Iterator<Item = Tid> + '_ {
        self.processes.iter().filter(|(pid, ticks)| is_same(**pid, **ticks)).map(|(pid, _)| *pid)
    }

    pub fn knows_processes(&self) -> bool {
        !self.processes.is_empty()
    }

    /// Finds the threads, and returns the living processes.
    pub fn living(&mut self, pinner: &mut Pinner, tracer: &Tracer) -> Vec<Tid> {
        self.find(pinner, tracer);
        self.processes().filter(|pid| task::lives(*pid)).collect()
    }

    pub fn wait(&self) -> Duration {
        self.due.saturating_duration_since(Instant::now())
    }

    /// Looks at every thread. Returns whether anything changed.
    pub fn look(&mut self, pinner: &mut Pinner, tracer: &mut Tracer) -> bool {
        let begun = Instant::now();
        // First: a seat with a returned CPU would look like another mask.
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

    pub fn last_look(&mut self, pinner: &mut Pinner) {
        for tid in pinner.threads.tids() {
            pinner.look(tid, true);
        }
    }

    /// Finds processes, and threads that the tracer did not report. Returns whether there were any.
    fn find(&mut self, pinner: &mut Pinner, tracer: &Tracer) -> bool {
        self.processes.retain(|pid, ticks| is_same(*pid, *ticks));
        for pid in pinner.threads.processes() {
            // Another process may have the number of one that has ended since the last look.
            if self.processes.contains_key(&pid) || pinner.still_has(pid) {
                self.note(pid);
            }
        }
        let mut news = false;
        let mut queue: Vec<Tid> = self.processes.keys().copied().chain(tracer.awaiting()).collect();
        // It may adopt processes whose creators have ended.
        let me = task::own_pid();
        queue.extend(self.new_children(me, &[me]));
        while let Some(pid) = queue.pop() {
            // If the threads cannot be listed, the process has not ended.
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

    fn new_children(&mut self, pid: Tid, threads: &[Tid]) -> Vec<Tid> {
        // A process missing here does not count as ended.
        let children = task::children(&Root::new("/"), pid, threads).unwrap_or_default();
        children.into_iter().filter(|child| self.note(*child)).collect()
    }

    fn note(&mut self, pid: Tid) -> bool {
        let Entry::Vacant(vacant) = self.processes.entry(pid) else { return false };
        vacant.insert(started_ticks(pid));
        true
    }
}

fn started_ticks(pid: Tid) -> Option<u64> {
    ThreadStat::of(pid).map(|task| task.started_ticks)
}

fn is_same(pid: Tid, ticks: Option<u64>) -> bool {
    ticks.zip(started_ticks(pid)).is_none_or(|(then, now)| then == now)
}

/// Adopts a thread that the tracer neither has reported nor will.
fn adopt(tid: Tid, pinner: &mut Pinner, tracer: &Tracer) -> bool {
    if pinner.threads.knows(tid) {
        return false;
    }
    let is_lost = tracer.awaits_creator(tid) && has_lost_creator(tid, pinner);
    if tracer.expects(tid) && !is_lost {
        return false;
    }
    let me = task::own_pid();
    // A traced thread comes through the tracer.
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

/// A creator stays stopped until the tracer has seen its report. Only `SIGKILL` ends the stop,
/// together with all its process's threads; so the new task is a process with another parent.
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

    fn pinner() -> Pinner {
        let cpus: CpuSet = seatmap_os::affinity::current().unwrap().into_iter().collect();
        let seats = SeatList::of_cpus(&CpuList(vec![cpus.first().unwrap()]), Beyond::Cycle);
        Pinner::new(SeatAllocator::new(seats, Vec::new(), 0).strict(true), cpus, None)
    }

    fn with_sleeper(test: impl FnOnce(Tid)) {
        let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        test(sleeper.id() as Tid);
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }

    /// As if the thread with this number had ended, and another had got it.
    fn end_known(pinner: &mut Pinner, tid: Tid) {
        let living = pinner.threads.living(tid).unwrap();
        (living.started_ticks, living.found_ticks) = (None, 0);
    }

    #[test]
    fn new_thread_with_reused_number_is_seated() {
        with_sleeper(|pid| {
            let mut pinner = pinner();
            let birth = Birth { pid, creator: pid, is_late: false };
            pinner.arrive(pid, birth);
            pinner.arrive(pid, birth);
            assert_eq!(pinner.threads.records.len(), 1, "it is the same");
            end_known(&mut pinner, pid);
            pinner.arrive(pid, birth);
            assert_eq!(pinner.threads.records.len(), 2);
        });
    }

    #[test]
    fn stranger_with_reused_number_is_not_seated() {
        with_sleeper(|pid| {
            let mut pinner = pinner();
            let mut tracer = Tracer::new(pid, None);
            let mut watch = ProcessWatch::new(pid);
            pinner.arrive(pid, Birth { pid, creator: pid, is_late: false });
            end_known(&mut pinner, pid);
            watch.processes.insert(pid, Some(1));
            let living: Vec<Tid> =
                (0..2).flat_map(|_| watch.living(&mut pinner, &tracer)).collect();
            assert!(living.is_empty(), "masks are restored only to the program's processes");
            pinner.arrive(pid, Birth { pid, creator: pid, is_late: false });
            end_known(&mut pinner, pid);
            for _ in 0..2 {
                watch.look(&mut pinner, &mut tracer);
                assert!(!pinner.threads.knows(pid), "the ended one was never looked at");
            }
        });
    }

    #[test]
    fn program_executed_by_second_thread_is_the_same() {
        with_sleeper(|pid| {
            let mut pinner = pinner();
            let former = pid + 1;
            pinner.arrive(former, Birth { pid: former, creator: former, is_late: false });
            pinner.threads.living(former).unwrap().started_ticks = Some(u64::MAX);
            pinner.executed(former, pid, std::path::Path::new("/bin/sleep"));
            pinner.look(pid, true);
            assert!(pinner.threads.knows(pid), "it has the start of the first thread");
        });
    }

    #[test]
    fn reused_pid_is_left_alone() {
        let mut stranger = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = stranger.id() as Tid;
        let mut tracer = Tracer::new(pid, None);
        let mut pinner = pinner();
        let mut watch = ProcessWatch::new(pid);
        assert_eq!(watch.processes().collect::<Vec<Tid>>(), [pid]);
        watch.processes.insert(pid, Some(1));
        assert_eq!(watch.processes().count(), 0, "its masks are not given back");
        watch.look(&mut pinner, &mut tracer);
        let is_seated = pinner.threads.knows(pid);
        stranger.kill().unwrap();
        stranger.wait().unwrap();
        assert!(!is_seated && !watch.processes.contains_key(&pid));
    }
}
