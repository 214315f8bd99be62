//! The guardian: a process that undoes a cell if its creator dies.
//!
//! A program that creates or undoes a cell starts a guardian first, connected by a pipe. The kernel
//! closes the pipe when the program dies for any reason. If no message of success came before, the
//! guardian undoes the journal. Otherwise it stays while the cell has a lease or memory, and while
//! restored masks lack offline CPUs.

use crate::error::CellError;
use crate::host::CellHost;
use crate::memory::Kept;
use crate::name::Name;
use crate::posted::{ALL_IS_WELL, MASKS_ARE_OWED, NO, TAKE_MEMORY, YES};
use crate::undo::Left;
use seatmap_os::owed::{OwedMasks, RunningKernel, ThreadMask};
use std::io::{self, Read, Write};
use std::time::Duration;

/// Longest sleep with a lease: sleeps do not count suspended time.
const LONGEST_SLEEP_S: u64 = 60;

/// How a creator finished.
#[derive(Debug)]
pub enum Parting {
    /// Successfully.
    Well,
    /// Successfully, but these threads' masks lack offline CPUs.
    MasksOwed(Vec<ThreadMask>),
    /// It died.
    Death,
}

/// Runs a guardian until the cell no longer needs it.
///
/// # Errors
/// Some settings could not be restored; the next command handles them.
pub fn serve(host: &CellHost, name: &Name) -> Result<(), CellError> {
    leave_the_terminal();
    // Another guardian already has the lock.
    let Some(held) = host.run.guard(name).map_err(CellError::remembering)? else { return Ok(()) };
    say(YES).map_err(CellError::Guardian)?;
    let owed = guard(host, name)?;
    // Free the name for a new cell: the masks belong to none.
    drop(held);
    OwedMasks::give(&mut RunningKernel, owed).wait();
    Ok(())
}

/// Guards a cell. Returns the threads whose masks lack CPUs.
fn guard(host: &CellHost, name: &Name) -> Result<Vec<ThreadMask>, CellError> {
    let (parting, mut kept) = attend(host, name);
    let mut owed = Vec::new();
    match parting {
        Parting::Well => {}
        Parting::MasksOwed(masks) => owed = masks,
        Parting::Death => {
            let _lock = host.run.lock_at_last().map_err(CellError::remembering)?;
            // Huge pages in use cannot be returned.
            kept = kept.filter(|_| host.stands(name));
            owed.extend(Left::owed(&host.recover()?));
            if !host.stands(name) {
                // Without a journal, no other process removes it.
                host.run.forget_guardian(name).map_err(CellError::remembering)?;
                return Ok(owed);
            }
        }
    }
    if host.run.record(name).is_some_and(|record| record.needs_guardian()) {
        owed.extend(Left::owed(&stay(host, name, kept)?));
    }
    Ok(owed)
}

fn say(answer: u8) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(&[answer])?;
    out.flush()
}

/// Executes the creator's requests until it finishes or dies.
fn attend(host: &CellHost, name: &Name) -> (Parting, Option<Kept>) {
    let mut kept = None;
    let mut word = [0];
    while io::stdin().read_exact(&mut word).is_ok() {
        match word[0] {
            ALL_IS_WELL => return (Parting::Well, kept),
            MASKS_ARE_OWED => return (Parting::MasksOwed(masks_owed()), kept),
            TAKE_MEMORY => kept = take_memory(host, name).ok(),
            _ => {}
        }
        if word[0] == TAKE_MEMORY && say(if kept.is_some() { YES } else { NO }).is_err() {
            break;
        }
    }
    (Parting::Death, kept)
}

/// The threads listed by the creator before it exits.
fn masks_owed() -> Vec<ThreadMask> {
    let lines = io::stdin().lines().map_while(Result::ok);
    lines.filter_map(|line| line.parse().ok()).collect()
}

fn take_memory(host: &CellHost, name: &Name) -> io::Result<Kept> {
    let mut record = host.run.record(name).ok_or_else(|| io::Error::other("there is no record"))?;
    let memory =
        record.memory.as_mut().ok_or_else(|| io::Error::other("no memory was asked for"))?;
    let kept = Kept::take(memory)?;
    memory.path = Some(kept.path());
    host.run.remember(&record)?;
    Ok(kept)
}

/// Guards something other than a cell: waits until its creator finishes or dies.
///
/// # Errors
/// The creator cannot be notified.
pub fn attend_creator() -> io::Result<Parting> {
    leave_the_terminal();
    say(YES)?;
    let mut word = [0];
    while io::stdin().read_exact(&mut word).is_ok() {
        match word[0] {
            ALL_IS_WELL => return Ok(Parting::Well),
            MASKS_ARE_OWED => return Ok(Parting::MasksOwed(masks_owed())),
            _ => {}
        }
    }
    Ok(Parting::Death)
}

/// Starts a new session: the creator's terminal then has no effect.
fn leave_the_terminal() {
    // SAFETY: all affect only this process. A process that already leads a group keeps its session.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, c"seatmap-cell".as_ptr());
        libc::signal(libc::SIGHUP, libc::SIG_IGN);
    }
}

/// Undoes the cell when its lease expires. Destroying the cell ends this process first; a renewed
/// lease is in the record. Returns the settings that could not be restored.
fn stay(host: &CellHost, name: &Name, kept: Option<Kept>) -> Result<Vec<Left>, CellError> {
    loop {
        let left = left_s(host, name);
        if left != Some(0) {
            std::thread::sleep(Duration::from_secs(
                left.unwrap_or(LONGEST_SLEEP_S).min(LONGEST_SLEEP_S),
            ));
        }
        if !host.stands(name) {
            return Ok(Vec::new());
        }
        if left == Some(0) {
            let _lock = host.run.lock_at_last().map_err(CellError::remembering)?;
            // Meanwhile the cell may have been recreated or its lease renewed.
            if left_s(host, name) == Some(0) {
                drop(kept);
                return host.end(name);
            }
        }
    }
}

/// The remaining seconds of a cell; `None` without a lease. A cell without a record has none left,
/// because every command takes its creator for dead.
fn left_s(host: &CellHost, name: &Name) -> Option<u64> {
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
