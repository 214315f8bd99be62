//! Chooses the processes to look at.

mod bound;
mod owned_group;
mod slurm;

use crate::files::{SystemFiles, is_short};
use crate::glob;
use crate::metrics::is_unit;
use seatmap_data::document::Blame;
use seatmap_data::grouped::by_key;
use seatmap_data::words::joined;
use seatmap_os::hierarchy::{Hierarchies, members_below};
use seatmap_os::sched::ThreadStatus;
use seatmap_os::{FileError, Root, Tid, published, task, visibility};
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
    /// Programs by the name of their file or first thread; `*` matches any text, `?` any character.
    Name(String),
    /// Programs with a thread that may not run everywhere in its control group.
    Bound,
    /// All programs visible to this user.
    All,
    /// The union of several choices.
    Any(Vec<ProcessChoice>),
}

/// Why there is nothing to look at.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// Nothing fits, or this user cannot see it.
    #[error("{0}")]
    Nothing(String),
    /// It exists, but has no processes.
    #[error("{0} has no processes now")]
    Empty(String),
    /// The list of processes cannot be read.
    #[error("cannot read /proc")]
    Proc(#[from] io::Error),
    /// Control groups cannot be listed.
    #[error("cannot read {}", .0.path)]
    Groups(#[from] FileError),
}

seatmap_data::into_failure!(ChoiceError);

impl Blame for ChoiceError {
    fn is_input(&self) -> bool {
        !matches!(self, ChoiceError::Proc(_))
    }
}

impl ChoiceError {
    /// Nothing has this name, unless one of these was meant.
    fn absent(looked_for: &str, name: &str, names: impl Iterator<Item = String>) -> Self {
        let nearest = glob::nearest(name, names);
        let nearest = joined(nearest.iter().map(|name| format!("'{name}'")), " or ");
        let hint =
            if nearest.is_empty() { String::new() } else { format!("; did you mean {nearest}?") };
        ChoiceError::Nothing(format!("there is no {looked_for}{hint}"))
    }
}

impl ProcessChoice {
    /// Chooses these processes, or the control group, or the programs of this name, if any.
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

    pub(crate) fn beside(&self, files: &mut SystemFiles, known: &BTreeSet<Tid>) -> Chosen {
        let mut chooser = Chooser { files, known };
        match self {
            ProcessChoice::Processes { pids, with_children } => {
                chooser.by_number(pids, *with_children)
            }
            ProcessChoice::Group(path) => chooser.of_group(path),
            ProcessChoice::Unit(name) => chooser.of_unit(name),
            ProcessChoice::SlurmStep => chooser.of_own_step(),
            ProcessChoice::Step(step) => chooser.of_step(step),
            ProcessChoice::Domain(name) => chooser.of_domain(name),
            ProcessChoice::Name(pattern) => chooser.by_name(pattern),
            ProcessChoice::Bound => chooser.bound(),
            ProcessChoice::All => {
                Ok(chooser.programs()?.into_iter().map(|program| program.pid).collect())
            }
            ProcessChoice::Any(choices) => {
                let mut all = BTreeSet::new();
                for choice in choices {
                    all.append(&mut choice.beside(chooser.files, known)?);
                }
                Ok(all)
            }
        }
    }
}

type Chosen = Result<BTreeSet<Tid>, ChoiceError>;

/// Chooses further processes besides known ones.
struct Chooser<'a> {
    files: &'a mut SystemFiles,
    known: &'a BTreeSet<Tid>,
}

struct Program {
    pid: Tid,
    parent: Tid,
    name: String,
}

impl Chooser<'_> {
    fn programs(&mut self) -> io::Result<Vec<Program>> {
        let own = task::own_pid();
        let pids = self.files.processes()?.into_iter().filter(|pid| !self.known.contains(pid));
        Ok(pids
            .filter_map(|pid| {
                let (is_kernel, parent, name) =
                    self.files.stat(pid, pid, |stat| (stat.is_kernel, stat.parent, stat.name()))?;
                (!is_kernel && pid != own).then_some(Program { pid, parent, name })
            })
            .collect())
    }

    fn by_number(&mut self, pids: &[Tid], with_children: bool) -> Chosen {
        let mut found = self.known.clone();
        // Processes may end during the watch.
        for pid in pids.iter().filter(|_| self.known.is_empty()) {
            found.insert(self.process_of(*pid)?.ok_or_else(|| unseen(self.files, *pid))?);
        }
        if with_children {
            let programs = self.programs()?.into_iter();
            found = task::with_descendants(
                found,
                programs.map(|program| (program.parent, program.pid)),
            );
        }
        Ok(found)
    }

    /// A lack of file descriptors is an error, because the answer is unknown.
    fn process_of(&mut self, tid: Tid) -> io::Result<Option<Tid>> {
        let status = seen(self.files.proc.read_once(format_args!("{tid}/status")))?;
        // Any thread's number is accepted, because `top -H` shows them.
        let Some(pid) = status.and_then(|status| ThreadStatus::parse(status).pid) else {
            return Ok(None);
        };
        let tids = seen(self.files.proc.threads(pid))?.unwrap_or_default();
        let lives = tids
            .into_iter()
            .any(|tid| self.files.stat(pid, tid, |stat| !stat.has_ended()).unwrap_or(false));
        Ok(lives.then_some(pid))
    }

    fn of_group(&mut self, path: &str) -> Chosen {
        let hierarchies = Hierarchies::read(&self.files.root);
        let folders = hierarchies.folders(&self.files.root, path);
        let looked_for = format!("control group '{path}'");
        if folders.is_empty() {
            let all = hierarchies.all(&self.files.root)?;
            let names = all.iter().map(|folder| last_part(&folder.to_string_lossy()));
            return Err(ChoiceError::absent(&looked_for, &last_part(path), names));
        }
        self.members(folders, looked_for)
    }

    fn of_unit(&mut self, name: &str) -> Chosen {
        let all = Hierarchies::read(&self.files.root).all(&self.files.root)?;
        let spelled = ["", ".service", ".scope", ".slice"].map(|ending| format!("{name}{ending}"));
        let folders: Vec<&PathBuf> =
            all.iter().filter(|folder| spelled.contains(&unit_of(folder))).collect();
        let looked_for = format!("control group of systemd unit '{name}'");
        if folders.is_empty() {
            let names = all.iter().map(|folder| unit_of(folder)).filter(|name| is_unit(name));
            let spelling = &spelled[usize::from(!name.contains('.'))];
            return Err(ChoiceError::absent(&looked_for, spelling, names));
        }
        self.members(folders, looked_for)
    }

    fn members(
        &mut self,
        folders: impl IntoIterator<Item = impl AsRef<Path>>,
        looked_for: String,
    ) -> Chosen {
        let mut tids: BTreeSet<Tid> = BTreeSet::new();
        for folder in folders {
            tids.extend(members_below(&self.files.root, folder.as_ref())?);
        }
        let own = task::own_pid();
        let mut programs = BTreeSet::new();
        for tid in tids.difference(self.known) {
            programs.extend(self.process_of(*tid)?.filter(|pid| *pid != own));
        }
        programs.retain(|pid| self.files.stat(*pid, *pid, |stat| !stat.is_kernel).unwrap_or(false));
        let hidden = hidden(self.files, tids.difference(self.known).copied());
        if programs.is_empty() {
            return Err(match hidden.into_keys().next() {
                Some(why) => ChoiceError::Nothing(format!(
                    "{looked_for} has processes, but none of them can be seen: {why}"
                )),
                None => ChoiceError::Empty(looked_for),
            });
        }
        for (why, tids) in hidden {
            for tid in tids {
                self.files.note("threads", Some(tid).filter(|tid| *tid > 0), why.as_str());
            }
        }
        self.without_launchers(programs)
    }

    fn without_launchers(&mut self, programs: BTreeSet<Tid>) -> Chosen {
        let mut own: BTreeSet<String> = BTreeSet::new();
        for pid in &programs {
            if published::shows(&self.files.root, *pid, published::SEATING)? {
                own.extend(program_file(self.files, *pid));
            }
        }
        // `seatmap run` in the same group is this program under another PID.
        own.extend(self.files.proc.link(format_args!("self/exe")).ok());
        let mut others = programs.clone();
        others.retain(|pid| program_file(self.files, *pid).is_none_or(|file| !own.contains(&file)));
        // If the group contains only launchers, the user means them.
        Ok(if others.is_empty() && self.known.is_empty() { programs } else { others })
    }

    fn by_name(&mut self, pattern: &str) -> Chosen {
        let mut names = BTreeSet::new();
        let mut found = BTreeSet::new();
        for program in self.programs()? {
            // The kernel's name has 15 bytes and may be changed; the file has the full name.
            let file = program_file(self.files, program.pid).map(|file| last_part(&file));
            let own: Vec<String> = file.into_iter().chain([program.name]).collect();
            if own.iter().any(|name| glob::fits(pattern, name)) {
                found.insert(program.pid);
            }
            names.extend(own);
        }
        if found.is_empty() {
            let looked_for = format!("program named '{pattern}' that this user can see");
            return Err(ChoiceError::absent(&looked_for, pattern, names.into_iter()));
        }
        Ok(found)
    }
}

/// `None` if it cannot be read, unless for a lack of file descriptors.
fn seen<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Err(error) if is_short(&error) => Err(error),
        read => Ok(read.ok()),
    }
}

fn unseen(files: &SystemFiles, pid: Tid) -> ChoiceError {
    ChoiceError::Nothing(if files.root.has(&format!("/proc/{pid}/task")) {
        format!("process {pid} has ended (a zombie: its parent has not reaped it)")
    } else if files.root.is_this_computer() && task::exists(pid) {
        let why = visibility::hidden(&files.root);
        format!(
            "process {pid} cannot be seen{}",
            why.map(|why| format!(": {why}")).unwrap_or_default()
        )
    } else {
        format!("there is no process {pid}; 'ps -e' lists the running ones")
    })
}

fn last_part(path: &str) -> String {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned()
}

fn hidden(files: &SystemFiles, members: impl Iterator<Item = Tid>) -> BTreeMap<String, Vec<Tid>> {
    let hidden = members.filter(|_| files.root.is_this_computer()).filter_map(|tid| {
        // The kernel writes 0 for a process without a number in this PID namespace (cgroups(7)).
        let why = if tid == 0 {
            "they are outside this PID namespace".to_owned()
        } else if task::exists(tid) && !files.root.has(&format!("/proc/{tid}/task")) {
            visibility::hidden(&files.root).unwrap_or_else(|| "/proc does not show them".to_owned())
        } else {
            return None;
        };
        Some((why, tid))
    });
    by_key(hidden)
}

fn unit_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A program's file, without the kernel's note that it was replaced.
pub(crate) fn program_file(files: &mut SystemFiles, pid: Tid) -> Option<String> {
    let file = files.proc.link(format_args!("{pid}/exe")).ok()?;
    // After an update, programs continue to run from deleted files.
    Some(file.strip_suffix(" (deleted)").unwrap_or(&file).to_owned())
}

#[cfg(test)]
mod tests;
