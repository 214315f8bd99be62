//! Affinity only: the backend for systems without cpusets, or unprivileged users.
//!
//! Every movable thread gets a mask without the cell's CPUs. Threads that already had one are
//! recorded, to keep it.

use super::error::ClosingError;
use super::masks::narrowing;
use crate::SettingChange;
use crate::site::Site;
use seatmap_os::task::{self, ThreadStat};

/// Moves all threads that it can.
///
/// # Errors
/// [`ClosingError`]: the journal cannot be written, or the threads cannot be listed. Threads that
/// refuse are counted later.
pub fn close(site: &mut Site) -> Result<(), ClosingError> {
    let all = task::all(site.root)?;
    let own: Vec<&ThreadStat> = all.iter().filter(|task| may_move(site, task)).collect();
    let masks: Vec<SettingChange> = own.iter().filter_map(|task| leaving(site, task)).collect();
    let narrow: Vec<&str> = masks.iter().map(|change| change.new.as_str()).collect();
    let kept: Vec<SettingChange> =
        all.iter().filter_map(|task| keeping(site, task, &narrow)).collect();
    site.note(&kept)?;
    site.try_all(masks)?;
    Ok(())
}

/// For a thread that already has a mask now given to others.
fn keeping(site: &Site, task: &ThreadStat, narrow: &[&str]) -> Option<SettingChange> {
    let own = task.cpus().filter(|own| !task.is_bound && !own.meets(&site.cell))?.to_string();
    narrow
        .contains(&own.as_str())
        .then(|| SettingChange::of_mask(task.tid, task.started_ticks, &own, &own))
}

fn may_move(site: &Site, task: &ThreadStat) -> bool {
    !task.is_bound && !task.is_spared(&site.spared) && is_ours(task)
}

/// Only root moves other users' threads (sched_setaffinity(2)).
fn is_ours(task: &ThreadStat) -> bool {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: the call cannot fail and has no effects.
    let user = unsafe { libc::geteuid() };
    user == 0 || std::fs::metadata(task.folder()).is_ok_and(|found| found.uid() == user)
}

fn leaving(site: &Site, task: &ThreadStat) -> Option<SettingChange> {
    let old = task.cpus()?;
    old.meets(&site.cell).then(|| narrowing(site, task, &old))
}
