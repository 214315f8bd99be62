//! Affinity alone: what is left where there are no cpusets, or no privileges.
//!
//! Every thread that may be moved gets a mask without the cell's CPUs, and hands it on to the threads that it creates.

use super::{ClosingError, narrowing};
use crate::change::Change;
use crate::site::{Site, SiteError};
use crate::tasks::{self, Task};

/// Moves whom it can.
///
/// # Errors
/// [`ClosingError`]: the journal cannot be written. Threads that refuse are no error; they are counted later.
pub fn close(site: &mut Site<'_>) -> Result<(), ClosingError> {
    let own: Vec<Task> = tasks::all(site.root).into_iter().filter(|task| may_move(site, task)).collect();
    let masks: Vec<Change> = own.iter().filter_map(|task| leaving(site, task)).collect();
    site.try_all(masks).map(|_| ()).map_err(|error: SiteError| error.into())
}

fn may_move(site: &Site<'_>, task: &Task) -> bool {
    !task.is_bound && !task.is_spared(&site.spared) && is_ours(task)
}

/// Only root moves others' threads (sched_setaffinity(2)).
fn is_ours(task: &Task) -> bool {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: the call cannot fail and touches nothing.
    let user = unsafe { libc::geteuid() };
    user == 0 || std::fs::metadata(task.folder()).is_ok_and(|found| found.uid() == user)
}

fn leaving(site: &Site<'_>, task: &Task) -> Option<Change> {
    let old = task.cpus()?;
    old.meets(&site.cell).then(|| narrowing(site, task, &old))
}
