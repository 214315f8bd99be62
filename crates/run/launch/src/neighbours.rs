//! Finds other runs on this one's CPUs.
//!
//! Each run publishes its seating ([`seatmap_os::published`]) from its start, and reads those of
//! others a moment later. So the later of two runs knows the earlier, and simultaneous ones know
//! each other.
//!
//! A program seated while it ran (`--pid`) has neither a process of Seatmap nor a lease, because
//! its seats outlive the command. They show in its threads' masks, like those of other launchers.

use crate::report::{FORMAT, Report};
use seatmap_data::document::visible;
use seatmap_data::grouped::by_key;
use seatmap_data::words::agreeing;
use seatmap_os::published::{PublishedText, SEATING};
use seatmap_os::{CpuSet, FileError, Root, Tid, published, task, visibility};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::ErrorKind;

/// CPUs of a report's threads that another program's threads share.
#[derive(Clone, Debug)]
pub struct SeatNeighbour {
    /// The CPUs.
    pub cpus: CpuSet,
    /// Its first process.
    pub program: Tid,
    /// Its name.
    pub name: String,
    /// The process that seats it; `None` if its threads are bound one by one.
    pub supervisor: Option<Tid>,
}

impl SeatNeighbour {
    /// A sentence with a remedy.
    pub fn sentence(&self) -> String {
        let count = self.cpus.len();
        let (shared, by) = match self.supervisor {
            Some(pid) => (
                agreeing(count, "is also the seat of a thread", "are also seats of threads"),
                format!(", seated by another 'seatmap run' (process {pid})"),
            ),
            None => (
                agreeing(
                    count,
                    "is also the only CPU of a thread",
                    "are also the only CPUs of threads",
                ),
                String::new(),
            ),
        };
        format!(
            "{} {shared} of process {} ('{}'){by}: the programs take turns there; give one of \
             them other CPUs",
            self.cpus.named(),
            self.program,
            visible(&self.name)
        )
    }
}

/// Other programs on a report's CPUs.
#[derive(Debug, Default)]
pub struct SeatNeighbours {
    /// Other runs, and programs bound to one CPU.
    pub known: Vec<SeatNeighbour>,
    /// CPUs of runs that this user may not examine.
    pub hidden: CpuSet,
}

impl SeatNeighbours {
    /// The neighbours of a report's threads. `leased` are the CPUs leased by other runs.
    pub fn of(report: &Report, leased: &CpuSet) -> Self {
        let runs = of(report);
        let bound = bound(report, &runs);
        let known = [runs, bound].concat();
        let named = known.iter().flat_map(|one| &one.cpus).collect();
        // Every user can see the leases, but not the programs behind them.
        let unnamed = leased.without(&named);
        let is_hidden = !unnamed.is_empty() && are_some_hidden();
        SeatNeighbours { known, hidden: if is_hidden { unnamed } else { CpuSet::default() } }
    }

    /// A sentence for each.
    pub fn sentences(&self) -> Vec<String> {
        let hidden = (!self.hidden.is_empty()).then(|| hidden_sentence(&self.hidden));
        self.known.iter().map(SeatNeighbour::sentence).chain(hidden).collect()
    }
}

/// The CPUs of threads bound to one CPU: the kernel does not move them.
pub(crate) fn single_seats(report: &Report) -> CpuSet {
    let seated = report.threads.iter().filter(|thread| thread.has_seat());
    Seats::of(seated.map(|thread| thread.tid)).single
}

#[derive(Deserialize)]
struct OthersSeating {
    pid: Option<Tid>,
    threads: Vec<OthersThread>,
}

#[derive(Deserialize)]
struct OthersThread {
    tid: Tid,
}

#[derive(Default)]
struct Seats {
    all: CpuSet,
    single: CpuSet,
}

impl Seats {
    fn of(tids: impl Iterator<Item = Tid>) -> Self {
        let mut seats = Seats::default();
        for mask in tids.filter_map(|tid| CpuSet::of_thread(tid).ok()) {
            if let Some(cpu) = mask.only() {
                seats.single.insert(cpu);
            }
            seats.all.extend(&mask);
        }
        seats
    }

    /// CPUs of bound threads of one run that the other may use.
    fn shared_with(&self, other: &Seats) -> CpuSet {
        self.single.within(&other.all).with(&other.single.within(&self.all))
    }
}

fn of(report: &Report) -> Vec<SeatNeighbour> {
    let root = Root::new("/");
    let own = task::own_pid();
    let seated = report.threads.iter().filter(|thread| thread.has_seat());
    let tids: HashSet<Tid> = seated.map(|thread| thread.tid).collect();
    let seats = Seats::of(tids.iter().copied());
    // The name first: reading descriptors takes many times as long.
    let name = task::name(&root, own);
    let pids = task::processes(&root).into_iter().flatten();
    pids.filter(|pid| *pid != own && !tids.contains(pid) && task::name(&root, *pid) == name)
        .filter_map(|supervisor| shared(&root, supervisor, &tids, &seats))
        .collect()
}

/// Omits `runs`, and the ancestors of this process, which wait for it.
fn bound(report: &Report, runs: &[SeatNeighbour]) -> Vec<SeatNeighbour> {
    let root = Root::new("/");
    let single = single_seats(report);
    let Ok(tasks) = task::all(&root) else { return Vec::new() };
    let parents: HashMap<Tid, Tid> = tasks.iter().map(|task| (task.pid, task.parent)).collect();
    let own: HashSet<Tid> = report.threads.iter().filter_map(|thread| thread.pid).collect();
    let starters: HashSet<Tid> = ancestors(&parents, task::own_pid()).collect();
    let is_other = |pid: Tid| {
        !starters.contains(&pid)
            && !runs.iter().any(|run| [Some(run.program), run.supervisor].contains(&Some(pid)))
            && !ancestors(&parents, pid).any(|process| own.contains(&process))
            && !task::runs_this_program(&root, pid)
    };
    let living = tasks.iter().filter(|task| !task.is_kernel && !task.has_ended());
    let cpus_of: BTreeMap<Tid, CpuSet> = by_key(living.filter_map(|task| {
        let cpu = CpuSet::of_thread(task.tid).ok()?.only()?;
        single.contains(cpu).then_some((task.pid, cpu))
    }));
    cpus_of
        .into_iter()
        .filter(|(pid, _)| is_other(*pid))
        .map(|(program, cpus)| {
            let name = task::name(&root, program).unwrap_or_default();
            SeatNeighbour { cpus, program, name, supervisor: None }
        })
        .collect()
}

fn ancestors(parents: &HashMap<Tid, Tid>, pid: Tid) -> impl Iterator<Item = Tid> {
    std::iter::successors(Some(pid), |pid| parents.get(pid).copied().filter(|above| *above != 0))
}

/// A process of this program's name may be unreadable, or unlisted.
fn are_some_hidden() -> bool {
    let root = Root::new("/");
    let name = task::name(&root, task::own_pid());
    let mut pids = task::processes(&root).into_iter().flatten();
    visibility::hidden(&root).is_some()
        || pids.any(|pid| {
            let is_refused = |error: FileError| error.source.kind() == ErrorKind::PermissionDenied;
            task::name(&root, pid) == name
                && root.names(&format!("/proc/{pid}/fd")).is_err_and(is_refused)
        })
}

fn hidden_sentence(cpus: &CpuSet) -> String {
    let threads = if cpus.len() == 1 { "a thread" } else { "threads" };
    format!(
        "another user's 'seatmap run' also has {threads} on {}: the programs take turns there; \
         use other CPUs, or ask root who runs it",
        cpus.named()
    )
}

fn shared(
    root: &Root,
    supervisor: Tid,
    own: &HashSet<Tid>,
    seats: &Seats,
) -> Option<SeatNeighbour> {
    let text = published::read(root, supervisor, SEATING).ok()??;
    let shown = PublishedText { pid: supervisor, text };
    let other: OthersSeating =
        seatmap_data::document::read(&String::from_utf8_lossy(&shown.text), FORMAT).ok()?;
    let program = other.pid?;
    let tids: Vec<Tid> = other.threads.iter().map(|thread| thread.tid).collect();
    let is_within = tids.iter().any(|tid| own.contains(tid) || *tid == task::own_pid());
    let spoken_of = tids.iter().copied().filter(|tid| shown.may_speak_of(root, *tid));
    let cpus = seats.shared_with(&Seats::of(spoken_of));
    (!is_within && !cpus.is_empty()).then(|| SeatNeighbour {
        cpus,
        program,
        name: task::name(root, program).unwrap_or_default(),
        supervisor: Some(supervisor),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wide_seats_may_overlap() {
        let seats = |all: &str, single: &str| Seats {
            all: CpuSet::of_list(all).unwrap(),
            single: CpuSet::of_list(single).unwrap_or_default(),
        };
        let shared = |one: &Seats, other: &Seats| one.shared_with(other).to_string();
        assert_eq!(shared(&seats("0-3", ""), &seats("2-5", "")), "");
        assert_eq!(shared(&seats("0-3", ""), &seats("2-5", "3,5")), "3");
        assert_eq!(shared(&seats("0,1", "0,1"), &seats("1,2", "1,2")), "1");
    }

    #[test]
    fn bound_neighbour_is_named() {
        let bound = |list: &str| SeatNeighbour {
            cpus: CpuSet::of_list(list).unwrap(),
            program: 71,
            name: "a".to_owned(),
            supervisor: None,
        };
        let sentence = "CPU 0 is also the only CPU of a thread of process 71 ('a'): the programs \
                        take turns there; give one of them other CPUs";
        assert_eq!(bound("0").sentence(), sentence);
        let more = bound("0,2").sentence();
        assert!(more.starts_with("CPUs 0,2 are also the only CPUs of threads of process 71"));
    }

    #[test]
    fn ancestors_follow_parent_processes() {
        let parents = HashMap::from([(7, 5), (5, 1), (1, 0)]);
        assert_eq!(ancestors(&parents, 7).collect::<Vec<Tid>>(), [7, 5, 1]);
        assert_eq!(ancestors(&parents, 9).collect::<Vec<Tid>>(), [9]);
    }

    #[test]
    fn run_of_other_user_is_reported_without_name() {
        let cpus = |list: &str| hidden_sentence(&CpuSet::of_list(list).unwrap());
        let sentence = "another user's 'seatmap run' also has a thread on CPU 0: the programs \
                        take turns there; use other CPUs, or ask root who runs it";
        assert_eq!(cpus("0"), sentence);
        assert!(cpus("0,2").contains("also has threads on CPUs 0,2:"));
    }

    #[test]
    fn neighbouring_run_is_named() {
        let shared = |list: &str| {
            let name = "a\u{1b}b".to_owned();
            let cpus = CpuSet::of_list(list).unwrap();
            SeatNeighbour { cpus, program: 71, name, supervisor: Some(70) }.sentence()
        };
        let sentence = "CPU 0 is also the seat of a thread of process 71 ('a\\u{1b}b'), seated by \
             another 'seatmap run' (process 70): the programs take turns \
             there; give one of them other CPUs";
        assert_eq!(shared("0"), sentence);
        assert!(shared("0,2").starts_with("CPUs 0,2 are also seats of threads of process 71"));
    }
}
