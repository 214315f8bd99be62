//! A process that outlives its creator, and puts everything back if the creator dies.
//!
//! A program that makes or undoes a cell posts a guardian first, and holds the writing end of a
//! pipe to it. The kernel closes the pipe when that program dies, for any reason. If the pipe ends
//! without the word that all is well, the guardian undoes the journal. After that the guardian
//! stays while the cell has a lease or memory, and while threads lack CPUs of their masks that were
//! offline when these were put back; otherwise it exits.

use crate::error::CellError;
use crate::host::CellHost;
use crate::memory::Kept;
use crate::name::Name;
use crate::posted::{ALL_IS_WELL, MASKS_ARE_OWED, NO, TAKE_MEMORY, YES};
use crate::undo::Left;
use seatmap_os::owed::{OwedMasks, RunningKernel, ThreadMask};
use std::io::{self, Read, Write};
use std::time::Duration;

/// The longest sleep of a guardian with a lease: a computer that is suspended does not count on
/// while it sleeps.
const LONGEST_SLEEP_S: u64 = 60;

/// How a creator has parted from its guardian.
#[derive(Debug)]
pub enum Parting {
    /// All is well.
    Well,
    /// All is well, but these threads lack CPUs of their masks until the CPUs are online.
    MasksOwed(Vec<ThreadMask>),
    /// It died.
    Death,
}

/// A guardian's life. `Ok` when the cell needs it no longer.
///
/// # Errors
/// Some settings could not be put back; the next command deals with them.
pub fn serve(host: &CellHost, name: &Name) -> Result<(), CellError> {
    leave_the_terminal();
    // Another one that holds the lock guards the cell already.
    let Some(held) = host.run.guard(name).map_err(CellError::remembering)? else { return Ok(()) };
    say(YES).map_err(CellError::Guardian)?;
    let owed = guard(host, name)?;
    // Masks belong to no cell any more: one of this name may be made while they are waited for.
    drop(held);
    OwedMasks::give(&mut RunningKernel, owed).wait();
    Ok(())
}

/// Guards a cell until it needs that no longer. Returns the threads that lack CPUs of their masks.
fn guard(host: &CellHost, name: &Name) -> Result<Vec<ThreadMask>, CellError> {
    let (parting, mut kept) = attend(host, name);
    let mut owed = Vec::new();
    match parting {
        Parting::Well => {}
        Parting::MasksOwed(masks) => owed = masks,
        Parting::Death => {
            let _lock = host.run.lock_at_last().map_err(CellError::remembering)?;
            // Huge pages that are in use cannot be given back.
            kept = kept.filter(|_| host.stands(name));
            owed.extend(Left::owed(&host.recover()?));
            if !host.stands(name) {
                // Without a journal nothing else removes it.
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

/// Does what the creator asks for, until all is well or the creator is dead.
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

/// The threads that the creator names before it goes.
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

/// A guardian of something else than a cell: waits beside its creator until that has ended, and
/// returns how it went.
///
/// # Errors
/// The creator cannot be told that the guardian is there.
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
/// that is renewed is found in the record. Returns what could not be put back.
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
            // It may have been destroyed and made again, or its lease renewed, while this process
            // waited for the lock.
            if left_s(host, name) == Some(0) {
                drop(kept);
                return host.end(name);
            }
        }
    }
}

/// The seconds that a cell may stand still; `None` where it has no lease. A cell without a record
/// has no time left: every command takes it for one whose creator died.
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
