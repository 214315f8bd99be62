//! Extends a cell's lease.

use crate::error::CellError;
use crate::guardian::GuardedHost;
use crate::host::CellHost;
use crate::name::Name;
use crate::posted;
use crate::record::CellRecord;
use seatmap_os::boot;

/// Sets a cell's lease to `lease_s` seconds from now, even if it had none.
///
/// # Errors
/// No cell has this name, or its record cannot be written.
pub fn renew(host: &CellHost, name: &Name, lease_s: u64) -> Result<CellRecord, CellError> {
    let _lock = host.run.lock().map_err(CellError::remembering)?;
    host.recover()?;
    let mut record = host.cell(name)?;
    record.expires_s = Some(boot::seconds().saturating_add(lease_s));
    host.run.remember(&record).map_err(CellError::remembering)?;
    // A guardian rereads the record when the old lease expires, or within a minute.
    if host.run.guardian(name).is_none() {
        posted::adopt(&host.keeper, name, record.memory.is_some());
    }
    Ok(record)
}
