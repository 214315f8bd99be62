//! Other runs on the CPUs of this one: two runs of one list take the same seats, and neither would
//! say so.
//!
//! Each run shows its seating ([`seatmap_os::published`]) from its start, and looks at those of
//! others a moment later. So of two runs that overlap, the later one knows of the earlier, and two
//! that start at once know of each other.

use crate::report::{FORMAT, Report};
use seatmap_document::visible;
use seatmap_os::published::{self, SEATING, Shown};
use seatmap_os::root::FileError;
use seatmap_os::{CpuSet, Root, Tid, task, visibility};
use seatmap_statistics::words::agreeing;
use serde::Deserialize;
use std::collections::HashSet;
use std::io::ErrorKind;

/// CPUs on which another run has seats as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedSeats {
    /// The CPUs.
    pub cpus: CpuSet,
    /// The first process of the other program.
    pub program: Tid,
    /// Its name.
    pub name: String,
    /// The process that seats its threads.
    pub supervisor: Tid,
}

impl SharedSeats {
    /// The CPUs, the other program and a way out, in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!(
            "{} {} of process {} ('{}'), which another 'seatmap run' (process {}) keeps seated: \
             the programs take turns there; give one of them other CPUs",
            self.cpus.named(),
            agreeing(self.cpus.len(), "is also the seat of a thread", "are also seats of threads"),
            self.program,
            visible(&self.name),
            self.supervisor
        )
    }
}

/// The part of a seating that says whose threads it seats.
#[derive(Deserialize)]
struct OthersSeating {
    pid: Option<Tid>,
    threads: Vec<OthersThread>,
}

#[derive(Deserialize)]
struct OthersThread {
    tid: Tid,
}

/// The masks of threads that a run has seated.
#[derive(Default)]
struct Seats {
    all: CpuSet,
    /// Those of threads with one CPU. The kernel moves no such thread away from another one.
    single: CpuSet,
}

impl Seats {
    /// The masks that these threads have now, as far as they live.
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

    /// The CPUs on which a thread of one has no other CPU, and one of the other may run.
    fn shared_with(&self, other: &Seats) -> CpuSet {
        self.single.within(&other.all).with(&other.single.within(&self.all))
    }
}

/// The CPUs that the program of this run shares with those of others that run now, as far as this
/// user may see them.
#[must_use]
pub fn of(report: &Report) -> Vec<SharedSeats> {
    let root = Root::new("/");
    let own = std::process::id() as Tid;
    let seated = report.threads.iter().filter(|thread| thread.has_seat());
    let tids: HashSet<Tid> = seated.map(|thread| thread.tid).collect();
    let seats = Seats::of(tids.iter().copied());
    // Its name is looked at first: descriptors of all processes would take many times as long.
    let name = task::name(&root, own);
    let pids = root.names("/proc").unwrap_or_default();
    let pids = pids.iter().filter_map(|pid| pid.parse::<Tid>().ok());
    pids.filter(|pid| *pid != own && !tids.contains(pid) && task::name(&root, *pid) == name)
        .filter_map(|supervisor| shared(&root, supervisor, &tids, &seats))
        .collect()
}

/// Whether there are processes of this program's name that this user may not look into, or whether
/// some processes are not listed at all.
pub(crate) fn are_some_hidden() -> bool {
    let root = Root::new("/");
    let name = task::name(&root, std::process::id() as Tid);
    let pids = root.names("/proc").unwrap_or_default();
    let mut pids = pids.iter().filter_map(|pid| pid.parse::<Tid>().ok());
    visibility::hidden(&root).is_some()
        || pids.any(|pid| {
            let is_refused = |error: FileError| error.source.kind() == ErrorKind::PermissionDenied;
            task::name(&root, pid) == name
                && root.names(&format!("/proc/{pid}/fd")).is_err_and(is_refused)
        })
}

/// The sentence about CPUs on which a run sits that this user may not look into.
#[must_use]
pub fn hidden_sentence(cpus: &CpuSet) -> String {
    let threads = if cpus.len() == 1 { "a thread" } else { "threads" };
    format!(
        "another user's 'seatmap run' has {threads} on {} as well: the programs take turns there; \
         take other CPUs, or ask root whose it is",
        cpus.named()
    )
}

fn shared(root: &Root, supervisor: Tid, own: &HashSet<Tid>, seats: &Seats) -> Option<SharedSeats> {
    let text = published::read(root, supervisor, SEATING).ok()??;
    let shown = Shown { pid: supervisor, text };
    let other: OthersSeating =
        seatmap_document::read(&String::from_utf8_lossy(&shown.text), FORMAT).ok()?;
    let program = other.pid?;
    let tids: Vec<Tid> = other.threads.iter().map(|thread| thread.tid).collect();
    // A run within the other one is a part of its program.
    let is_within = tids.iter().any(|tid| own.contains(tid) || *tid == std::process::id() as Tid);
    let spoken_of = tids.iter().copied().filter(|tid| shown.may_speak_of(root, *tid));
    let cpus = seats.shared_with(&Seats::of(spoken_of));
    (!is_within && !cpus.is_empty()).then(|| SharedSeats {
        cpus,
        program,
        name: task::name(root, program).unwrap_or_default(),
        supervisor,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_seats_share_cpus_without_harm_and_narrow_ones_do_not() {
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
    fn a_run_of_another_user_is_told_without_its_name() {
        let cpus = |list: &str| hidden_sentence(&CpuSet::of_list(list).unwrap());
        let sentence = "another user's 'seatmap run' has a thread on CPU 0 as well: the programs \
                        take turns there; take other CPUs, or ask root whose it is";
        assert_eq!(cpus("0"), sentence);
        assert!(cpus("0,2").contains("has threads on CPUs 0,2 as well"));
    }

    #[test]
    fn the_other_program_is_named() {
        let shared = |list: &str| {
            let name = "a\u{1b}b".to_owned();
            let cpus = CpuSet::of_list(list).unwrap();
            SharedSeats { cpus, program: 71, name, supervisor: 70 }.sentence()
        };
        let sentence = "CPU 0 is also the seat of a thread of process 71 ('a\\u{1b}b'), which \
             another 'seatmap run' (process 70) keeps seated: the programs take turns \
             there; give one of them other CPUs";
        assert_eq!(shared("0"), sentence);
        assert!(shared("0,2").starts_with("CPUs 0,2 are also seats of threads of process 71"));
    }
}
