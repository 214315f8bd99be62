//! The program's threads and their CPUs.
//!
//! A thread inherits its creator's mask. The kernel does not report creators, so each creation is
//! recorded in advance, and matched at the next look.

use crate::policy::PretendedPolicy;
use seatmap_os::task::{Family, ThreadStat};
use seatmap_os::{CpuSet, Root, Tid, task};
use std::collections::HashMap;

const MOST_ANCESTORS: usize = 64;

/// Numbers are reused, so ended threads are then removed.
const MOST_LEAVING: usize = 256;

/// Masks kept of one thread.
const MOST_CHANGES: usize = 256;

/// A change of a thread's mask.
#[derive(Debug)]
pub struct MaskChange {
    /// Seconds since the program began.
    pub at_s: f64,
    /// The CPUs.
    pub cpus: CpuSet,
}

/// A thread of the program, also after its end.
#[derive(Debug, Default)]
pub struct RecordedThread {
    /// The PID.
    pub pid: Tid,
    /// The TID.
    pub tid: Tid,
    /// When it began, in ticks since boot: numbers are reused.
    pub started_ticks: u64,
    /// The name at its end or at the last look.
    pub name: String,
    /// Its creation, in seconds since the program began.
    pub born_s: f64,
    /// Its end, in the same seconds; `None` while it lives.
    pub ended_s: Option<f64>,
    /// The mask inherited from its creator.
    pub inherited: CpuSet,
    /// Later masks, in order.
    pub changes: Vec<MaskChange>,
    /// Refused masks, in order: none of their CPUs could be used.
    pub refused: Vec<MaskChange>,
    /// Its memory policy.
    pub policy: PretendedPolicy,
    /// Nodes without memory of which it requested some in vain.
    pub refused_nodes: CpuSet,
    /// Time on a CPU, in nanoseconds.
    pub run_ns: u64,
    /// Time waiting for a real CPU, in nanoseconds.
    pub wait_ns: u64,
    /// The two times before the program began, in which this process mounted its files.
    before_ns: [u64; 2],
}

impl RecordedThread {
    /// The current mask.
    pub fn mask(&self) -> &CpuSet {
        self.changes.last().map_or(&self.inherited, |change| &change.cpus)
    }

    /// The inheritance of a thread that it creates at a time.
    fn birth(&self, at_s: f64) -> Birth {
        Birth { mask: self.mask().clone(), policy: self.policy.clone(), at_s }
    }

    /// Whether the last requested mask was refused.
    pub fn is_refused(&self) -> bool {
        let last_s = self.changes.last().map_or(f64::NEG_INFINITY, |change| change.at_s);
        self.refused.last().is_some_and(|refused| refused.at_s >= last_s)
    }

    /// The mask at a time.
    pub fn mask_at(&self, at_s: f64) -> &CpuSet {
        let before = self.changes.iter().rev().find(|change| change.at_s <= at_s);
        before.map_or(&self.inherited, |change| &change.cpus)
    }

    /// Whether the thread lived at a time.
    pub fn lived_at(&self, at_s: f64) -> bool {
        self.born_s <= at_s && self.ended_s.is_none_or(|ended_s| ended_s >= at_s)
    }
}

/// A process of the program.
pub struct RecordedProcess {
    /// The PID.
    pub pid: Tid,
    /// The process that created it.
    pub parent: Tid,
}

/// The inheritance of a new thread.
struct Birth {
    mask: CpuSet,
    policy: PretendedPolicy,
    at_s: f64,
}

struct Creation {
    creator: Tid,
    pid: Tid,
    is_thread: bool,
    birth: Birth,
}

/// All threads and processes of the program.
#[derive(Default)]
pub struct ProgramRecord {
    /// The threads, in order of arrival.
    pub threads: Vec<RecordedThread>,
    /// The processes, in order of arrival.
    pub processes: Vec<RecordedProcess>,
    living: HashMap<Tid, usize>,
    /// Threads that have announced their end, until it comes.
    leaving: HashMap<Tid, usize>,
    creations: Vec<Creation>,
}

impl ProgramRecord {
    /// A record that begins with the program's first thread.
    pub fn new(pid: Tid, mask: CpuSet) -> Self {
        let mut record = ProgramRecord::default();
        record.processes.push(RecordedProcess { pid, parent: 0 });
        record.arrive(pid, pid, Birth { mask, policy: PretendedPolicy::default(), at_s: 0.0 });
        let before = task::times(pid);
        let before_ns = before.map(|times| [times.run_ns, times.wait_ns.unwrap_or_default()]);
        record.threads[0].before_ns = before_ns.unwrap_or_default();
        record
    }

    fn arrive(&mut self, pid: Tid, tid: Tid, birth: Birth) {
        self.living.insert(tid, self.threads.len());
        self.leaving.remove(&tid);
        let task = ThreadStat::of(tid);
        self.threads.push(RecordedThread {
            pid,
            tid,
            started_ticks: task.as_ref().map_or(0, |task| task.started_ticks),
            name: task.map_or_else(String::new, |task| task.name),
            born_s: birth.at_s,
            inherited: birth.mask,
            policy: birth.policy,
            ..RecordedThread::default()
        });
    }

    /// Whether all seen threads have ended.
    pub fn is_over(&self) -> bool {
        self.living.is_empty()
    }

    /// The index of a living thread.
    pub fn living(&self, tid: Tid) -> Option<usize> {
        self.living.get(&tid).copied()
    }

    fn has_process(&self, pid: Tid) -> bool {
        self.living.values().any(|at| self.threads[*at].pid == pid)
    }

    /// The index of a calling thread, which is the program's.
    pub fn caller(&mut self, tid: Tid, at_s: f64) -> Option<usize> {
        // Another thread is ending the process of one that leaves.
        if self.leaving(tid).is_some() { None } else { self.place(tid, at_s, true) }
    }

    /// The index of a thread that has announced its end and has not ended. A later thread can have
    /// its number, even in the same process.
    fn leaving(&self, tid: Tid) -> Option<usize> {
        let at = *self.leaving.get(&tid)?;
        let began = self.threads[at].started_ticks;
        let is_later = ThreadStat::of(tid).is_some_and(|task| task.started_ticks != began);
        (!is_later).then_some(at)
    }

    /// The index of a thread named by a call, unless it is a stranger.
    pub fn subject(&mut self, tid: Tid, at_s: f64) -> Option<usize> {
        self.leaving(tid).or_else(|| self.place(tid, at_s, false))
    }

    fn place(&mut self, tid: Tid, at_s: f64, is_ours: bool) -> Option<usize> {
        if let Some(at) = self.living(tid) {
            return Some(at);
        }
        let family = Family::of(tid)?;
        if !self.has_process(family.pid) {
            let parent = self.known_ancestor(family.parent);
            match parent {
                Some(parent) => self.look_at_children(parent),
                None if !is_ours => return None,
                // Its parent ended unseen.
                None => {}
            }
            if !self.has_process(family.pid) {
                self.arrive_process(family.pid, parent.unwrap_or_default(), at_s);
            }
        }
        self.look_at_threads(family.pid, at_s);
        self.living(tid)
    }

    fn known_ancestor(&self, parent: Tid) -> Option<Tid> {
        let above = std::iter::successors(Some(parent), |pid| {
            Family::of(*pid).map(|family| family.parent).filter(|parent| *parent > 1)
        });
        above.take(MOST_ANCESTORS).find(|pid| self.has_process(*pid))
    }

    fn arrive_process(&mut self, pid: Tid, parent: Tid, at_s: f64) {
        let noted = self.noted(|one| !one.is_thread && one.pid == parent);
        let birth = noted.unwrap_or_else(|| self.of_first_thread(parent, at_s));
        self.processes.push(RecordedProcess { pid, parent });
        self.arrive(pid, pid, birth);
    }

    /// Takes the first such creation.
    fn noted(&mut self, is_it: impl Fn(&Creation) -> bool) -> Option<Birth> {
        let at = self.creations.iter().position(is_it)?;
        Some(self.creations.remove(at).birth)
    }

    /// The state of a process's first thread, or the program's.
    fn of_first_thread(&self, pid: Tid, at_s: f64) -> Birth {
        let of_process = self.threads.iter().find(|thread| thread.pid == pid);
        of_process.unwrap_or(&self.threads[0]).birth(at_s)
    }

    /// Adds a process's unseen threads, with their creators' masks and policies.
    pub fn look_at_threads(&mut self, pid: Tid, at_s: f64) {
        let tids = task::threads(pid).unwrap_or_default();
        let threads = &self.threads;
        self.leaving.retain(|tid, at| threads[*at].pid != pid || tids.binary_search(tid).is_ok());
        for tid in tids {
            if self.living.contains_key(&tid) || self.leaving(tid).is_some() {
                continue;
            }
            let noted = self.noted(|one| one.is_thread && one.pid == pid);
            let birth = noted.unwrap_or_else(|| self.of_first_thread(pid, at_s));
            self.arrive(pid, tid, birth);
        }
    }

    fn look_at_children(&mut self, pid: Tid) {
        let creating = self.creations.iter().filter(|one| !one.is_thread && one.pid == pid);
        let creators: Vec<Tid> = creating.map(|one| one.creator).collect();
        for creator in creators {
            let children = task::children(&Root::new("/"), pid, &[creator]).unwrap_or_default();
            for child in children {
                if self.has_process(child) || self.leaving(child).is_some() {
                    continue;
                }
                if let Some(birth) = self.noted(|one| !one.is_thread && one.creator == creator) {
                    self.processes.push(RecordedProcess { pid: child, parent: pid });
                    self.arrive(child, child, birth);
                }
            }
        }
    }

    /// Records a coming creation. The thread's earlier creations exist by now, or have ended.
    pub fn creates(&mut self, at: usize, is_thread: bool, at_s: f64) {
        let RecordedThread { tid: creator, pid, .. } = self.threads[at];
        if is_thread {
            self.look_at_threads(pid, at_s);
        } else {
            self.look_at_children(pid);
        }
        if self.leaving.len() > MOST_LEAVING {
            self.leaving.retain(|tid, _| task::exists(*tid));
        }
        self.creations.retain(|one| one.creator != creator || one.is_thread != is_thread);
        let birth = self.threads[at].birth(at_s);
        self.creations.push(Creation { creator, pid, is_thread, birth });
    }

    /// Records a thread's end in advance, to read its name and times.
    pub fn thread_ends(&mut self, at: usize, at_s: f64) {
        self.refresh(at);
        self.threads[at].ended_s = Some(at_s);
        let tid = self.threads[at].tid;
        self.living.remove(&tid);
        self.leaving.insert(tid, at);
    }

    /// Records the end of a process and its threads.
    pub fn process_ends(&mut self, pid: Tid, at_s: f64) {
        self.look_at_threads(pid, at_s);
        self.look_at_children(pid);
        let of_process: Vec<usize> =
            self.living.values().copied().filter(|at| self.threads[*at].pid == pid).collect();
        of_process.into_iter().for_each(|at| self.thread_ends(at, at_s));
        self.creations.retain(|one| one.pid != pid || !one.is_thread);
    }

    /// Reads all living threads, and records those ended by a signal.
    pub fn refresh_all(&mut self, at_s: f64) {
        self.leaving.retain(|tid, _| task::exists(*tid));
        let living: Vec<usize> = self.living.values().copied().collect();
        for at in living {
            if !self.refresh(at) {
                self.threads[at].ended_s = Some(at_s);
                self.living.remove(&self.threads[at].tid);
            }
        }
    }

    fn refresh(&mut self, at: usize) -> bool {
        let tid = self.threads[at].tid;
        let Some(task) = ThreadStat::of(tid).filter(|task| !task.has_ended()) else { return false };
        let thread = &mut self.threads[at];
        thread.name = task.name;
        if let Some(times) = task::times(tid) {
            let [run_ns, wait_ns] = thread.before_ns;
            thread.run_ns = times.run_ns.saturating_sub(run_ns);
            thread.wait_ns = times.wait_ns.unwrap_or_default().saturating_sub(wait_ns);
        }
        true
    }

    /// Changes a mask. Of very many, the first and the last are kept.
    pub fn seat(&mut self, at: usize, cpus: CpuSet, at_s: f64) {
        keep(&mut self.threads[at].changes, MaskChange { at_s, cpus });
    }

    /// Records a refused mask. Of very many, the first and the last are kept.
    pub fn refuse(&mut self, at: usize, cpus: CpuSet, at_s: f64) {
        keep(&mut self.threads[at].refused, MaskChange { at_s, cpus });
    }

    /// A thread's CPU: threads with one mask take its CPUs in turn.
    pub fn cpu_of(&self, at: usize) -> u32 {
        let mask = self.threads[at].mask();
        mask.iter().nth(at % mask.len().max(1)).unwrap_or_default()
    }

    /// A moment with the most living threads and the fewest awaited first masks, because that wait
    /// depends on the computer's load. States shorter than a hundredth of the run count only if
    /// longer ones have fewer than half as many threads: a script's helpers are not the program at
    /// work.
    pub fn fullest_s(&self, end_s: f64) -> f64 {
        let states = self.states(end_s);
        let least_s = end_s * SETTLED_SHARE;
        let settled = fullest(states.iter().filter(|state| state.lasts_s() >= least_s));
        let any = fullest(states.iter());
        match (settled, any) {
            (Some(settled), Some(any)) if settled.count * 2 >= any.count => settled.middle_s(),
            (_, Some(any)) => any.middle_s(),
            _ => end_s,
        }
    }

    fn states(&self, end_s: f64) -> Vec<State> {
        // Times, with the changes of both counts.
        let mut events = vec![(end_s, [0, 0])];
        for thread in &self.threads {
            events.push((thread.born_s, [1, i64::from(!thread.changes.is_empty())]));
            events.push((thread.ended_s.unwrap_or(end_s), [-1, 0]));
            let placed = thread.changes.iter().map(|change| change.at_s);
            events.extend(placed.enumerate().map(|(at, at_s)| (at_s, [0, -i64::from(at == 0)])));
        }
        events.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut state = State::default();
        let states = events.windows(2).map(|pair| {
            let (begun_s, [count, unplaced]) = pair[0];
            state.count += count;
            state.unplaced += unplaced;
            State { begun_s, ended_s: pair[1].0, ..state }
        });
        states.collect()
    }
}

fn keep(changes: &mut Vec<MaskChange>, change: MaskChange) {
    if changes.len() >= MOST_CHANGES {
        changes.pop();
    }
    changes.push(change);
}

/// A state with this share of the run takes precedence.
const SETTLED_SHARE: f64 = 0.01;

#[derive(Clone, Copy, Default)]
struct State {
    begun_s: f64,
    ended_s: f64,
    count: i64,
    unplaced: i64,
}

impl State {
    fn lasts_s(&self) -> f64 {
        self.ended_s - self.begun_s
    }

    fn middle_s(&self) -> f64 {
        self.begun_s + self.lasts_s() / 2.0
    }
}

/// The most threads, then the most placed, then the longest.
fn fullest<'a>(states: impl Iterator<Item = &'a State>) -> Option<&'a State> {
    states.filter(|state| state.lasts_s() > 0.0).max_by(|a, b| {
        let by_threads = a.count.cmp(&b.count).then(b.unplaced.cmp(&a.unplaced));
        by_threads.then(a.lasts_s().total_cmp(&b.lasts_s()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::made::set;

    #[test]
    fn masks_are_known_at_any_time() {
        let mut record = ProgramRecord::new(7, set("0-3"));
        record.seat(0, set("1"), 2.0);
        record.seat(0, set("2"), 3.0);
        let masks = [0.0, 2.5, 9.0].map(|at_s| record.threads[0].mask_at(at_s).to_string());
        assert_eq!(masks, ["0-3", "1", "2"]);
        assert_eq!((record.cpu_of(0), record.living(7)), (2, Some(0)));
    }

    #[test]
    fn refused_thread_is_cleared_by_next_mask() {
        let mut record = ProgramRecord::new(7, set("0-3"));
        record.refuse(0, set("9"), 1.0);
        assert!(record.threads[0].is_refused());
        record.seat(0, set("1"), 2.0);
        assert!(!record.threads[0].is_refused(), "it tried another one");
        record.refuse(0, set("8"), 3.0);
        assert!(record.threads[0].is_refused() && *record.threads[0].mask() == set("1"));
        (0..1000).for_each(|cpu| record.refuse(0, CpuSet::single(cpu), 4.0));
        let refused = &record.threads[0].refused;
        assert_eq!(
            (refused.len(), refused.last().unwrap().cpus.first()),
            (MOST_CHANGES, Some(999))
        );
    }

    #[test]
    fn fullest_moment_ignores_unseated_start() {
        let mut record = ProgramRecord::new(7, set("0-3"));
        record.seat(0, set("1"), 6.0);
        assert_eq!(record.fullest_s(9.0), 7.5, "with its mask, though six seconds were without");
        record.seat(0, set("2"), 6.5);
        record.seat(0, set("3"), 8.5);
        assert_eq!(record.fullest_s(9.0), 7.5, "the longest of those with a mask");
    }

    #[test]
    fn fullest_moment_ignores_brief_threads() {
        let mut record = ProgramRecord::new(7, set("0-3"));
        for (tid, at_s) in [(8, 1.0), (9, 5.0)] {
            let birth = Birth { mask: set("0"), policy: PretendedPolicy::default(), at_s };
            record.arrive(7, tid, birth);
        }
        record.threads[1].ended_s = Some(4.0);
        record.threads[2].ended_s = Some(6.0);
        assert_eq!(record.fullest_s(9.0), 2.5, "the longer of two");
        record.threads[2].born_s = 2.0;
        assert_eq!(record.fullest_s(9.0), 3.0, "all three lived together");
        record.threads[2].ended_s = Some(2.01);
        assert_eq!(record.fullest_s(9.0), 3.005, "a helper of a moment");
        for thread in &mut record.threads[1..] {
            thread.born_s = 1.0;
            thread.ended_s = Some(1.01);
        }
        assert!((record.fullest_s(1000.0) - 1.005).abs() < 1e-9, "far more threads than else");
    }
}
