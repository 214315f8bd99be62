//! A process that outlives its creator, and puts everything back if the creator dies.
//!
//! A program that makes or undoes a cell posts a guardian first, and holds the writing end of a
//! pipe to it. The kernel closes the pipe when that program dies, for any reason. If the pipe ends
//! without the word that all is well, the guardian undoes the journal. After that the guardian
//! stays while the cell has a lease or memory; otherwise it exits.
//!
//! | byte to the guardian | means | answer |
//! |---|---|---|
//! | `m` | take the memory that the record asks for, and write into the record where it is | `+`, or `-` where it cannot be had |
//! | `d` | all is well | none |

use crate::error::CellError;
use crate::fault;
use crate::host::Host;
use crate::memory::Kept;
use crate::name::Name;
use crate::record::Record;
use seatmap_os::Tid;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// A creator sends this when it has finished.
const ALL_IS_WELL: u8 = b'd';

/// A creator sends this when there is memory to take.
const TAKE_MEMORY: u8 = b'm';

/// A guardian sends this when it is ready, or has done what it was asked for.
const YES: u8 = b'+';

/// A guardian sends this when it could not do so.
const NO: u8 = b'-';

/// How long a guardian that was asked to go is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The longest sleep of a guardian with a lease: a computer that is suspended does not count on
/// while it sleeps.
const LONGEST_SLEEP_S: u64 = 60;

/// The command that becomes a guardian, with the cell's name after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardianCommand(pub Vec<OsString>);

/// A guardian that has been posted, while its cell is being made or undone.
#[derive(Debug)]
pub(crate) struct Posted {
    pub pid: Tid,
    pipe: ChildStdin,
    answers: ChildStdout,
}

impl Posted {
    /// Has it take the memory that the record asks for; whether it could.
    pub fn take_memory(&mut self) -> bool {
        self.pipe.write_all(&[TAKE_MEMORY]).is_ok() && self.hear() == Some(YES)
    }

    /// Says that all is well. If this cannot be sent, the guardian is dead and the next command
    /// takes over.
    pub fn dismiss(mut self) {
        let _ = self.pipe.write_all(&[ALL_IS_WELL]);
    }

    fn hear(&mut self) -> Option<u8> {
        let mut answer = [0];
        self.answers.read_exact(&mut answer).ok().map(|()| answer[0])
    }
}

/// Posts a guardian, and returns when it is there.
pub(crate) fn post(host: &Host, name: &Name) -> Result<Posted, CellError> {
    let mut child = start(&host.keeper, name).map_err(CellError::Guardian)?;
    let (pipe, answers) = child.stdin.take().zip(child.stdout.take()).ok_or_else(dead)?;
    let mut posted = Posted { pid: child.id() as Tid, pipe, answers };
    // A cell without its guardian would outlive this process.
    if posted.hear() == Some(YES) { Ok(posted) } else { Err(dead()) }
}

fn dead() -> CellError {
    CellError::Guardian(io::Error::other("it ended at once"))
}

fn start(keeper: &GuardianCommand, name: &Name) -> io::Result<Child> {
    let (program, arguments) =
        keeper.0.split_first().ok_or_else(|| io::Error::other("there is none"))?;
    let mut command = Command::new(program);
    // It may live for days, and in a folder of its own would keep a file system from being
    // unmounted.
    fault::spare_guardian(&mut command).args(arguments).arg(name.to_string()).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
}

/// Posts a guardian for a cell whose guardian died. If that fails, the next command tries again.
pub(crate) fn adopt(host: &Host, record: &Record) {
    let Ok(mut posted) = post(host, &record.name) else { return };
    if record.memory.is_some() {
        posted.take_memory();
    }
    posted.dismiss();
}

/// Asks the guardian of a cell to go, and waits until it has.
pub(crate) fn relieve(host: &Host, name: &Name) {
    let Some(pid) = host.run.guardian(name) else { return };
    // SAFETY: the guardian holds its lock, so that the number is its own.
    unsafe { libc::kill(pid, libc::SIGTERM) };
    let end = Instant::now() + PATIENCE;
    while host.run.guardian(name).is_some() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A guardian's life. `Ok` when the cell needs it no longer.
///
/// # Errors
/// Some settings could not be put back; the next command deals with them.
pub fn serve(host: &Host, name: &Name) -> Result<(), CellError> {
    leave_the_terminal();
    // Another one that holds the lock guards the cell already.
    let Some(_held) = host.run.guard(name).map_err(CellError::remembering)? else { return Ok(()) };
    say(YES).map_err(CellError::Guardian)?;
    let (is_well, mut kept) = attend(host, name);
    if !is_well {
        let _lock = host.run.lock_at_last().map_err(CellError::remembering)?;
        // Huge pages that are in use cannot be given back.
        kept = kept.filter(|_| host.stands(name));
        host.recover()?;
        if !host.stands(name) {
            return Ok(());
        }
    }
    match host.run.record(name) {
        Some(record) if record.needs_guardian() => stay(host, name, kept),
        _ => Ok(()),
    }
}

fn say(answer: u8) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(&[answer])?;
    out.flush()
}

/// Does what the creator asks for, until all is well or the creator is dead.
fn attend(host: &Host, name: &Name) -> (bool, Option<Kept>) {
    let mut kept = None;
    let mut word = [0];
    while io::stdin().read_exact(&mut word).is_ok() {
        match word[0] {
            ALL_IS_WELL => return (true, kept),
            TAKE_MEMORY => kept = take_memory(host, name).ok(),
            _ => {}
        }
        if word[0] == TAKE_MEMORY && say(if kept.is_some() { YES } else { NO }).is_err() {
            break;
        }
    }
    (false, kept)
}

fn take_memory(host: &Host, name: &Name) -> io::Result<Kept> {
    let mut record = host.run.record(name).ok_or_else(|| io::Error::other("there is no record"))?;
    let memory =
        record.memory.as_mut().ok_or_else(|| io::Error::other("no memory was asked for"))?;
    let kept = Kept::take(memory)?;
    memory.path = Some(kept.path());
    host.run.remember(&record)?;
    Ok(kept)
}

/// A session of its own: what is typed at the creator's terminal, and its end, must not reach the
/// guardian.
fn leave_the_terminal() {
    // SAFETY: all act on this process alone; where it leads a group already it keeps its session.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, c"seatmap-cell".as_ptr());
        libc::signal(libc::SIGHUP, libc::SIG_IGN);
    }
}

/// Undoes the cell when its lease ends. A cell that is destroyed first ends this process; a lease
/// that is renewed is found in the record.
fn stay(host: &Host, name: &Name, kept: Option<Kept>) -> Result<(), CellError> {
    loop {
        let left = left_s(host, name);
        if left != Some(0) {
            std::thread::sleep(Duration::from_secs(
                left.unwrap_or(LONGEST_SLEEP_S).min(LONGEST_SLEEP_S),
            ));
        }
        if !host.stands(name) {
            return Ok(());
        }
        if left == Some(0) {
            let _lock = host.run.lock_at_last().map_err(CellError::remembering)?;
            // It may have been destroyed and made again, or its lease renewed, while this process
            // waited for the lock.
            if left_s(host, name) == Some(0) {
                drop(kept);
                return host.end(name).map(|_| ());
            }
        }
    }
}

/// The seconds that a cell may stand still; `None` where it has no lease. A cell without a record
/// has no time left: every command takes it for one whose creator died.
fn left_s(host: &Host, name: &Name) -> Option<u64> {
    host.run.record(name).map_or(Some(0), |record| record.left_s())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tests::{computer, make};

    #[test]
    fn a_cell_whose_record_is_gone_is_undone() {
        let (_folder, hosts) = computer();
        let name: Name = "a".parse().unwrap();
        make(&hosts[0], "a", "6-7");
        assert!(hosts[0].stands(&name) && hosts[0].run.record(&name).is_none());
        stay(&hosts[0], &name, None).unwrap();
        assert!(!hosts[0].stands(&name));
    }
}
