//! A process that outlives its creator, and puts everything back if the creator dies.
//!
//! A program that makes or undoes a cell posts a guardian first, and holds the writing end of a
//! pipe to it. The kernel closes the pipe when that program dies, for any reason. If the pipe ends
//! without the word that all is well, the guardian undoes the journal. After that the guardian
//! stays while the cell has a lease or memory; otherwise it exits.

use crate::error::CellError;
use crate::host::Host;
use crate::memory::Kept;
use crate::name::Name;
use crate::posted::{ALL_IS_WELL, NO, TAKE_MEMORY, YES};
use std::io::{self, Read, Write};
use std::time::Duration;

/// The longest sleep of a guardian with a lease: a computer that is suspended does not count on
/// while it sleeps.
const LONGEST_SLEEP_S: u64 = 60;

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

/// A guardian of something else than a cell: waits beside its creator until that has ended, and
/// returns whether the creator said that all is well.
///
/// # Errors
/// The creator cannot be told that the guardian is there.
pub fn attend_creator() -> io::Result<bool> {
    leave_the_terminal();
    say(YES)?;
    let mut word = [0];
    while io::stdin().read_exact(&mut word).is_ok() {
        if word[0] == ALL_IS_WELL {
            return Ok(true);
        }
    }
    Ok(false)
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
