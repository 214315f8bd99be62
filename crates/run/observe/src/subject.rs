//! The observed program.

use crate::source::MessageSource;
use crate::{ObserveError, SubjectCommand};
use seatmap_os::hierarchy::{Hierarchies, members_below};
use seatmap_os::task::Family;
use seatmap_os::{Root, Tid, interpreter, task, visibility};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::process::Child;

/// The observed program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A command from its first instruction, with all descendants.
    Command(SubjectCommand),
    /// Running processes, with future descendants.
    Processes(Vec<Tid>),
    /// Running programs, each by one PID, with existing and future descendants. A forking server
    /// needs this.
    Programs(Vec<Tid>),
    /// Those of these processes still living at the start, with future descendants.
    Survivors(Vec<Tid>),
    /// The processes of a control group and of groups below it, with future descendants.
    Group(String),
}

impl Subject {
    pub(crate) fn follow(
        &self,
        source: &mut dyn MessageSource,
    ) -> Result<Option<Child>, ObserveError> {
        match self {
            Subject::Command(command) => start(command, source).map(Some),
            Subject::Processes(pids) => {
                pids.iter().try_for_each(|pid| check(*pid))?;
                follow_all(pids.iter().copied().map(process_of), source)
            }
            Subject::Programs(pids) => {
                pids.iter().try_for_each(|pid| check(*pid))?;
                follow_with_descendants(pids.iter().copied().map(process_of).collect(), source)
            }
            Subject::Survivors(pids) => {
                let living = pids.iter().copied().filter(|pid| task::lives(*pid));
                follow_all(BTreeSet::from_iter(living).into_iter().map(process_of), source)
            }
            Subject::Group(path) => match of_group(path)? {
                pids if pids.is_empty() => Err(ObserveError::NoGroup(path.clone())),
                pids => follow_all(pids, source),
            },
        }
    }
}

fn check(pid: Tid) -> Result<(), ObserveError> {
    match task::threads(pid) {
        Ok(_) if task::lives(pid) => Ok(()),
        Ok(tids) if tids.is_empty() => Err(ObserveError::NoProcess(pid)),
        Ok(_) => Err(ObserveError::HasEnded(pid)),
        Err(error) => {
            let why = visibility::hidden(&Root::new("/")).unwrap_or_else(|| error.to_string());
            Err(ObserveError::Hidden { pid, why })
        }
    }
}

fn follow_all(
    pids: impl IntoIterator<Item = Tid>,
    source: &mut dyn MessageSource,
) -> Result<Option<Child>, ObserveError> {
    for pid in pids {
        source.follow(pid)?;
    }
    Ok(None)
}

/// A thread's process, because users also give TIDs.
fn process_of(tid: Tid) -> Tid {
    Family::of(tid).map_or(tid, |family| family.pid)
}

/// A process that starts meanwhile is found by the next search.
fn follow_with_descendants(
    first: BTreeSet<Tid>,
    source: &mut dyn MessageSource,
) -> Result<Option<Child>, ObserveError> {
    let mut followed = BTreeSet::new();
    let mut program = first;
    loop {
        let new: BTreeSet<Tid> = program.difference(&followed).copied().collect();
        if new.is_empty() {
            return Ok(None);
        }
        for pid in new {
            match source.follow(pid) {
                // It has ended since.
                Err(_) if !task::lives(pid) => {}
                done => done?,
            }
            followed.insert(pid);
        }
        program = with_descendants(followed.clone())?;
    }
}

/// Without this process, which an observed shell may have started.
fn with_descendants(first: BTreeSet<Tid>) -> io::Result<BTreeSet<Tid>> {
    let root = Root::new("/");
    let own = task::own_pid();
    let others = task::processes(&root).map_err(|error| error.source)?;
    let others = others.filter(|pid| *pid != own && task::lives(*pid));
    let children = others.filter_map(|pid| Some((task::parent(&root, pid)?, pid)));
    Ok(task::with_descendants(first, children))
}

fn of_group(path: &str) -> io::Result<BTreeSet<Tid>> {
    let root = Root::new("/");
    let folders = Hierarchies::read(&root).folders(&root, path);
    let own = task::own_pid();
    let mut pids = BTreeSet::new();
    for folder in folders {
        let tids = members_below(&root, Path::new(&folder)).map_err(|error| error.source)?;
        pids.extend(tids.into_iter().map(process_of));
    }
    // The group may contain this process and kernel threads.
    pids.retain(|pid| *pid != own && !task::is_of_kernel(*pid));
    Ok(pids)
}

/// Its process is followed from its creation.
fn start(command: &SubjectCommand, source: &mut dyn MessageSource) -> Result<Child, ObserveError> {
    let mut prepared = command.prepared();
    // All processes started meanwhile are followed, so this is on only for the start.
    source.follow_own_children(true)?;
    let child = prepared.spawn();
    source.follow_own_children(false)?;
    child.map_err(|source| ObserveError::Start {
        program: command.program().to_string_lossy().into_owned(),
        source: interpreter::explained(Path::new(&command.program()), source),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Method, ObservationSession, TracingMechanism};
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    #[test]
    fn program_includes_earlier_descendants() {
        let mut shell = Command::new("sh")
            .args(["-c", "(sleep 60 & echo; wait) & wait"])
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let mut out = BufReader::new(shell.stdout.take().unwrap());
        out.read_line(&mut String::new()).unwrap();
        let pid = Tid::try_from(shell.id()).unwrap();
        let program = with_descendants([pid].into()).unwrap();
        // SAFETY: the group is this test's shell, which is not waited for yet.
        unsafe { libc::kill(-pid, libc::SIGKILL) };
        shell.wait().unwrap();
        assert!(program.contains(&pid) && program.len() == 3, "{program:?}");
        let own = Tid::try_from(std::process::id()).unwrap();
        assert!(!with_descendants([1].into()).unwrap().contains(&own));
    }

    #[test]
    fn ended_survivors_are_left_out() {
        let mut child = Command::new("true").spawn().unwrap();
        let gone = Tid::try_from(child.id()).unwrap();
        child.wait().unwrap();
        let begin = |subject: Subject| {
            ObservationSession::begin(Some(Method::Wakeups), TracingMechanism::Best, &subject)
                .map(|_| ())
        };
        let own = Tid::try_from(std::process::id()).unwrap();
        let found = begin(Subject::Survivors(vec![gone, own]));
        assert!(!matches!(found, Err(ObserveError::NoProcess(_))), "{found:?}");
    }
}
