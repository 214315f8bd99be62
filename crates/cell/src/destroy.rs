//! Undoing a cell, or all of them.

use crate::census;
use crate::error::CellError;
use crate::group;
use crate::guardian;
use crate::host::Host;
use crate::layout::Layout;
use crate::memory;
use crate::name::Name;
use crate::partition;
use crate::undo::Left;

/// Undoes a cell. A program that still runs in it is moved out, and not killed. What could not be put back is returned.
///
/// # Errors
/// There is no such cell, or a journal cannot be read or written.
pub fn destroy(host: &Host, name: &Name) -> Result<Vec<Left>, CellError> {
    let _lock = host.run.lock().map_err(CellError::remembering)?;
    let mut left = host.recover()?;
    let record = host.cell(name)?;
    if let Some(memory) = &record.memory {
        memory::scrub(memory).map_err(CellError::Memory)?;
    }
    left.extend(leave(host, name)?);
    Ok(left)
}

/// Undoes everything that any journal of this folder tells of, and takes apart groups that no journal anywhere knows. What
/// could not be put back is returned, and how many cells there were.
///
/// # Errors
/// A journal cannot be read or written.
pub fn restore(host: &Host) -> Result<(usize, Vec<Left>), CellError> {
    let _lock = host.run.lock().map_err(CellError::remembering)?;
    host.run.clear(&host.boot_id).map_err(CellError::remembering)?;
    let mut left = Vec::new();
    let journals = host.journals()?;
    for journal in journals.iter().rev() {
        left.extend(leave(host, &journal.header.cell)?);
    }
    for group in orphans(host) {
        let gone = group::dissolve(&host.root, &group);
        left.extend(gone.err().map(|error| Left { path: group, why: error.source.to_string() }));
    }
    Ok((journals.len(), left))
}

/// With a new guardian at hand: the old one would end with the cell's lease in the middle of it.
fn leave(host: &Host, name: &Name) -> Result<Vec<Left>, CellError> {
    guardian::relieve(host, name);
    // Without one the journal is still there, and the next command goes on.
    let posted = guardian::post(host, name).ok();
    let left = host.end(name);
    if let Some(posted) = posted {
        posted.dismiss();
    }
    left
}

fn orphans(host: &Host) -> Vec<String> {
    let layout = Layout::read(&host.root);
    let bases = [layout.v2, layout.v1].into_iter().flatten();
    bases.flat_map(|base| orphans_in(host, &base)).collect()
}

/// Groups whose journal is still there are somebody's who remembers elsewhere; so is the rest beside them.
fn orphans_in(host: &Host, base: &str) -> Vec<String> {
    let is_cell = |name: &String| name.starts_with(&format!("{}.", partition::PREFIX));
    let group = |name: &String| format!("{base}/{name}");
    let (cells, others): (Vec<String>, Vec<String>) = host.root.folders(base).into_iter().partition(is_cell);
    let (kept, orphans): (Vec<String>, Vec<String>) =
        cells.iter().map(group).partition(|group| census::journal_of(&host.root, group).is_some());
    let rest = others.iter().filter(|name| *name == partition::v1::REST && kept.is_empty()).map(group);
    orphans.into_iter().chain(rest).collect()
}
