//! The three ways to close a cell.

pub mod affinity;
mod error;
mod masks;
pub mod v1;
pub mod v2;

pub use error::ClosingError;

use crate::settings::PREFIX;
use crate::site::Site;
use crate::{CellBackend, SettingChange};
use seatmap_os::layout::CpusetMounts;

/// Checks that this computer offers a backend, before anything is recorded for it.
///
/// # Errors
/// [`ClosingError::NotHere`].
pub fn offers(backend: CellBackend, layout: &CpusetMounts) -> Result<(), ClosingError> {
    match backend {
        CellBackend::V2Partition => base(&layout.v2, 2).map(drop),
        CellBackend::V1Exclusive => base(&layout.v1, 1).map(drop),
        CellBackend::Affinity => Ok(()),
    }
}

fn base(mounted: &Option<String>, version: u32) -> Result<String, ClosingError> {
    mounted.clone().ok_or_else(|| {
        ClosingError::NotHere(format!(
            "no cgroup version {version} hierarchy has the cpuset controller"
        ))
    })
}

/// Makes the cell's group with its CPUs.
fn group(site: &mut Site, base: &str) -> Result<String, ClosingError> {
    let group = format!("{base}/{PREFIX}.{}", site.journal.header.cell);
    site.change(SettingChange::folder(&group))?;
    site.furnish(&format!("{group}/cpuset.cpus"), &site.cell.to_string())?;
    Ok(group)
}

/// Closes a cell with a backend. Returns its control group, if any.
///
/// # Errors
/// [`ClosingError`]; the journal has the changes made so far.
pub fn close(
    site: &mut Site,
    backend: CellBackend,
    layout: &CpusetMounts,
) -> Result<Option<String>, ClosingError> {
    match backend {
        CellBackend::V2Partition => v2::close(site, layout).map(Some),
        CellBackend::V1Exclusive => v1::close(site, layout).map(Some),
        CellBackend::Affinity => affinity::close(site).map(|()| None),
    }
}
