//! Undoes one cell or all.

use crate::{
    CellClaim, CellError, CellHost, GuardedHost, Left, Name, census, memory, orphan, settings,
};
use seatmap_data::document::with_causes;
use seatmap_os::layout::CpusetMounts;
use seatmap_os::{CpuSet, FileError, group, layout};

/// Undoes a cell, and moves programs out alive. Returns what could not be restored.
///
/// # Errors
/// No cell has this name, or a journal cannot be read or written.
pub fn destroy(host: &CellHost, name: &Name) -> Result<Vec<Left>, CellError> {
    destroy_beside(host, name, Vec::new())
}

/// Like [`destroy`], for a caller that could not restore some masks: the guardian stays for them.
///
/// # Errors
/// As [`destroy`].
pub(crate) fn destroy_beside(
    host: &CellHost,
    name: &Name,
    beside: Vec<Left>,
) -> Result<Vec<Left>, CellError> {
    let _lock = host.run.lock()?;
    let mut left = host.recover()?;
    let record = host.cell(name)?;
    if let Some(memory) = &record.memory {
        memory::scrub(memory).map_err(CellError::Memory)?;
    }
    left.extend(host.leave(name, beside)?);
    Ok(left)
}

/// The result of [`restore`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Undone cells.
    pub cells: usize,
    /// Those without a journal, with the source used instead.
    pub lost: Vec<String>,
    /// Settings that could not be restored.
    pub left: Vec<Left>,
}

/// Undoes all journals of this folder, cells with lost journals, and groups in no journal.
///
/// # Errors
/// A journal cannot be read or written.
pub fn restore(host: &CellHost) -> Result<Restored, CellError> {
    let _lock = host.run.lock()?;
    host.run.clear(&host.boot_id)?;
    let mut restored = Restored::default();
    for claim in CellClaim::all(&host.root).into_iter().filter(CellClaim::has_lost_its_journal) {
        recall(host, &claim, &mut restored);
    }
    let journals = host.journals()?;
    restored.cells = journals.len();
    for journal in journals.iter().rev() {
        restored.left.extend(host.leave(&journal.header.cell, Vec::new())?);
    }
    take_apart(host, &mut restored);
    Ok(restored)
}

fn recall(host: &CellHost, claim: &CellClaim, restored: &mut Restored) {
    let cell = &claim.header.cell;
    let gone = claim.journal.display().to_string();
    if let Err(error) = claim.rewrite(&host.root, &host.run.journal(cell), &host.boot_id) {
        return restored.left.push(Left::new(
            gone,
            format!("it is missing and cannot be rewritten: {}", with_causes(&error)),
        ));
    }
    CellClaim::forget(&host.root, cell, &claim.journal);
    restored
        .lost
        .push(format!("the cell '{cell}' had no journal, {gone}; its second record is used"));
    if !claim.is_whole {
        let why = "it is missing, and the second record omits interrupts and threads, so their \
                   CPUs are not restored";
        restored.left.push(Left::new(gone, why.to_owned()));
    }
}

/// Removes unrecorded groups, and restores the settings that only they can have changed.
fn take_apart(host: &CellHost, restored: &mut Restored) {
    let root = &host.root;
    let orphans = match orphans(host) {
        Ok(orphans) => orphans,
        Err(error) => return restored.left.push(Left::unlisted(&error)),
    };
    let cells: CpuSet = orphans
        .iter()
        .filter(|group| is_cell(group))
        .flat_map(|group| orphan::cpus_of(root, group))
        .collect();
    for group in orphans {
        restored.lost.extend(
            is_cell(&group).then(|| format!("{group} belonged to a cell without any record")),
        );
        restored.cells += usize::from(is_cell(&group));
        let gone = group::dissolve(root, &group);
        restored.left.extend(gone.err().map(|error| Left::new(group, error.source.to_string())));
    }
    let is_last = host.foreign().is_empty();
    if let (false, true, Ok(online)) = (cells.is_empty(), is_last, layout::online(root)) {
        restored.left.extend(orphan::put_back(root, &CpusetMounts::read(root), &cells, &online));
    }
}

fn is_cell(group: &str) -> bool {
    group.rsplit('/').next().is_some_and(|name| name.starts_with(&format!("{}.", settings::PREFIX)))
}

fn orphans(host: &CellHost) -> Result<Vec<String>, FileError> {
    let layout = CpusetMounts::read(&host.root);
    let mut found = Vec::new();
    for base in [layout.v2, layout.v1].into_iter().flatten() {
        found.extend(orphans_in(host, &base)?);
    }
    Ok(found)
}

/// A group with a journal belongs to another run folder.
fn orphans_in(host: &CellHost, base: &str) -> Result<Vec<String>, FileError> {
    let (cells, others): (Vec<String>, Vec<String>) =
        host.root.folders(base)?.into_iter().partition(|name| is_cell(name));
    let (kept, orphans): (Vec<String>, Vec<String>) = cells
        .iter()
        .map(|name| format!("{base}/{name}"))
        .partition(|group| census::journal_of(&host.root, group).is_some());
    // The group of other threads stays while another cell needs it.
    let rest = others
        .iter()
        .filter(|name| *name == settings::REST && kept.is_empty())
        .map(|name| format!("{base}/{name}"));
    Ok(orphans.into_iter().chain(rest).collect())
}
