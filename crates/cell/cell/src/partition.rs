//! The three ways to close a cell, one file each. They share what they need to know of threads.

pub mod affinity;
mod error;
mod masks;
pub mod v1;
pub mod v2;

pub use error::ClosingError;

use crate::backend::CellBackend;
use crate::site::Site;
use seatmap_os::layout::CpusetMounts;

/// Whether this computer offers a way at all, before anything is written down for it.
///
/// # Errors
/// [`ClosingError::NotHere`].
pub fn offers(backend: CellBackend, layout: &CpusetMounts) -> Result<(), ClosingError> {
    match backend {
        CellBackend::V2Partition => v2::base(layout).map(|_| ()),
        CellBackend::V1Exclusive => v1::base(layout).map(|_| ()),
        CellBackend::Affinity => Ok(()),
    }
}

/// Closes a cell in one way. Its control group is returned, where it has one.
///
/// # Errors
/// [`ClosingError`]; what was done stands in the journal.
pub fn close(
    site: &mut Site<'_>,
    backend: CellBackend,
    layout: &CpusetMounts,
) -> Result<Option<String>, ClosingError> {
    match backend {
        CellBackend::V2Partition => v2::close(site, layout).map(Some),
        CellBackend::V1Exclusive => v1::close(site, layout).map(Some),
        CellBackend::Affinity => affinity::close(site).map(|()| None),
    }
}
