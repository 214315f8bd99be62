//! Chooses the processes to look at.

mod bound;
mod owned_group;
mod slurm;

use crate::files::{SystemFiles, is_short};
use crate::glob;
use seatmap_data::document::Blame;
use seatmap_os::hierarchy::{Hierarchies, members_below};
use seatmap_os::root::FileError;
use seatmap_os::sched::ThreadStatus;
use seatmap_os::{Root, Tid, published, task, visibility};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

pub use owned_group::{of_domain, of_step};

/// A user's choice of processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessChoice {
    /// Processes by number; a thread's number chooses its process.
    Processes {
        /// The numbers.
        pids: Vec<Tid>,
        /// Whether to include all descendants.
        with_children: bool,
    },
    /// The members of a control group (a folder, or a path in a hierarchy) and of groups below it.
    Group(String),
    /// A systemd unit, `redis.service` or `redis`, by its control groups.
    Unit(String),
    /// The Slurm step in which this program runs.
    SlurmStep,
    /// A Slurm step, `123.0` or `123.batch`, or a whole job, `123`, by its control group.
    Step(String),
    /// A libvirt domain, by name.
    Domain(String),
    /// Programs by the name of their file or first thread; `*` matches any text and `?` any
    /// character.
    Name(String),
    /// Programs with a thread that may not run on all CPUs of its control group.
    Bound,
    /// All programs visible to this user.
    All,
    /// The union of several choices.
    Any(Vec<ProcessChoice>),
}

/// Why there is nothing to look at.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// No process has this number.
    #[error("there is no process {pid}; 'ps -e' lists the running ones")]
    NoProcess {
        /// The number.
        pid: Tid,
    },
    /// The process has ended but is still listed.
    #[error("process {pid} has ended (a zombie: its parent has not reaped it)")]
    HasEnded {
        /// The number.
        pid: Tid,
    },
    /// Nothing has this name.
    #[error("there is no {looked_for}{}", hint(.nearest))]
    NothingMatches {
        /// The request, in words.
        looked_for: String,
        /// Similar names.
        nearest: Vec<String>,
    },
    /// It exists, but has no processes.
    #[error("{0} has no processes now")]
    Empty(String),
    /// This user can see none of its processes.
    #[error("{looked_for} has processes, but none of them can be seen: {why}")]
    AllHidden {
        /// The request, in words.
        looked_for: String,
        /// The reason.
        why: String,
    },
    /// This program runs in no Slurm step.
    #[error(
        "not in a Slurm step: neither the control group nor the environment (SLURM_JOB_ID, \
         SLURM_STEP_ID) names one; start seatmap with srun, or use --cgroup or --pid"
    )]
    NotInStep,
    /// This user cannot see the process.
    #[error(
        "process {pid} cannot be seen{}",
        why.as_ref().map(|why| format!(": {why}")).unwrap_or_default()
    )]
    Hidden {
        /// The number.
        pid: Tid,
        /// The reason, if known.
        why: Option<String>,
    },
    /// The list of processes cannot be read.
    #[error("cannot read /proc")]
    Proc(#[from] io::Error),
    /// Control groups cannot be listed.
    #[error("cannot read {}", .0.path)]
    Groups(#[source] FileError),
}

impl Blame for ChoiceError {
    fn is_input(&self) -> bool {
        !matches!(self, ChoiceError::Proc(_))
    }
}

fn hint(nearest: &[String]) -> String {
    let quoted: Vec<String> = nearest.iter().map(|name| format!("'{name}'")).collect();
    if quoted.is_empty() {
        String::new()
    } else {
        format!("; did you mean {}?", quoted.join(" or "))
    }
}

impl ProcessChoice {
    /// Chooses these processes, or the control group, or the programs of this name; `None` without
    /// any.
    pub fn named(
        pids: &[Tid],
        with_children: bool,
        group: Option<String>,
        name: Option<String>,
    ) -> Option<Self> {
        match (pids, group) {
            ([], None) => name.map(ProcessChoice::Name),
            ([], group) => group.map(ProcessChoice::Group),
            (pids, _) => Some(ProcessChoice::Processes { pids: pids.to_vec(), with_children }),
        }
    }

    /// The matching processes on a computer now.
    ///
    /// # Errors
    /// [`ChoiceError`]: there are none, or they cannot be listed.
    pub fn pids(&self, root: &Root) -> Result<BTreeSet<Tid>, ChoiceError> {
        self.processes(&mut SystemFiles::open(root)?)
    }

    pub(crate) fn processes(&self, files: &mut SystemFiles) -> Result<BTreeSet<Tid>, ChoiceError> {
        self.beside(files, &BTreeSet::new())
    }

    pub(crate) fn beside(
        &self,
        files: &mut SystemFiles,
        known: &BTreeSet<Tid>,
    ) -> Result<BTreeSet<Tid>, ChoiceError> {
        match self {
            ProcessChoice::Processes { pids, with_children } => {
                by_number(files, known, pids, *with_children)
            }
            ProcessChoice::Group(path) => of_group(files, known, path),
            ProcessChoice::Unit(name) => of_unit(files, known, name),
            ProcessChoice::SlurmStep => slurm::processes(files, known),
            ProcessChoice::Step(step) => owned_group::step_processes(files, known, step),
            ProcessChoice::Domain(name) => owned_group::domain_processes(files, known, name),
            ProcessChoice::Name(pattern) => by_name(files, known, pattern),
            ProcessChoice::Bound => bound::processes(files, known),
            ProcessChoice::All => {
                Ok(programs(files, known)?.into_iter().map(|program| program.pid).collect())
            }
            ProcessChoice::Any(choices) => {
                let mut all = BTreeSet::new();
                for choice in choices {
                    all.append(&mut choice.beside(files, known)?);
                }
                Ok(all)
            }
        }
    }
}

struct Program {
    pid: Tid,
    parent: Tid,
    name: String,
}

fn programs(files: &mut SystemFiles, known: &BTreeSet<Tid>) -> io::Result<Vec<Program>> {
    let own = Tid::try_from(std::process::id()).unwrap_or(0);
    let pids = files.processes()?.into_iter().filter(|pid| !known.contains(pid));
    Ok(pids
        .filter_map(|pid| {
            let facts = files.stat(pid, pid, |stat| (stat.is_kernel, stat.parent, stat.name()));
            let (is_kernel, parent, name) = facts?;
            (!is_kernel && pid != own).then_some(Program { pid, parent, name })
        })
        .collect())
}

fn by_number(
    files: &mut SystemFiles,
    known: &BTreeSet<Tid>,
    pids: &[Tid],
    with_children: bool,
) -> Result<BTreeSet<Tid>, ChoiceError> {
    let mut found = known.clone();
    // A chosen process may end during the watch without an error.
    for pid in pids.iter().filter(|_| known.is_empty()) {
        found.insert(process_of(files, *pid)?.ok_or_else(|| unseen(files, *pid))?);
    }
    if with_children {
        let mut children: BTreeMap<Tid, Vec<Tid>> = BTreeMap::new();
        for program in programs(files, known)? {
            children.entry(program.parent).or_default().push(program.pid);
        }
        let mut left: Vec<Tid> = found.iter().copied().collect();
        while let Some(pid) = left.pop() {
            let of_pid = children.get(&pid).into_iter().flatten();
            left.extend(of_pid.filter(|child| found.insert(**child)));
        }
    }
    Ok(found)
}

fn unseen(files: &SystemFiles, pid: Tid) -> ChoiceError {
    if files.root.has(&format!("/proc/{pid}/task")) {
        ChoiceError::HasEnded { pid }
    } else if files.root.is_this_computer() && task::exists(pid) {
        ChoiceError::Hidden { pid, why: visibility::hidden(&files.root) }
    } else {
        ChoiceError::NoProcess { pid }
    }
}

/// A lack of file descriptors is an error, because the answer is unknown.
fn process_of(files: &mut SystemFiles, tid: Tid) -> io::Result<Option<Tid>> {
    let status = match files.proc.read_once(format_args!("{tid}/status")) {
        Err(error) if is_short(&error) => return Err(error),
        status => status,
    };
    // Any thread's number is accepted, because `top -H` shows them.
    let Some(pid) = status.ok().and_then(|status| ThreadStatus::parse(status).pid) else {
        return Ok(None);
    };
    let tids = match files.proc.numbers(format_args!("{pid}/task")) {
        Err(error) if is_short(&error) => return Err(error),
        tids => tids.unwrap_or_default(),
    };
    let lives =
        tids.into_iter().any(|tid| files.stat(pid, tid, |stat| !stat.has_ended()).unwrap_or(false));
    Ok(lives.then_some(pid))
}

fn of_group(
    files: &mut SystemFiles,
    known: &BTreeSet<Tid>,
    path: &str,
) -> Result<BTreeSet<Tid>, ChoiceError> {
    let hierarchies = Hierarchies::read(&files.root);
    let folders = hierarchies.folders(&files.root, path);
    let looked_for = format!("control group '{path}'");
    if folders.is_empty() {
        let names = hierarchies
            .all(&files.root)
            .map_err(ChoiceError::Groups)?
            .into_iter()
            .map(|folder| last_part(&folder.to_string_lossy()));
        return Err(ChoiceError::NothingMatches {
            looked_for,
            nearest: glob::nearest(&last_part(path), names),
        });
    }
    let folders: Vec<PathBuf> = folders.into_iter().map(PathBuf::from).collect();
    members(files, known, &folders, looked_for)
}

fn last_part(path: &str) -> String {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned()
}

fn members(
    files: &mut SystemFiles,
    known: &BTreeSet<Tid>,
    folders: &[PathBuf],
    looked_for: String,
) -> Result<BTreeSet<Tid>, ChoiceError> {
    let mut tids: BTreeSet<Tid> = BTreeSet::new();
    for folder in folders {
        tids.extend(members_below(&files.root, folder).map_err(ChoiceError::Groups)?);
    }
    let own = Tid::try_from(std::process::id()).unwrap_or(0);
    let mut pids = BTreeSet::new();
    for tid in tids.difference(known) {
        pids.extend(process_of(files, *tid)?.filter(|pid| *pid != own));
    }
    let programs: BTreeSet<Tid> = pids
        .into_iter()
        .filter(|pid| files.stat(*pid, *pid, |stat| !stat.is_kernel).unwrap_or(false))
        .collect();
    let hidden = hidden(files, tids.difference(known).copied());
    if programs.is_empty() {
        let why = hidden.into_keys().next();
        return Err(match why {
            Some(why) => ChoiceError::AllHidden { looked_for, why },
            None => ChoiceError::Empty(looked_for),
        });
    }
    for (why, tids) in hidden {
        tids.into_iter().for_each(|tid| {
            files.note("threads", Some(tid).filter(|tid| *tid > 0), why.as_str());
        });
    }
    without_launchers(files, known, programs)
}

fn hidden(files: &SystemFiles, members: impl Iterator<Item = Tid>) -> BTreeMap<String, Vec<Tid>> {
    let mut hidden: BTreeMap<String, Vec<Tid>> = BTreeMap::new();
    if !files.root.is_this_computer() {
        return hidden;
    }
    for tid in members {
        // The kernel writes 0 for a process without a number in this PID namespace (cgroups(7)).
        let why = if tid == 0 {
            "they are outside this PID namespace".to_owned()
        } else if task::exists(tid) && !files.root.has(&format!("/proc/{tid}/task")) {
            visibility::hidden(&files.root).unwrap_or_else(|| "/proc does not show them".to_owned())
        } else {
            continue;
        };
        hidden.entry(why).or_default().push(tid);
    }
    hidden
}

fn without_launchers(
    files: &mut SystemFiles,
    known: &BTreeSet<Tid>,
    programs: BTreeSet<Tid>,
) -> Result<BTreeSet<Tid>, ChoiceError> {
    let mut own: BTreeSet<String> = BTreeSet::new();
    for pid in &programs {
        if published::shows(&files.root, *pid, published::SEATING).map_err(ChoiceError::Groups)? {
            own.extend(program_file(files, *pid));
        }
    }
    // `seatmap run` in the same group is this program under another PID.
    own.extend(files.proc.link(format_args!("self/exe")).ok());
    let others: BTreeSet<Tid> = programs
        .iter()
        .copied()
        .filter(|pid| program_file(files, *pid).is_none_or(|file| !own.contains(&file)))
        .collect();
    // If the group contains only launchers, the user means them.
    Ok(if others.is_empty() && known.is_empty() { programs } else { others })
}

fn of_unit(
    files: &mut SystemFiles,
    known: &BTreeSet<Tid>,
    name: &str,
) -> Result<BTreeSet<Tid>, ChoiceError> {
    let all = Hierarchies::read(&files.root).all(&files.root).map_err(ChoiceError::Groups)?;
    let spelled = [
        name.to_owned(),
        format!("{name}.service"),
        format!("{name}.scope"),
        format!("{name}.slice"),
    ];
    let folders: Vec<PathBuf> =
        all.iter().filter(|folder| spelled.contains(&unit_of(folder))).cloned().collect();
    let looked_for = format!("control group of systemd unit '{name}'");
    if folders.is_empty() {
        let names = all.iter().map(|folder| unit_of(folder)).filter(|name| {
            [".service", ".scope", ".slice"].iter().any(|ending| name.ends_with(ending))
        });
        let spelling = if name.contains('.') { &spelled[0] } else { &spelled[1] };
        return Err(ChoiceError::NothingMatches {
            looked_for,
            nearest: glob::nearest(spelling, names),
        });
    }
    members(files, known, &folders, looked_for)
}

fn unit_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn by_name(
    files: &mut SystemFiles,
    known: &BTreeSet<Tid>,
    pattern: &str,
) -> Result<BTreeSet<Tid>, ChoiceError> {
    let mut names = BTreeSet::new();
    let mut found = BTreeSet::new();
    for program in programs(files, known)? {
        // The kernel's name has 15 bytes and may be changed; the file has the full name.
        let file = program_file(files, program.pid)
            .and_then(|file| file.rsplit('/').next().map(str::to_owned));
        let own: Vec<String> = file.into_iter().chain([program.name]).collect();
        if own.iter().any(|name| glob::fits(pattern, name)) {
            found.insert(program.pid);
        }
        names.extend(own);
    }
    if found.is_empty() {
        let looked_for = format!("program named '{pattern}' that this user can see");
        return Err(ChoiceError::NothingMatches {
            looked_for,
            nearest: glob::nearest(pattern, names.into_iter()),
        });
    }
    Ok(found)
}

/// A program's file, without the kernel's note that it was replaced.
pub(crate) fn program_file(files: &mut SystemFiles, pid: Tid) -> Option<String> {
    let file = files.proc.link(format_args!("{pid}/exe")).ok()?;
    // After an update, programs continue to run from deleted files.
    Some(file.strip_suffix(" (deleted)").unwrap_or(&file).to_owned())
}

fn variable(files: &SystemFiles, pid: Tid, name: &str) -> Option<String> {
    task::environment(&files.root, pid)
        .into_iter()
        .find_map(|(key, value)| (key == name).then_some(value))
}

#[cfg(test)]
mod tests;
