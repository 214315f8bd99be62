//! Undoes changes whose creator has died or whose lease has expired.
//!
//! A program posts a [`guardian`] before it creates or destroys a cell or
//! applies a plan of services. If the program dies, the guardian undoes the journal. Otherwise it
//! stays while the changes have a lease or memory, or while threads lack CPUs that were offline
//! when their masks were restored.

use crate::journal::CellStage;
use crate::memory::Kept;
use crate::posted::TAKE_MEMORY;
use crate::{CellJournal, Left, Name, RunFolder, posted};
use seatmap_os::guardian::{self, GuardianCommand, Parting};
use seatmap_os::owed::{OwedMasks, RunningKernel, ThreadMask};
use std::io;
use std::time::Duration;

/// The longest sleep with a lease, because a sleep's clock stops while the computer is suspended.
const LONGEST_SLEEP_S: u64 = 60;

/// The term of changes, by their record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseTerm {
    /// Seconds until they are undone; `None` if they have no lease.
    pub left_s: Option<u64>,
    /// Whether a guardian keeps memory for them.
    pub has_memory: bool,
}

impl LeaseTerm {
    /// Whether a guardian must stay.
    pub fn needs_guardian(self) -> bool {
        self.left_s.is_some() || self.has_memory
    }
}

/// A computer whose changes are recorded in a folder: a journal and a record for each name.
pub trait GuardedHost {
    /// Why changes could not be undone.
    type Error: From<io::Error>;

    /// The folder with the journals and records.
    fn run(&self) -> &RunFolder;

    /// The id of the current boot.
    fn boot_id(&self) -> &str;

    /// The command that becomes a guardian; a name is appended.
    fn guardian(&self) -> &GuardianCommand;

    /// The term in the record of this name; `None` if there is no record.
    fn term(&self, name: &Name) -> Option<LeaseTerm>;

    /// Undoes the changes of this name and removes their journal. The caller holds the lock.
    /// Returns what could not be restored.
    ///
    /// # Errors
    /// A journal cannot be read or written.
    fn end(&self, name: &Name) -> Result<Vec<Left>, Self::Error>;

    /// Allocates the memory in the record.
    ///
    /// # Errors
    /// The kernel refuses it, or the record requests none.
    fn take_memory(&self, _name: &Name) -> io::Result<Kept> {
        Err(io::Error::other("no memory was requested"))
    }

    /// The journals, the oldest first.
    ///
    /// # Errors
    /// A journal cannot be read.
    fn journals(&self) -> Result<Vec<CellJournal>, Self::Error> {
        Ok(self.run().journals(self.boot_id())?)
    }

    /// The names of complete changes that no program has begun to undo, oldest first.
    ///
    /// # Errors
    /// A journal cannot be read.
    fn whole(&self) -> Result<Vec<Name>, Self::Error> {
        let whole = self.journals()?.into_iter().filter(|one| one.stage == CellStage::Standing);
        Ok(whole.map(|journal| journal.header.cell).collect())
    }

    /// Whether the changes of this name are complete.
    fn stands(&self, name: &Name) -> bool {
        self.whole().is_ok_and(|names| names.contains(name))
    }

    /// Undoes unfinished changes of dead programs, ends expired leases without a guardian, and
    /// posts missing guardians. The caller holds the lock. Returns what could not be restored.
    ///
    /// # Errors
    /// A journal cannot be read or written.
    fn recover(&self) -> Result<Vec<Left>, Self::Error> {
        self.run().clear(self.boot_id())?;
        let mut left = Vec::new();
        for journal in self.journals()?.into_iter().rev() {
            let name = journal.header.cell;
            match self.term(&name).filter(|_| journal.stage == CellStage::Standing) {
                None | Some(LeaseTerm { left_s: Some(0), .. }) => left.extend(self.end(&name)?),
                Some(term) if term.needs_guardian() && self.run().guardian(&name).is_none() => {
                    posted::adopt(self.guardian(), &name, term.has_memory);
                }
                Some(_) => {}
            }
        }
        Ok(left)
    }

    /// Takes the lock and calls [`GuardedHost::recover`]. Every command begins with it.
    ///
    /// # Errors
    /// The lock cannot be taken; a journal cannot be read or written.
    fn take_over(&self) -> Result<Vec<Left>, Self::Error> {
        let _lock = self.run().lock()?;
        self.recover()
    }

    /// Undoes the changes of this name at a user's request. The caller holds the lock. A new
    /// guardian is posted first, because the old one could exit with the lease meanwhile. It stays
    /// for masks that lack CPUs, including those in `beside`, which are also returned.
    ///
    /// # Errors
    /// A journal cannot be read or written.
    fn leave(&self, name: &Name, beside: Vec<Left>) -> Result<Vec<Left>, Self::Error> {
        posted::relieve(self.run(), name);
        // If there is none, the next command continues from the journal.
        let posted = posted::post(self.guardian(), name).ok();
        let mut left = self.end(name)?;
        left.extend(beside);
        Ok(match posted {
            Some(posted) => posted::dismiss(posted, left),
            None => left,
        })
    }
}

/// Runs the guardian until the changes no longer need it.
///
/// # Errors
/// Some settings could not be restored; the next command retries.
pub fn serve<H: GuardedHost>(host: &H, name: &Name) -> Result<(), H::Error> {
    // Another guardian holds the lock.
    let Some(held) = host.run().guard(name)? else { return Ok(()) };
    let owed = guard(host, name)?;
    // New changes of this name may be made while masks wait for CPUs.
    drop(held);
    OwedMasks::give(&mut RunningKernel, owed).wait();
    Ok(())
}

fn guard<H: GuardedHost>(host: &H, name: &Name) -> Result<Vec<ThreadMask>, H::Error> {
    let mut kept = None;
    let attended = guardian::attend(|line| {
        (line == TAKE_MEMORY).then(|| {
            kept = host.take_memory(name).ok();
            kept.is_some()
        })
    });
    let parting = attended?;
    let mut owed = Vec::new();
    if parting == Parting::Death {
        let _lock = host.run().lock_at_last()?;
        // Huge pages in use cannot be released.
        kept = kept.filter(|_| host.stands(name));
        owed.extend(Left::owed(&host.recover()?));
        if !host.stands(name) {
            // Without a journal nothing else removes it.
            host.run().forget_guardian(name)?;
            return Ok(owed);
        }
    }
    owed.extend(parting.masks_owed());
    if host.term(name).is_some_and(LeaseTerm::needs_guardian) {
        owed.extend(Left::owed(&stay(host, name, kept)?));
    }
    Ok(owed)
}

/// Undoes the changes when their lease ends, unless a command does so first and ends this process.
/// Returns what could not be restored.
fn stay<H: GuardedHost>(host: &H, name: &Name, kept: Option<Kept>) -> Result<Vec<Left>, H::Error> {
    loop {
        let left_s = left_s(host, name);
        if left_s != Some(0) {
            let sleep_s = left_s.unwrap_or(LONGEST_SLEEP_S).min(LONGEST_SLEEP_S);
            std::thread::sleep(Duration::from_secs(sleep_s));
        }
        if !host.stands(name) {
            return Ok(Vec::new());
        }
        if left_s == Some(0) {
            let _lock = host.run().lock_at_last()?;
            // They may have been remade or renewed meanwhile.
            if self::left_s(host, name) == Some(0) {
                drop(kept);
                return host.end(name);
            }
        }
    }
}

/// Seconds left; `None` without a lease; 0 without a record, because then the creator died.
fn left_s(host: &impl GuardedHost, name: &Name) -> Option<u64> {
    host.term(name).map_or(Some(0), |term| term.left_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tests::{computer, make};

    #[test]
    fn cell_without_a_record_is_undone() {
        let (_folder, hosts) = computer();
        let name: Name = "a".parse().unwrap();
        make(&hosts[0], "a", "6-7");
        assert!(hosts[0].stands(&name) && hosts[0].run.record(&name).is_none());
        stay(&hosts[0], &name, None).unwrap();
        assert!(!hosts[0].stands(&name));
    }
}
