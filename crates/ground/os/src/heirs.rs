//! Heirs: threads that inherited the mask of a temporary seat from their creator.
//!
//! Code that seats a running program first notes each seat in a [`SeatLedger`];
//! [`SeatLedger::settle`] restores the masks. A mask does not record its origin, so a thread is an
//! heir if three signs agree:
//!
//! | sign | source |
//! |---|---|
//! | it started no earlier than the first note | field 22 of its `stat` |
//! | its mask is exactly a noted seat | sched_getaffinity(2) |
//! | its process belongs to the program or descends from it | below |
//!
//! A process descends from the program if its chain of parents leads there. An orphan's parent is
//! process 1 or a subreaper among the program's ancestors. It descends from the program if both
//! share a session or process group that no ancestor has. Otherwise it must be in a control group
//! of the program, and
//!
//! - its parent is process 1, or an ancestor that also adopted another orphan of the program; or
//! - the leader of its session or process group has exited, and no ancestor belongs to that group.
//!
//! A process that runs Seatmap seats its own program, and neither is an heir.
//!
//! These two signs count for a minute after the orphan's start, because users start programs too.
//! An orphan in the control group without them is [unclear](StillSeated::is_unclear): a process
//! started by the ancestor itself looks the same. It is reported, with its mask unchanged.
//!
//! Limits: a descendant that chose exactly a seat's CPUs counts as an heir; one that inherited a
//! seat and then chose other CPUs does not. Processes outside this PID namespace are invisible.

use crate::owed::ThreadMask;
use crate::proc_folder::has_gone;
use crate::root::{FileError, Root};
use crate::task::{self, ThreadIdentity, ThreadStat};
use crate::{CpuSet, Tid, affinity, boot};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Reused numbers could form a circle.
const LONGEST_LINE: usize = 64;

/// Doubles after each scan without heirs. clone(2) copies the mask before the child is visible.
const PAUSE: Duration = Duration::from_millis(10);

/// For how many seconds an orphan's control group shows its origin.
const RECENT_S: u64 = 60;

/// Usual number of heirless scans that end [`SeatLedger::settle`].
pub const QUIET_LOOKS: usize = 2;

const MOST_LOOKS: usize = 100;

/// A temporary seat of a thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Loan {
    /// Thread's process.
    pub pid: Tid,
    /// Thread, with its mask without the seat.
    pub thread: ThreadMask,
    /// Seat's CPUs.
    pub seat: CpuSet,
}

/// A thread that still has a seat's mask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StillSeated {
    /// Thread, with its mask without a seat.
    pub thread: ThreadMask,
    /// Its name, at most 15 bytes.
    pub name: String,
    /// Seat.
    pub seat: CpuSet,
    /// Whether it may have chosen the mask itself.
    pub is_unclear: bool,
}

impl fmt::Display for StillSeated {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let seat = self.seat.named();
        let command = affinity::commands(&self.thread.cpus, &[self.thread.tid]);
        write!(out, "thread {} ({}) may run only on {seat}", self.thread.tid, self.name)?;
        if self.is_unclear {
            write!(
                out,
                ": it chose this mask or inherited it from a seated thread (cannot be \
                 determined); '{command}' widens it"
            )
        } else {
            write!(out, ", a seat's mask; '{command}' restores its own mask")
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Kin {
    started_ticks: u64,
    group: Tid,
    session: Tid,
}

impl Kin {
    fn of(task: &ThreadStat) -> Self {
        Kin { started_ticks: task.started_ticks, group: task.group, session: task.session }
    }

    fn is(&self, task: &ThreadStat) -> bool {
        self.started_ticks == task.started_ticks
    }

    fn groups(&self) -> [Tid; 2] {
        [self.group, self.session]
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Origin {
    Program,
    Stranger,
    Unclear,
}

#[derive(Clone, Debug)]
struct Lent {
    own: CpuSet,
    is_on_seat: bool,
}

/// Seats of a program's threads, and facts that identify descendants.
#[derive(Debug, Default)]
pub struct SeatLedger {
    began_ticks: Option<u64>,
    roots: BTreeMap<Tid, Kin>,
    /// Ancestors of the program.
    above: BTreeMap<Tid, Kin>,
    control_groups: BTreeSet<String>,
    threads: BTreeMap<ThreadIdentity, Lent>,
    /// Seats, each with the process and the mask of its thread.
    terms: BTreeSet<(CpuSet, Tid, CpuSet)>,
    found: BTreeMap<Tid, Kin>,
    /// At the last call of `new_heirs`.
    listed: BTreeSet<Tid>,
    /// Lines not yet sent to a guard.
    news: String,
}

impl SeatLedger {
    /// A ledger whose first note was at this time, in clock ticks after the boot.
    pub fn since(began_ticks: u64) -> Self {
        SeatLedger { began_ticks: Some(began_ticks), ..SeatLedger::default() }
    }

    /// Adds a process of the program.
    pub fn take_in(&mut self, pid: Tid) {
        let Some(process) = ThreadStat::of(pid) else { return };
        if self.roots.get(&pid).is_some_and(|known| known.is(&process)) {
            return;
        }
        self.enter(Line::Root(pid, Kin::of(&process), control_groups(pid)));
        let mut parent = process.parent;
        for _ in 0..LONGEST_LINE {
            let Some(process) =
                ThreadStat::of(parent).filter(|_| !self.above.contains_key(&parent))
            else {
                return;
            };
            self.enter(Line::Above(parent, Kin::of(&process)));
            parent = process.parent;
        }
    }

    /// Notes a seat. Call this before setting the mask.
    pub fn lend(&mut self, loan: Loan) {
        if self.began_ticks.is_none() {
            self.enter(Line::Begin(boot::ticks()));
            self.listed = processes().unwrap_or_default();
        }
        self.take_in(loan.pid);
        self.enter(Line::Loan(loan));
    }

    /// Notes that all seats have ended.
    pub fn end_seats(&mut self) {
        self.threads.values_mut().for_each(|lent| lent.is_on_seat = false);
    }

    /// Notes since the last call, as lines for a guard.
    pub fn take_news(&mut self) -> String {
        std::mem::take(&mut self.news)
    }

    /// Applies a line of another process's ledger; ignores other text.
    pub fn read_line(&mut self, text: &str) {
        if let Some(line) = Line::parse(text) {
            self.note(line);
        }
    }

    fn enter(&mut self, line: Line) {
        self.news.push_str(&line.to_string());
        self.news.push('\n');
        self.note(line);
    }

    fn note(&mut self, line: Line) {
        match line {
            Line::Begin(ticks) => self.began_ticks = Some(ticks),
            Line::Root(pid, kin, groups) => {
                self.above.remove(&pid);
                self.roots.insert(pid, kin);
                self.control_groups.insert(groups);
            }
            // One process of the program may be the parent of another.
            Line::Above(pid, kin) if !self.roots.contains_key(&pid) => {
                self.above.insert(pid, kin);
            }
            Line::Above(..) => {}
            Line::Loan(Loan { pid, thread, seat }) => {
                let lent = Lent { own: thread.cpus.clone(), is_on_seat: true };
                self.threads.insert(thread.identity(), lent);
                if seat != thread.cpus {
                    self.terms.insert((seat, pid, thread.cpus));
                }
            }
        }
    }

    /// The noted threads, each with its mask without the seat.
    pub fn threads(&self) -> impl Iterator<Item = ThreadMask> {
        self.threads.iter().map(|(thread, lent)| ThreadMask::of(*thread, lent.own.clone()))
    }

    /// A thread that has a seat's mask but no seat.
    pub fn heir(&self, pid: Tid, tid: Tid) -> Option<StillSeated> {
        let mask = CpuSet::of_thread(tid).ok()?;
        let mut terms =
            self.terms.iter().filter(|(seat, ..)| affinity::is_as_given(seat, &mask)).peekable();
        let (seat, _, of_another) = *terms.peek()?;
        let task = ThreadStat::of(tid).filter(|task| !task.has_ended())?;
        let own = match self.threads.get(&task.identity()) {
            Some(lent) if lent.is_on_seat => return None,
            Some(lent) => lent.own.clone(),
            None if self.is_older(&task) => return None,
            None => terms.find(|term| term.1 == pid).map_or(of_another, |term| &term.2).clone(),
        };
        if own == mask {
            return None;
        }
        let thread = ThreadMask::of(task.identity(), own);
        let seat = seat.clone();
        Some(StillSeated { thread, name: task.name, seat, is_unclear: false })
    }

    fn is_older(&self, task: &ThreadStat) -> bool {
        self.began_ticks.is_none_or(|began| task.started_ticks < began)
    }

    /// The heirs among the processes that started since the last call.
    pub fn new_heirs(&mut self) -> Vec<StillSeated> {
        if self.terms.is_empty() {
            return Vec::new();
        }
        let Ok(listed) = processes() else { return Vec::new() };
        let new: Vec<Tid> = listed.difference(&self.listed).copied().collect();
        self.found.retain(|pid, _| listed.contains(pid));
        self.listed = listed;
        let found = self.look_at(&new);
        found.into_iter().filter(|one| !one.is_unclear).collect()
    }

    /// Restores masks until several scans in a row find no heir. Returns the remaining threads:
    /// unclear ones, and those for which `give` failed.
    ///
    /// # Errors
    /// [`FileError`]: processes cannot be listed.
    pub fn settle(
        &mut self,
        quiet_looks: usize,
        mut give: impl FnMut(&StillSeated) -> io::Result<()>,
    ) -> Result<Vec<StillSeated>, FileError> {
        let mut refused: BTreeSet<ThreadIdentity> = BTreeSet::new();
        let mut left = Vec::new();
        let mut quiet = 0;
        for round in 0..MOST_LOOKS {
            if self.terms.is_empty() {
                break;
            }
            // The program first, so it creates no further heirs.
            let all: Vec<Tid> = match round {
                0 => self.roots.keys().copied().collect(),
                _ => processes()?.into_iter().collect(),
            };
            left = self.look_at(&all);
            let known = left.iter().filter(|one| !one.is_unclear);
            let heirs: Vec<StillSeated> =
                known.filter(|one| !refused.contains(&one.thread.identity())).cloned().collect();
            quiet = if heirs.is_empty() && round > 0 { quiet + 1 } else { 0 };
            if quiet >= quiet_looks {
                break;
            }
            for heir in &heirs {
                if give(heir).is_err_and(|error| !has_gone(&error)) {
                    refused.insert(heir.thread.identity());
                }
            }
            // Heirs create heirs, so no pause after finding some.
            if quiet > 0 {
                std::thread::sleep(PAUSE * (1 << (quiet - 1)));
            }
        }
        Ok(left)
    }

    /// Threads of these processes that inherited a seat's mask, or may have.
    fn look_at(&mut self, pids: &[Tid]) -> Vec<StillSeated> {
        let own = std::process::id() as Tid;
        let mut found = Vec::new();
        let mut unclear = Vec::new();
        for pid in pids.iter().copied().filter(|pid| *pid != own) {
            // Few threads have a seat's mask.
            let tids = task::threads(pid).unwrap_or_default();
            let heirs: Vec<_> = tids.into_iter().filter_map(|tid| self.heir(pid, tid)).collect();
            if heirs.is_empty() {
                continue;
            }
            match self.origin(pid, &BTreeSet::new()) {
                Origin::Program => {
                    self.find(pid);
                    found.extend(heirs);
                }
                Origin::Stranger => {}
                // A process inherits a mask with its first thread; the others chose theirs.
                Origin::Unclear if heirs.iter().all(|heir| heir.thread.tid != pid) => {}
                Origin::Unclear => unclear.push((pid, heirs)),
            }
        }
        let adopters = self.adopters();
        for (pid, heirs) in unclear {
            let origin = self.origin(pid, &adopters);
            let is_unclear = origin == Origin::Unclear;
            if origin != Origin::Stranger {
                found.extend(heirs.into_iter().map(|heir| StillSeated { is_unclear, ..heir }));
            }
        }
        found
    }

    fn find(&mut self, pid: Tid) {
        if let Some(process) = ThreadStat::of(pid) {
            self.found.insert(pid, Kin::of(&process));
        }
    }

    fn adopters(&self) -> BTreeSet<Tid> {
        let orphans = self.found.keys().filter(|pid| !self.roots.contains_key(pid));
        let parents = orphans.filter_map(|pid| ThreadStat::of(*pid).map(|process| process.parent));
        parents.filter(|parent| self.above.contains_key(parent)).collect()
    }

    fn origin(&self, pid: Tid, adopters: &BTreeSet<Tid>) -> Origin {
        let mut pid = pid;
        for _ in 0..LONGEST_LINE {
            // It has exited; the next scan sees its children's new parent.
            let Some(process) = ThreadStat::of(pid) else { return Origin::Unclear };
            let known = self.roots.get(&pid).into_iter().chain(self.found.get(&pid));
            if known.into_iter().any(|kin| kin.is(&process)) {
                return Origin::Program;
            }
            if process.is_kernel || self.is_older(&process) || is_seatmap(pid) {
                return Origin::Stranger;
            }
            if process.parent <= 1 || self.above.contains_key(&process.parent) {
                return self.origin_of_orphan(&process, adopters, control_groups, task::exists);
            }
            pid = process.parent;
        }
        Origin::Unclear
    }

    fn origin_of_orphan(
        &self,
        process: &ThreadStat,
        adopters: &BTreeSet<Tid>,
        control_groups: impl Fn(Tid) -> String,
        exists: impl Fn(Tid) -> bool,
    ) -> Origin {
        let shared: BTreeSet<Tid> = self.above.values().flat_map(Kin::groups).collect();
        let kin = self.roots.values().chain(self.found.values());
        let own: BTreeSet<Tid> = kin.flat_map(Kin::groups).collect();
        let groups = Kin::of(process).groups();
        if groups.iter().any(|group| own.contains(group) && !shared.contains(group)) {
            return Origin::Program;
        }
        if !self.control_groups.contains(&control_groups(process.pid)) {
            return Origin::Stranger;
        }
        let is_recent = process.started_ticks + RECENT_S * boot::ticks_per_s() >= boot::ticks();
        let is_adopted = process.parent <= 1 || adopters.contains(&process.parent);
        let has_lost_its_leader =
            groups.iter().any(|group| !shared.contains(group) && !exists(*group));
        if is_recent && (is_adopted || has_lost_its_leader) {
            Origin::Program
        } else {
            Origin::Unclear
        }
    }
}

/// Whether it runs Seatmap, which seats its own program: `seatmap run --detach` is an orphan, too.
fn is_seatmap(pid: Tid) -> bool {
    task::program_file(pid).is_some_and(|file| is_of_seatmap(&file))
}

/// The kernel adds a word to the path of a program whose file was replaced (proc_pid_exe(5)).
fn is_of_seatmap(file: &Path) -> bool {
    let name = file.file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| name.strip_suffix(" (deleted)").unwrap_or(name) == "seatmap")
}

fn processes() -> Result<BTreeSet<Tid>, FileError> {
    Ok(task::processes(&Root::new("/"))?.collect())
}

fn control_groups(pid: Tid) -> String {
    let text = Root::new("/").read(&format!("/proc/{pid}/cgroup")).unwrap_or_default();
    text.lines().collect::<Vec<_>>().join("\t")
}

#[derive(Debug, PartialEq)]
enum Line {
    Begin(u64),
    Root(Tid, Kin, String),
    Above(Tid, Kin),
    Loan(Loan),
}

impl fmt::Display for Line {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Line::Begin(ticks) => write!(out, "begin {ticks}"),
            Line::Root(pid, kin, groups) => {
                write!(out, "root {pid} {} {} {} ", kin.started_ticks, kin.group, kin.session)?;
                out.write_str(groups)
            }
            Line::Above(pid, kin) => {
                write!(out, "above {pid} {} {} {}", kin.started_ticks, kin.group, kin.session)
            }
            Line::Loan(Loan { pid, thread, seat }) => {
                write!(out, "seat {pid} {} {thread}", seat.list())
            }
        }
    }
}

impl Line {
    fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once(' ')?;
        let mut words = rest.splitn(5, ' ');
        let mut number = || words.next()?.parse::<u64>().ok();
        match kind {
            "begin" => rest.parse().ok().map(Line::Begin),
            "root" | "above" => {
                let pid = Tid::try_from(number()?).ok()?;
                let started_ticks = number()?;
                let group = Tid::try_from(number()?).ok()?;
                let session = Tid::try_from(number()?).ok()?;
                let kin = Kin { started_ticks, group, session };
                Some(match kind {
                    "root" => Line::Root(pid, kin, words.next()?.to_owned()),
                    _ => Line::Above(pid, kin),
                })
            }
            "seat" => {
                let (pid, rest) = rest.split_once(' ')?;
                let (seat, thread) = rest.split_once(' ')?;
                let pid = pid.parse().ok()?;
                let thread = thread.parse().ok()?;
                Some(Line::Loan(Loan { pid, thread, seat: CpuSet::of_list(seat)? }))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
