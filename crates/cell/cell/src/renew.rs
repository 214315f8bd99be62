//! Extends a cell's lease.

use crate::{CellError, CellHost, CellRecord, GuardedHost, Name, posted};
use seatmap_os::boot;

/// Sets a cell's lease to `lease_s` seconds from now, even if it had none.
///
/// # Errors
/// No cell has this name, or its record cannot be written.
pub fn renew(host: &CellHost, name: &Name, lease_s: u64) -> Result<CellRecord, CellError> {
    let _lock = host.run.lock()?;
    host.recover()?;
    let mut record = host.cell(name)?;
    record.expires_s = Some(boot::seconds().saturating_add(lease_s));
    host.run.remember(&record)?;
    // A guardian rereads the record when the old lease expires, or within a minute.
    if host.run.guardian(name).is_none() {
        posted::adopt(&host.keeper, name, record.memory.is_some());
    }
    Ok(record)
}
