//! The three ways to close a cell, one file each. They share what they need to know of threads.

pub mod affinity;
pub mod v1;
pub mod v2;

use crate::backend::Backend;
use crate::change::{Change, What};
use crate::site::{Site, SiteError};
use seatmap_os::CpuSet;
use seatmap_os::layout::Layout;
use seatmap_os::root::FileError;
use seatmap_os::task;

/// The beginning of our groups' names: this, a dot, and the cell's name.
pub const PREFIX: &str = "seatmap";

/// Why a cell cannot be closed in some way.
#[derive(Debug, thiserror::Error)]
pub enum ClosingError {
    /// This kernel, or how it is set up, does not offer it.
    #[error("{0}")]
    NotHere(String),
    /// A step failed.
    #[error(transparent)]
    Site(#[from] SiteError),
}

impl From<seatmap_os::root::FileError> for ClosingError {
    fn from(error: seatmap_os::root::FileError) -> Self {
        ClosingError::Site(error.into())
    }
}

/// Whether this computer offers a way at all, before anything is written down for it.
///
/// # Errors
/// [`ClosingError::NotHere`].
pub fn offers(backend: Backend, layout: &Layout) -> Result<(), ClosingError> {
    match backend {
        Backend::V2Partition => v2::base(layout).map(|_| ()),
        Backend::V1Exclusive => v1::base(layout).map(|_| ()),
        Backend::Affinity => Ok(()),
    }
}

/// Closes a cell in one way. Its control group is returned, where it has one.
///
/// # Errors
/// [`ClosingError`]; what was done stands in the journal.
pub fn close(
    site: &mut Site<'_>,
    backend: Backend,
    layout: &Layout,
) -> Result<Option<String>, ClosingError> {
    match backend {
        Backend::V2Partition => v2::close(site, layout).map(Some),
        Backend::V1Exclusive => v1::close(site, layout).map(Some),
        Backend::Affinity => affinity::close(site).map(|()| None),
    }
}

/// Masks that people chose and that the kernel forgets, or empties, when cpusets change: those
/// without some CPU that is open to all threads now. They are noted first, so that they are the
/// last to be put back. Kernels that forget CPUs which are offline do so in all masks.
fn chosen_masks(
    site: &Site<'_>,
    concerns: impl Fn(&task::Task) -> bool,
) -> Result<Vec<Change>, FileError> {
    let everywhere = site.rest.with(&site.cell);
    let forgets = seatmap_os::affinity::forgets_offline();
    let forgotten = if forgets { seatmap_os::affinity::offline() } else { CpuSet::default() };
    Ok(task::all(site.root)?
        .into_iter()
        .filter_map(|task| {
            let old = task.cpus().filter(|_| !task.is_bound && concerns(&task))?;
            let is_noted = !everywhere.is_subset(&old) || old.meets(&forgotten);
            is_noted.then(|| narrowing(site, &task, &old))
        })
        .collect())
}

fn narrowing(site: &Site<'_>, task: &task::Task, old: &CpuSet) -> Change {
    let what = What::Affinity;
    let path = task.folder();
    let started_ticks = Some(task.started_ticks);
    // A thread that ends now needs no mask.
    let back = seatmap_os::affinity::to_put_back(task.tid).unwrap_or_else(|_| old.clone());
    let new = given(old.outside(&site.cell, &site.rest));
    Change { what, path, old: back.to_string(), new: new.to_string(), started_ticks }
}

/// The mask that the kernel makes of one that a thread is given: what is noted is compared with it
/// when the cell goes.
fn given(mask: CpuSet) -> CpuSet {
    let lasting = mask.without(&seatmap_os::affinity::offline());
    if lasting.is_empty() || !seatmap_os::affinity::forgets_offline() { mask } else { lasting }
}

/// Gives threads the masks that they should have now, where the kernel has changed or not yet
/// narrowed them.
fn renew(site: &Site<'_>, masks: &[Change]) {
    for change in masks {
        let now = change.current(site.root);
        if now.is_ok_and(|now| !change.same(&now, &change.new)) {
            // One that refuses is found when stragglers are counted.
            let _ = site.make(change);
        }
    }
}
