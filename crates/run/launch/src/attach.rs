//! Seats the threads of running programs.

use crate::allocator::SeatAllocator;
use crate::error::LaunchError;
use crate::hampered::Hampered;
use crate::neighbours::SeatNeighbours;
use crate::pages::MovedPages;
use crate::pinner::Pinner;
use crate::report::Report;
use crate::{halted, neighbours, pages};
use seatmap_data::document::visible;
use seatmap_data::words::{agreeing, counted, joined};
use seatmap_os::lease::CpuLeases;
use seatmap_os::task::{Family, ThreadStat};
use seatmap_os::{CpuSet, Root, Tid, affinity, proc_mount, task, visibility};
use std::collections::BTreeMap;

/// The most looks, because a process may create threads without end.
const LOOKS: usize = 16;

const MOST_NAMED: usize = 8;

/// Seats the threads of running processes, or moves their pages.
#[derive(Debug)]
pub struct AttachRequest {
    /// The processes.
    pub pids: Vec<Tid>,
    /// Whether to accept process 1 and kernel threads.
    pub force: bool,
    /// The seats; `None` to move only pages.
    pub seats: Option<SeatAllocator>,
    /// The pages' target; `None` to leave them.
    pub pages: Option<PageMove>,
}

/// The target nodes of a process's pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageMove {
    /// The nodes of its threads.
    ToThreads,
    /// These nodes.
    ToNodes(CpuSet),
}

/// The outcome of an [`AttachRequest`].
#[derive(Debug)]
pub struct AttachOutcome {
    /// The seating, if seats were requested.
    pub report: Option<Report>,
    /// The command that restores the masks; `None` if none changed.
    pub undo: Option<String>,
    /// Other programs on the seats' CPUs.
    pub neighbours: SeatNeighbours,
    /// A sentence for each process with unseated children.
    pub children: Vec<String>,
    /// The processes with moved pages, and their nodes.
    pub moved: Vec<(MovedPages, CpuSet)>,
    /// Why a process's pages could not be moved.
    pub failure: Option<LaunchError>,
}

impl AttachRequest {
    /// Seats the threads, then moves the pages.
    ///
    /// # Errors
    /// [`LaunchError`]: nothing was changed.
    pub fn run(self) -> Result<AttachOutcome, LaunchError> {
        check_processes(&self.pids)?;
        if !self.force {
            check(&self.pids)?;
        }
        let mut before = FormerMasks::default();
        let report = match self.seats {
            Some(seats) => Some(seat_running(&self.pids, seats, &mut before)?),
            None => {
                let gone = self.pids.iter().find(|pid| !task::lives(**pid));
                gone.map_or(Ok(None), |pid| Err(none_lives(*pid)))?
            }
        };
        let undo = before.undo();
        let children = if report.is_some() { left_children(&self.pids) } else { Vec::new() };
        let neighbours = report.as_ref().map(neighbours).unwrap_or_default();
        let moved = Vec::new();
        let mut attached =
            AttachOutcome { report, undo, neighbours, children, moved, failure: None };
        let Some(pages) = self.pages else { return Ok(attached) };
        // The user must learn of each moved process even if the next one fails.
        for pid in self.pids {
            match pages.move_of(pid) {
                Ok(moved) => attached.moved.push(moved),
                Err(error) => {
                    attached.failure = Some(error);
                    break;
                }
            }
        }
        Ok(attached)
    }
}

impl PageMove {
    fn move_of(&self, pid: Tid) -> Result<(MovedPages, CpuSet), LaunchError> {
        let nodes = match self {
            PageMove::ToNodes(nodes) => nodes.clone(),
            PageMove::ToThreads => pages::nodes_of_threads(pid)?,
        };
        Ok((pages::move_to(pid, &nodes)?, nodes))
    }
}

/// A thread also has a folder in `/proc`, for the whole process.
fn check_processes(pids: &[Tid]) -> Result<(), LaunchError> {
    pids.iter().try_for_each(|tid| match Family::of(*tid) {
        Some(Family { pid, .. }) if pid != *tid => Err(LaunchError::Process(format!(
            "{tid} is a thread of process {pid}: '--pid {pid}' seats the whole process, and \
             '--pid {pid} --match tid:{tid}=CPUS' this thread alone"
        ))),
        _ => Ok(()),
    })
}

/// No lease, because the seats outlive this process.
fn neighbours(report: &Report) -> SeatNeighbours {
    let single = neighbours::single_seats(report);
    SeatNeighbours::of(report, &CpuLeases::new(&Root::new("/")).of_others(&single))
}

fn left_children(pids: &[Tid]) -> Vec<String> {
    let root = Root::new("/");
    let each = pids.iter().filter_map(|pid| {
        let threads = task::threads(*pid).ok()?;
        let children = task::children(&root, *pid, &threads).ok()?;
        let children: Vec<Tid> = children
            .into_iter()
            .filter(|child| !pids.contains(child) && task::lives(*child))
            .collect();
        let name = visible(&task::name(&root, *pid)?);
        (!children.is_empty()).then(|| left_sentence(*pid, &name, &children))
    });
    each.collect()
}

fn left_sentence(pid: Tid, name: &str, children: &[Tid]) -> String {
    let have = agreeing(children.len(), "was", "were");
    let them = agreeing(children.len(), "it", "them");
    let options = children.iter().take(MOST_NAMED).map(|child| format!("--pid {child}"));
    let rest = if children.len() > MOST_NAMED { " ..." } else { "" };
    format!(
        "{} of {name} ({pid}) {have} not seated: '--pid {pid} {}{rest}' seats {them} as well \
         ('pgrep --parent {pid}' lists {them})",
        counted(children.len(), "child process"),
        joined(options, " ")
    )
}

/// Process 1 and the kernel's threads keep the computer alive, and might fail to on one CPU, so
/// they need `--force`.
///
/// # Errors
/// [`LaunchError::Process`] for the first of those.
pub fn check(pids: &[Tid]) -> Result<(), LaunchError> {
    let vital = pids.iter().find_map(|pid| Some((*pid, task::vital(*pid)?)));
    vital.map_or(Ok(()), |(pid, kind)| {
        let why = format!("process {pid} is {kind}; --force seats it anyway");
        Err(LaunchError::Process(why))
    })
}

/// Seats the present threads without stopping any; later threads inherit their creators' seats.
///
/// # Errors
/// A process does not exist, and no thread was seated. The report names threads that could not be
/// seated.
fn seat_running(
    pids: &[Tid],
    seating: SeatAllocator,
    before: &mut FormerMasks,
) -> Result<Report, LaunchError> {
    proc_mount::check(&Root::new("/"))?;
    for pid in pids {
        if living_threads(*pid)?.is_empty() {
            return Err(none_lives(*pid));
        }
    }
    let own =
        affinity::to_put_back(0).map_err(LaunchError::system("read this process's affinity"))?;
    let mut pinner = Pinner::new(seating, own, None);
    for pid in pids {
        for _ in 0..LOOKS {
            let mut new = living_threads(*pid)?;
            new.retain(|tid| !pinner.threads.knows(*tid));
            if new.is_empty() {
                break;
            }
            for tid in new {
                before.note(*pid, tid);
                pinner.meet(tid, *pid);
            }
        }
    }
    for process in halted::among(&Root::new("/"), pids.iter().copied()) {
        pinner.note_halted(process.pid, &process.reason);
    }
    let report = Report::of(&pinner, pids.first().copied(), Hampered::default());
    Ok(Report { complete: true, ..report })
}

#[derive(Default)]
struct FormerMasks {
    processes: BTreeMap<Tid, Vec<(Tid, CpuSet)>>,
}

impl FormerMasks {
    fn note(&mut self, pid: Tid, tid: Tid) {
        if let Ok(mask) = affinity::to_put_back(tid) {
            self.processes.entry(pid).or_default().push((tid, mask));
        }
    }

    /// The command that restores the masks. On kernels that drop offline CPUs, the user must repeat
    /// it later.
    fn undo(&self) -> Option<String> {
        let has_changed =
            |(tid, mask): &(Tid, CpuSet)| affinity::to_put_back(*tid).is_ok_and(|now| now != *mask);
        let changed = self.processes.iter().filter(|(_, threads)| threads.iter().any(has_changed));
        let commands: Vec<String> =
            changed.flat_map(|(pid, threads)| give_back(*pid, threads)).collect();
        (!commands.is_empty()).then(|| commands.join("; "))
    }
}

fn give_back(pid: Tid, threads: &[(Tid, CpuSet)]) -> Vec<String> {
    match threads {
        [(_, mask), rest @ ..] if rest.iter().all(|(_, other)| other == mask) => {
            vec![format!("taskset -acp {mask} {pid}")]
        }
        _ => threads.iter().map(|(tid, mask)| format!("taskset -cp {mask} {tid}")).collect(),
    }
}

/// `/proc` also lists a thread that has ended but is not reaped.
fn living_threads(pid: Tid) -> Result<Vec<Tid>, LaunchError> {
    let mut tids = threads(pid)?;
    tids.retain(|tid| ThreadStat::of(*tid).is_some_and(|task| !task.has_ended()));
    Ok(tids)
}

fn none_lives(pid: Tid) -> LaunchError {
    LaunchError::Process(match ThreadStat::of(pid) {
        Some(task) if task.has_ended() => {
            format!("process {pid} has ended (a zombie: its parent has not reaped it)")
        }
        _ => format!("there is no process {pid}"),
    })
}

/// # Errors
/// [`LaunchError::Forbidden`]: this user may not see them.
pub(crate) fn threads(pid: Tid) -> Result<Vec<Tid>, LaunchError> {
    task::threads(pid).map_err(|source| {
        let is_hidden = source.kind() == std::io::ErrorKind::PermissionDenied;
        let hidden = is_hidden.then(|| visibility::hidden(&Root::new("/"))).flatten();
        let why = hidden.unwrap_or_else(|| source.to_string());
        LaunchError::Forbidden(format!(
            "the threads of process {pid} cannot be seen, so none is seated: {why}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::document::Blame;

    #[test]
    fn attach_rejects_init_and_ended_processes() {
        let request =
            |pid| AttachRequest { pids: vec![pid], force: false, seats: None, pages: None };
        let first = request(1).run().unwrap_err();
        assert!(first.to_string().starts_with("process 1 is ") && first.is_input());
        let gone = request(Tid::MAX).run().unwrap_err();
        assert_eq!(gone.to_string(), format!("there is no process {}", Tid::MAX));
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        let pid = ended.id() as Tid;
        while task::lives(pid) {}
        let left = request(pid).run().unwrap_err();
        assert!(left.to_string().contains("has ended") && left.is_input(), "{left}");
        ended.wait().unwrap();
        let own = request(std::process::id() as Tid).run().unwrap();
        assert!(own.report.is_none() && own.moved.is_empty() && own.failure.is_none());
        assert_eq!(own.undo, None);
    }

    #[test]
    fn unseated_children_are_named_with_option() {
        let one = "1 child process of sh (7) was not seated: '--pid 7 --pid 8' seats it as well \
                   ('pgrep --parent 7' lists it)";
        assert_eq!(left_sentence(7, "sh", &[8]), one);
        let many = left_sentence(7, "sh", &[8; 12]);
        assert!(many.starts_with("12 child processes of sh (7) were not seated:"), "{many}");
        assert!(many.contains("--pid 8 ...' seats them"), "{many}");
    }

    #[test]
    fn undo_merges_equal_masks_into_one_command() {
        let mask = |cpus: &str| CpuSet::of_list(cpus).unwrap();
        assert_eq!(give_back(7, &[(7, mask("0-3")), (8, mask("0-3"))]), ["taskset -acp 0-3 7"]);
        assert_eq!(
            give_back(7, &[(7, mask("0")), (8, mask("1,3"))]),
            ["taskset -cp 0 7", "taskset -cp 1,3 8"]
        );
    }
}
