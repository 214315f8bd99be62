//! The seating, parsed for all rules.

use super::quota::stopped_threads;
use crate::expected::{Expected, ExpectedSeat};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use crate::seating::{CellCpus, ControlGroup, Process, Seating, WatchedThread};
use seatmap_data::grouped::by_key;
use seatmap_data::machine::{CoreKind, Pu, Topology};
pub use seatmap_data::statistics::words::counted as count;
use seatmap_os::{CpuSet, Tid};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Deref;

/// A thread on a CPU for this share of the time is busy.
const RUNS_PERCENT: f64 = 20.0;

/// A thread on a CPU or waiting for this share is busy. Higher, because a thread that wakes often
/// and runs briefly waits each time on a busy computer.
const WANTS_PERCENT: f64 = 80.0;

/// A CPU busy for less than this share of the time counts as idle.
pub const IDLE_PERCENT: f64 = 20.0;

/// A CPU busy for this share of the time is never idle.
const FULL_PERCENT: f64 = 90.0;

/// A thread with this share of its time on a full CPU, or waiting for it, shares that CPU.
const SHARES_PERCENT: f64 = 10.0;

/// Covers clock ticks and a slow look.
const SAME_AGE_S: f64 = 0.05;

pub struct SeatingFacts<'a> {
    pub seating: &'a Seating,
    pub topology: &'a Topology,
    /// The known online CPUs.
    pub online: CpuSet,
    /// The CPUs of an unbound thread: online, not isolated, not in a cell.
    pub usual: CpuSet,
    cells: Vec<CpuSet>,
    pub isolated: CpuSet,
    /// Threads with known masks.
    pub sitters: Vec<Sitter<'a>>,
    pub expected: Option<&'a Expected>,
    processes: HashMap<Tid, &'a Process>,
    busy_percent: BTreeMap<u32, f64>,
    promised: RefCell<Promised>,
}

/// They run in turn, so none may undo another.
#[derive(Default)]
struct Promised {
    cpus: BTreeMap<Tid, CpuSet>,
    groups: BTreeMap<String, CpuSet>,
}

pub struct Sitter<'a> {
    pub thread: &'a WatchedThread,
    pub mask: CpuSet,
    /// Whether it may not use all usual CPUs.
    pub is_bound: bool,
    /// Whether a plan puts it exactly here.
    pub is_as_planned: bool,
    /// The percentage of the time for which quotas stopped it, although counted as waiting.
    pub stopped_percent: f64,
}

/// The unit of [`Sitter::demand_percent`]. Threads waiting for one CPU can demand more than it has.
pub const WANTED: &str = "percent of one CPU wanted";

impl Deref for Sitter<'_> {
    type Target = WatchedThread;

    fn deref(&self) -> &WatchedThread {
        self.thread
    }
}

impl<'a> AsRef<Sitter<'a>> for Sitter<'a> {
    fn as_ref(&self) -> &Sitter<'a> {
        self
    }
}

impl Sitter<'_> {
    /// The same without stops by quotas.
    pub fn demand_percent(&self) -> f64 {
        self.run_percent + self.waits_percent().unwrap_or(0.0)
    }

    /// The share of the time waiting for another thread on its CPU, if counted.
    pub fn waits_percent(&self) -> Option<f64> {
        self.wait_percent.map(|percent| (percent - self.stopped_percent).max(0.0))
    }

    pub fn is_busy(&self) -> bool {
        self.run_percent >= RUNS_PERCENT || self.wanted_percent() >= WANTS_PERCENT
    }

    pub fn seat(&self) -> Option<u32> {
        self.mask.only()
    }

    pub fn named(&self) -> String {
        format!("thread {} '{}'", self.tid, self.name)
    }
}

impl<'a> SeatingFacts<'a> {
    pub fn new(
        seating: &'a Seating,
        topology: &'a Topology,
        expected: Option<&'a Expected>,
    ) -> Self {
        let listed = seating.cpus.iter().map(|cpu| cpu.cpu);
        let online: CpuSet = topology.os_indices().chain(listed).collect();
        let isolated = CpuSet::of_list(&seating.kernel.isolated).unwrap_or_default();
        let cells: Vec<CpuSet> = seating.cells.iter().map(CellCpus::set).collect();
        let left = cells.iter().fold(online.without(&isolated), |left, cell| left.without(cell));
        // If all CPUs are isolated or in cells, all are usual.
        let usual = Some(left).filter(|usual| !usual.is_empty()).unwrap_or_else(|| online.clone());
        let mut sitters: Vec<Sitter> =
            seating.threads.iter().filter_map(|thread| sitter(thread, &usual)).collect();
        let stopped = stopped_threads(seating, &sitters, &online);
        sitters.iter_mut().for_each(|one| {
            one.stopped_percent = stopped.get(&one.tid).copied().unwrap_or(0.0);
        });
        let processes = seating.processes.iter().map(|process| (process.pid, process)).collect();
        let busy_percent =
            seating.cpus.iter().filter_map(|cpu| Some((cpu.cpu, cpu.busy_percent?))).collect();
        let mut facts = SeatingFacts {
            seating,
            topology,
            online,
            usual,
            cells,
            isolated,
            sitters,
            expected,
            processes,
            busy_percent,
            promised: RefCell::default(),
        };
        // This compares masks, so the sitters come first.
        let pairs = expected.map(|expected| facts.seated(expected)).unwrap_or_default();
        let fits = pairs.into_iter().filter(|(sitter, seat)| sitter.mask == seat.cpus);
        let planned: HashSet<Tid> = fits.map(|(sitter, _)| sitter.tid).collect();
        for sitter in &mut facts.sitters {
            sitter.is_as_planned = planned.contains(&sitter.tid);
        }
        facts
    }

    /// Pairs threads with planned seats: by number, by unique name, or else in order of creation.
    pub fn seated<'e>(&self, expected: &'e Expected) -> Vec<(&Sitter<'a>, &'e ExpectedSeat)> {
        let by_number = self.by_number(expected);
        if !by_number.is_empty() || expected.is_numbered {
            return by_number;
        }
        let by_name = self.by_name(expected);
        by_name
            .filter(|pairs| pairs.iter().all(|(sitter, seat)| sitter.mask == seat.cpus))
            .unwrap_or_else(|| self.in_order().into_iter().zip(&expected.seats).collect())
    }

    fn by_number<'e>(&self, expected: &'e Expected) -> Vec<(&Sitter<'a>, &'e ExpectedSeat)> {
        let sitters = self.sitters.iter();
        let known: HashMap<(Tid, Tid), &Sitter> =
            sitters.map(|one| ((one.pid, one.tid), one)).collect();
        expected.seats.iter().filter_map(|seat| Some((*known.get(&seat.thread?)?, seat))).collect()
    }

    fn by_name<'e>(&self, expected: &'e Expected) -> Option<Vec<(&Sitter<'a>, &'e ExpectedSeat)>> {
        expected
            .seats
            .iter()
            .map(|seat| {
                let name = seat.name.as_deref()?;
                let mut named = self.sitters.iter().filter(|sitter| sitter.name == name);
                named.next().filter(|_| named.next().is_none()).map(|sitter| (sitter, seat))
            })
            .collect()
    }

    /// All threads in order of creation. Ages are read in turn, so simultaneous threads go by
    /// number.
    pub fn in_order(&self) -> Vec<&Sitter<'a>> {
        let mut sitters: Vec<&Sitter> = self.sitters.iter().collect();
        sitters.sort_by(|a, b| b.thread.age_s.total_cmp(&a.thread.age_s));
        sitters
            .chunk_by_mut(|a: &&Sitter, b: &&Sitter| a.thread.age_s - b.thread.age_s < SAME_AGE_S)
            .for_each(|chunk| chunk.sort_by_key(|sitter| sitter.tid));
        sitters
    }

    pub fn programs(&self) -> impl Iterator<Item = (&'a Process, Vec<&Sitter<'a>>)> {
        let mut of = by_place(&self.sitters, |sitter| Some(sitter.pid));
        self.seating
            .processes
            .iter()
            .filter_map(move |process| Some((process, of.remove(&process.pid)?)))
    }

    /// The findings about each program.
    pub fn of_programs<F: IntoIterator<Item = Finding>>(
        &self,
        judge: impl Fn(&'a Process, &[&Sitter<'a>]) -> F,
    ) -> Vec<Finding> {
        self.programs().flat_map(|(process, sitters)| judge(process, &sitters)).collect()
    }

    /// The threads with these numbers.
    pub fn among(&self, tids: &[Tid]) -> Vec<&Sitter<'a>> {
        let tids: HashSet<&Tid> = tids.iter().collect();
        self.sitters.iter().filter(|sitter| tids.contains(&sitter.tid)).collect()
    }

    pub fn process(&self, pid: Tid) -> Option<&'a Process> {
        self.processes.get(&pid).copied()
    }

    pub fn allowed(&self, pid: Tid) -> CpuSet {
        let listed =
            self.process(pid).and_then(|process| process.group.as_ref()).and_then(group_cpus);
        listed.unwrap_or_else(|| self.online.clone())
    }

    /// The CPUs allowed by a thread's group, or else by its process's.
    pub fn allowed_to(&self, sitter: &Sitter) -> CpuSet {
        let own = sitter.group.as_ref().and_then(group_cpus);
        own.unwrap_or_else(|| self.allowed(sitter.pid))
    }

    pub fn group_of(&self, sitter: &Sitter<'a>) -> Option<&'a ControlGroup> {
        sitter.thread.group.as_ref().or_else(|| self.process(sitter.pid)?.group.as_ref())
    }

    /// The CPUs for seating a process: its cell's, or usual ones of its control group.
    pub fn seats_of(&self, pid: Tid) -> CpuSet {
        let allowed = self.allowed(pid);
        let own = self.sitters.iter().filter(|sitter| sitter.pid == pid);
        let whole = union(own);
        match self.cells.iter().find(|cell| !whole.is_empty() && whole.is_subset(cell)) {
            Some(cell) => allowed.within(cell),
            None => allowed.within(&self.usual),
        }
    }

    pub fn idle(&self, cpus: &CpuSet) -> CpuSet {
        cpus.iter()
            .filter(|cpu| self.busy_percent.get(cpu).is_some_and(|busy| *busy <= IDLE_PERCENT))
            .collect()
    }

    /// The CPUs of bound threads, or else of all.
    pub fn seats(&self) -> CpuSet {
        let bound = union(self.sitters.iter().filter(|sitter| sitter.is_bound));
        if bound.is_empty() { union(&self.sitters) } else { bound }
    }

    /// CPUs without present or future seats, for other programs and interrupts.
    pub fn refuge(&self) -> CpuSet {
        let promised = self.promised.borrow();
        let seats = promised.cpus.values().fold(self.seats(), |all, cpus| all.with(cpus));
        self.usual.without(&seats)
    }

    /// Reserves the first `count` CPUs among these unused by other remedies, if there are enough.
    pub fn promise(&self, to: Tid, count: usize, among: &CpuSet) -> Option<CpuSet> {
        let mut promised = self.promised.borrow_mut();
        let own = promised.cpus.get(&to);
        if let Some(own) = own.filter(|own| own.len() == count && own.is_subset(among)) {
            return Some(own.clone());
        }
        let others = promised.cpus.iter().filter(|(other, _)| **other != to);
        let free = others.fold(among.clone(), |free, (_, cpus)| free.without(cpus));
        let cpus: CpuSet = free.iter().take(count).collect();
        if cpus.len() < count {
            return None;
        }
        promised.cpus.insert(to, cpus.clone());
        Some(cpus)
    }

    /// Binds a thread to the first CPU among these, and reserves it.
    pub fn bind_to_one(&self, sitter: &Sitter, among: &CpuSet) -> Option<SeatingRemedy> {
        let to = self.promise(sitter.tid, 1, among)?;
        Some(SeatingRemedy::bind(&to, &[sitter]))
    }

    /// The same, for the first CPU in an unused part.
    pub fn bind_to_part(
        &self,
        sitter: &Sitter,
        among: &CpuSet,
        level: impl Fn(&Pu) -> Option<u32>,
    ) -> Option<SeatingRemedy> {
        let taken: BTreeSet<u32> = {
            let promised = self.promised.borrow();
            let others = promised.cpus.iter().filter(|(other, _)| **other != sitter.tid);
            let cpus = others.flat_map(|(_, cpus)| cpus.iter());
            cpus.filter_map(|cpu| self.topology.pu(cpu).and_then(&level)).collect()
        };
        let free = among.iter().filter(|cpu| {
            let part = self.topology.pu(*cpu).and_then(&level);
            part.is_none_or(|part| !taken.contains(&part))
        });
        self.bind_to_one(sitter, &free.collect())
    }

    /// Adds CPUs to a control group's file, on top of other remedies.
    pub fn widened(&self, file: &str, has: &CpuSet, needs: &CpuSet) -> CpuSet {
        let mut promised = self.promised.borrow_mut();
        let cpus = promised.groups.entry(file.to_owned()).or_default();
        *cpus = cpus.with(has).with(needs);
        cpus.clone()
    }

    /// Whether a thread needs much of a CPU: it is busy, or one of several on a CPU that is never
    /// idle, where each gets little.
    pub fn is_demanding(&self, sitter: &Sitter) -> bool {
        let cpu_percent = sitter.seat().and_then(|cpu| self.busy_percent(cpu));
        let is_on_full_cpu = cpu_percent.is_some_and(|percent| percent >= FULL_PERCENT);
        sitter.is_busy() || is_on_full_cpu && sitter.demand_percent() >= SHARES_PERCENT
    }

    pub fn busy_percent(&self, cpu: u32) -> Option<f64> {
        self.busy_percent.get(&cpu).copied()
    }

    pub fn parts(
        &self,
        cpus: &CpuSet,
        level: impl Fn(&Pu) -> Option<u32>,
    ) -> Option<BTreeSet<u32>> {
        cpus.iter().map(|cpu| self.topology.pu(cpu).and_then(&level)).collect()
    }

    /// The CPUs among these with an unknown part.
    pub fn unknown(&self, cpus: &CpuSet, level: impl Fn(&Pu) -> Option<u32>) -> CpuSet {
        cpus.iter().filter(|cpu| self.topology.pu(*cpu).and_then(&level).is_none()).collect()
    }

    pub fn only_part(&self, cpus: &CpuSet, level: impl Fn(&Pu) -> Option<u32>) -> Option<u32> {
        let parts = self.parts(cpus, level)?;
        parts.first().copied().filter(|_| parts.len() == 1)
    }

    pub fn cpus_of(&self, level: impl Fn(&Pu) -> Option<u32>, part: u32) -> CpuSet {
        self.topology.pus.iter().filter(|pu| level(pu) == Some(part)).map(|pu| pu.os).collect()
    }

    /// NUMA nodes, with one more for CPUs of unknown node.
    pub fn nodes(&self) -> usize {
        let unknown = self.topology.pus.iter().any(|pu| pu.numa.is_none());
        let known = self.topology.count(|pu| pu.numa);
        known + usize::from(unknown && known > 0)
    }

    pub fn has_memory(&self, node: u32) -> bool {
        let nodes = self.seating.kernel.memory_nodes.as_deref().and_then(CpuSet::of_list);
        nodes.is_none_or(|nodes| nodes.contains(node))
    }

    pub fn of_kind(&self, kind: CoreKind) -> CpuSet {
        self.topology.pus.iter().filter(|pu| pu.kind == Some(kind)).map(|pu| pu.os).collect()
    }

    /// The topmost chosen ancestor of a process, or itself; the same for a program's processes.
    pub fn family(&self, pid: Tid) -> Tid {
        self.highest(pid, |_, parent| parent.pid != 1)
    }

    /// The topmost chosen ancestor with a process's file, or itself: its workers' master.
    pub fn master(&self, pid: Tid) -> Tid {
        let file = |one: &'a Process| one.program.as_ref().unwrap_or(&one.name);
        self.highest(pid, |process, parent| file(parent) == file(process))
    }

    /// The highest ancestor reached by parents that belong to their children.
    fn highest(&self, pid: Tid, belongs: impl Fn(&'a Process, &'a Process) -> bool) -> Tid {
        let ancestors = std::iter::successors(Some(pid), |at| {
            let process = self.process(*at)?;
            let parent = self.process(process.parent).filter(|parent| parent.pid != *at)?;
            belongs(process, parent).then_some(parent.pid)
        });
        // Numbers reused while they were read may form a circle.
        ancestors.take(self.processes.len() + 1).last().unwrap_or(pid)
    }
}

fn sitter<'a>(thread: &'a WatchedThread, usual: &CpuSet) -> Option<Sitter<'a>> {
    let mask = CpuSet::of_list(&thread.mask).filter(|mask| !mask.is_empty())?;
    let is_bound = !usual.is_subset(&mask);
    Some(Sitter { thread, mask, is_bound, is_as_planned: false, stopped_percent: 0.0 })
}

fn group_cpus(group: &ControlGroup) -> Option<CpuSet> {
    CpuSet::of_list(group.cpus.as_deref()?).filter(|cpus| !cpus.is_empty())
}

pub fn union<'a, S: AsRef<Sitter<'a>>>(sitters: impl IntoIterator<Item = S>) -> CpuSet {
    sitters.into_iter().fold(CpuSet::default(), |all, sitter| all.with(&sitter.as_ref().mask))
}

/// The age of the youngest thread, in seconds.
pub fn youngest_s(sitters: &[&Sitter]) -> f64 {
    sitters.iter().map(|sitter| sitter.age_s).fold(f64::INFINITY, f64::min)
}

/// The sum of a figure over threads.
pub fn sum<'a>(sitters: &[&Sitter<'a>], of: impl Fn(&Sitter<'a>) -> f64) -> f64 {
    sitters.iter().map(|one| of(one)).sum()
}

/// The threads of which this is true.
pub fn those<'f, 'a>(
    sitters: &[&'f Sitter<'a>],
    is: impl Fn(&Sitter<'a>) -> bool,
) -> Vec<&'f Sitter<'a>> {
    sitters.iter().copied().filter(|one| is(one)).collect()
}

/// Threads by a place, those without one left out.
pub fn by_place<'f, 'a, K: Ord>(
    sitters: impl IntoIterator<Item = &'f Sitter<'a>>,
    place: impl Fn(&Sitter<'a>) -> Option<K>,
) -> BTreeMap<K, Vec<&'f Sitter<'a>>>
where
    'a: 'f,
{
    by_key(sitters.into_iter().filter_map(|sitter| Some((place(sitter)?, sitter))))
}

/// `thread 12 'a' and thread 13 'b'`, or the first of them and the number of others.
pub fn listed(sitters: &[&Sitter]) -> String {
    first_few(sitters.iter().map(|sitter| sitter.named()), "thread")
}

/// The first few of these, and the number of others.
pub fn first_few(named: impl ExactSizeIterator<Item = String>, noun: &str) -> String {
    const MOST: usize = 3;
    let all = named.len();
    let mut named: Vec<String> = named.take(MOST).collect();
    let last = match all.checked_sub(MOST) {
        Some(more @ 1..) => Some(count(more, &format!("more {noun}"))),
        _ => named.pop(),
    };
    match last {
        Some(last) if !named.is_empty() => format!("{} and {last}", named.join(", ")),
        last => last.unwrap_or_default(),
    }
}

pub fn cpus(cpus: &CpuSet) -> String {
    cpus.named()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn mask_of_all_usual_cpus_is_not_bound() {
        let made = Made::new(4).with("7/7 on 0-3; 7/8 on 0-1; 7/9 on");
        let facts = made.facts();
        let bound: Vec<bool> = facts.sitters.iter().map(|sitter| sitter.is_bound).collect();
        assert_eq!(bound, [false, true], "and a thread without a known mask is not judged");
        let isolated = Made::new(4).isolated("2-3").with("7/7 on 0-1; 7/8 on 2-3");
        let bound: Vec<bool> =
            isolated.facts().sitters.iter().map(|sitter| sitter.is_bound).collect();
        assert_eq!(bound, [false, true], "isolated CPUs are not usual ones");
    }

    #[test]
    fn programs_outside_cell_are_not_bound() {
        let mut made = Made::new(4).with("7/7 on 0-1; 8/8 on 0; 9/9 on 2; 9/10 on 3");
        made.seating.cells = vec![CellCpus { name: "quiet".to_owned(), cpus: "2-3".to_owned() }];
        let facts = made.facts();
        let bound: Vec<bool> = facts.sitters.iter().map(|sitter| sitter.is_bound).collect();
        assert_eq!(bound, [false, true, true, true]);
        assert_eq!(facts.usual.to_string(), "0,1");
        let seats = [7, 8, 9].map(|pid| facts.seats_of(pid).to_string());
        assert_eq!(seats, ["0,1", "0,1", "2,3"], "a program of the cell may sit on all of it");
    }

    #[test]
    fn threads_are_ordered_by_creation() {
        let made = Made::new(2).with("7/7 on 0; 7/5 on 0; 9/9 on 0");
        let mut made = made;
        let mut order = |ages: [f64; 3]| {
            made.seating
                .threads
                .iter_mut()
                .zip(ages)
                .for_each(|(thread, age_s)| thread.age_s = age_s);
            made.facts().in_order().iter().map(|sitter| sitter.tid).collect::<Vec<Tid>>()
        };
        assert_eq!(order([30.0, 29.5, 40.0]), [9, 7, 5]);
        assert_eq!(order([30.0, 29.99, 40.0]), [9, 5, 7], "created together");
    }

    #[test]
    fn common_ancestor_forms_one_family() {
        let made = Made::new(2).process(5, 1).process(7, 5).process(8, 7).process(9, 1);
        let facts = made.facts();
        assert_eq!([5, 7, 8, 9, 4711].map(|pid| facts.family(pid)), [5, 5, 5, 9, 4711]);
    }

    #[test]
    fn long_thread_lists_are_abbreviated() {
        let made = Made::new(2).with("1/1 on 0; 1/2 on 0; 1/3 on 0; 1/4 on 0; 1/5 on 0");
        let facts = made.facts();
        let sitters: Vec<&Sitter> = facts.sitters.iter().collect();
        assert_eq!(listed(&sitters[..2]), "thread 1 'main' and thread 2 'worker'");
        let all = listed(&sitters);
        assert!(
            all.starts_with("thread 1 'main', thread 2 'worker'")
                && all.ends_with("and 2 more threads"),
            "{all}"
        );
        assert_eq!(
            (count(1_usize, "thread"), count(2_usize, "thread")),
            ("1 thread".to_owned(), "2 threads".to_owned())
        );
    }
}
